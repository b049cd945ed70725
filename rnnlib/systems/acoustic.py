"""Deep bidirectional LSTM acoustic models: a network that names every frame, or writes down a short sequence.

Graves, Mohamed and Hinton 2013 (arXiv:1303.5778) trained such stacks with connectionist temporal
classification; Zeyer et al. 2017 (arXiv:1606.06871) grew theirs layer by layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..cost.checks import integer
from ..data import Utterances
from ..data.splits import Splits
from ..init import forget_bias_
from ..stack import LSTM
from ..training import IGNORED, cross_entropy, train

BLANK = 0
"""The label that CTC drops."""
SILENCE = IGNORED
"""The speaker of a frame in which nobody speaks, a target that does not count."""


class Recordings(NamedTuple):
    """Recordings of equal length, in each of which several people speak, one after another."""

    x: Tensor
    """(T, N, D) frames."""
    speakers: Tensor
    """(T, N) who speaks in every frame, from 0, or `SILENCE`."""
    labels: Tensor
    """(N, M) who speaks, utterance by utterance, from 1; `BLANK` after the last one."""
    label_lengths: Tensor
    """(N,) utterances."""


def standardised(splits: Splits[Utterances]) -> Splits[Utterances]:
    """The same utterances, every coefficient with mean 0 and deviation 1 over the training part's frames.

    >>> from rnnlib.data import japanese_vowels
    >>> train = standardised(japanese_vowels()).train
    >>> spoken = train.x[train.x.abs().sum(-1) > 0]
    >>> bool(spoken.mean(0).abs().max() < 1e-5), bool((spoken.std(0) - 1).abs().max() < 1e-5)
    (True, True)
    """

    def spoken(part: Utterances) -> Tensor:
        return torch.arange(part.x.shape[1]) < part.lengths[:, None]

    frames = splits.train.x[spoken(splits.train)]
    mean, deviation = frames.mean(0), frames.std(0)

    def scaled(part: Utterances) -> Utterances:
        return part._replace(x=(part.x - mean) / deviation * spoken(part).unsqueeze(-1))

    return Splits(scaled(splits.train), scaled(splits.valid), scaled(splits.test))


def recordings(
    utterances: Utterances,
    count: int,
    generator: torch.Generator,
    noise: float = 0.0,
    least: int = 3,
    most: int = 5,
    frames: int = 88,
) -> Recordings:
    """Recordings that join utterances drawn at random, with replacement, with silences of random lengths.

    Parameters
    ----------
    utterances
        of one part of a data set, so that no recording mixes the parts.
    count
        N, the number of recordings.
    generator
        of all that is drawn.
    noise
        deviation of Gaussian noise, drawn anew for every coefficient of every frame; silence is noise alone.
    least, most
        utterances in a recording. Of those drawn, the last ones are left out if they do not fit.
    frames
        T, the length of a recording.

    Raises
    ------
    ValueError
        If a size is not positive, ``most`` is less than ``least``, ``noise`` is negative, or ``frames`` too
        few for ``least`` of the longest utterances.

    Examples
    --------
    >>> from rnnlib.data import japanese_vowels
    >>> some = recordings(japanese_vowels().train, 2, torch.Generator().manual_seed(0))
    >>> some.x.shape, some.labels.tolist(), some.label_lengths.tolist()
    (torch.Size([88, 2, 12]), [[5, 2, 8, 3, 8], [3, 2, 5, 0, 0]], [5, 3])
    """
    integer("count", count, 1)
    integer("most", most, integer("least", least, 1))
    integer("frames", frames, least * int(utterances.lengths.max()))
    if not noise >= 0:
        raise ValueError(f"noise={noise!r}: expected a deviation of at least 0")
    x = torch.zeros(frames, count, utterances.x.shape[2])
    speakers = torch.full((frames, count), SILENCE)
    labels = torch.full((count, most), BLANK)
    sizes = torch.randint(least, most + 1, (count,), generator=generator)
    for n in range(count):
        drawn = utterances.at(torch.randint(len(utterances.y), (int(sizes[n]),), generator=generator))
        ends = drawn.lengths.cumsum(0)
        sizes[n] = size = int((ends <= frames).sum())
        silence = frames - int(ends[size - 1])
        before = torch.randint(silence + 1, (size,), generator=generator).sort().values
        for m, stop in enumerate((ends[:size] + before).tolist()):
            length = int(drawn.lengths[m])
            x[stop - length : stop, n] = drawn.x[m, :length]
            speakers[stop - length : stop, n] = drawn.y[m]
            labels[n, m] = drawn.y[m] + 1
    return Recordings(x + noise * torch.randn(x.shape, generator=generator), speakers, labels, sizes)


def batches(
    utterances: Utterances, count: int, seed: int, noise: float
) -> Iterator[tuple[Tensor, Recordings]]:
    """Pairs for `rnnlib.training.train` without end, of so many recordings; the seed alone decides them."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        some = recordings(utterances, count, generator, noise)
        yield some.x, some


class AcousticModel(nn.Module):
    """A stack of LSTM layers over frames, and a linear layer that scores what they hand on, frame by frame.

    Parameters
    ----------
    input_size
        D, coefficients of a frame.
    hidden_size, num_layers, bidirectional
        of the stack; ``hidden_size`` is that of one direction. The forget bias is 1.
    outputs
        K, the number of scores: classes of a frame, or labels and the blank, which is number 0.

    Examples
    --------
    >>> AcousticModel(12, 5, 2, outputs=9)(torch.zeros(88, 4, 12)).shape
    torch.Size([88, 4, 9])
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, outputs: int, bidirectional: bool = True
    ) -> None:
        super().__init__()
        self.stack = LSTM(input_size, hidden_size, num_layers, bidirectional=bidirectional)
        forget_bias_(self.stack)
        self.output = nn.Linear((1 + bidirectional) * hidden_size, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """(T, N, D) frames to (T, N, K) scores."""
        return self.output(self.stack(x)[0])


def deepen(model: AcousticModel) -> AcousticModel:
    """A model with one layer more: the old layers as they are, a fresh one on top, a fresh linear layer.

    >>> model = AcousticModel(12, 5, 2, outputs=9)
    >>> deeper = deepen(model)
    >>> deeper.stack.num_layers, torch.equal(deeper.stack.weight_hh_l1, model.stack.weight_hh_l1)
    (3, True)
    """
    old = model.stack
    deeper = AcousticModel(
        old.input_size, old.hidden_size, old.num_layers + 1, model.output.out_features, old.bidirectional
    )
    deeper.stack.load_state_dict(old.state_dict(), strict=False)
    return deeper


def fit(
    model: AcousticModel,
    depth: int,
    batches: Iterable[tuple[Tensor, Recordings]],
    loss: Callable[[Tensor, Recordings], Tensor],
    lr: float,
    steps: int,
    per_layer: int,
) -> tuple[AcousticModel, list[float]]:
    """Train a model, and deepen it on the way until it has ``depth`` layers: layer-wise pretraining.

    A model that has them already is trained as usual. Adam, a fresh one after every layer; its learning rate
    falls to nothing along one cosine over all steps, so it is the same at the same step however a model
    grows. The norm of the gradient is clipped at 1.

    Parameters
    ----------
    batches
        pairs (x, recordings), enough for all steps; a generator goes on where the layer before left it.
    loss
        of scores and recordings: `frame_loss` or `label_loss`.
    lr
        learning rate of the first step.
    steps
        optimizer steps in all.
    per_layer
        how many of them come before each new layer.

    Returns
    -------
    The model and the loss of every step. If a loss is not finite, it is the last one.

    Raises
    ------
    ValueError
        If the model has more layers than ``depth``, or all steps are gone before it is that deep.
    """
    missing = depth - model.stack.num_layers
    if missing < 0:
        raise ValueError(f"depth={depth}: expected at least the {model.stack.num_layers} layers of the model")
    integer("per_layer", per_layer, 1)
    integer("steps", steps, missing * per_layer + 1)
    losses: list[float] = []
    for stage in range(missing + 1):
        if stage:
            model = deepen(model)
        start = stage * per_layer
        stop = start + per_layer if stage < missing else steps
        losses += _train(model, batches, loss, lr, start, stop, steps)
        if not math.isfinite(losses[-1]):
            break
    return model, losses


def _train(
    model: AcousticModel,
    batches: Iterable[tuple[Tensor, Recordings]],
    loss: Callable[[Tensor, Recordings], Tensor],
    lr: float,
    start: int,
    stop: int,
    steps: int,
) -> list[float]:
    """Losses of the steps from ``start`` to ``stop`` of so many steps in all."""
    optimizer = torch.optim.Adam(model.parameters(), lr, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: (1 + math.cos(math.pi * (start + step) / steps)) / 2
    )
    optimizer.register_step_post_hook(lambda *_: schedule.step())
    return train(model, batches, loss, optimizer, stop - start, clip=1.0).losses


def frame_loss(scores: Tensor, recordings: Recordings) -> Tensor:
    """Mean cross-entropy of the speaker of every frame in which somebody speaks, in nats."""
    return cross_entropy(scores, recordings.speakers)


def label_loss(scores: Tensor, recordings: Recordings) -> Tensor:
    """Connectionist temporal classification: -log of the probability of the labels, per label, in nats.

    That probability is the sum over all paths, one output a frame, that become the labels when repetitions
    are merged and blanks dropped after that (Graves et al. 2006, doi:10.1145/1143844.1143891).
    """
    lengths = torch.full_like(recordings.label_lengths, len(scores))
    return functional.ctc_loss(
        scores.log_softmax(-1), recordings.labels, lengths, recordings.label_lengths, BLANK
    )


@torch.no_grad()
def frame_error(model: AcousticModel, recordings: Recordings) -> float:
    """Share of the frames in which somebody speaks whose highest score names somebody else."""
    spoken = recordings.speakers != SILENCE
    wrong = model(recordings.x).argmax(-1) != recordings.speakers
    return wrong[spoken].double().mean().item()


def best_path(scores: Tensor) -> list[list[int]]:
    """The labels of the likeliest path: the highest score of every frame, repetitions merged, blanks dropped.

    Parameters
    ----------
    scores
        (T, N, K), number 0 being the blank.

    Raises
    ------
    ValueError
        If ``scores`` has not three dimensions.

    Examples
    --------
    >>> path = torch.tensor([0, 2, 2, 0, 2, 1, 1])
    >>> best_path(functional.one_hot(path).unsqueeze(1))
    [[2, 2, 1]]
    """
    if scores.dim() != 3:
        raise ValueError(f"scores of shape {tuple(scores.shape)}: expected (T, N, K)")
    merged = (path.unique_consecutive().tolist() for path in scores.argmax(-1).T)
    return [[label for label in path if label != BLANK] for path in merged]
