"""AWD-LSTM: a language model made of regularisers (Merity, Keskar and Socher 2017, arXiv:1708.02182)."""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..cost.checks import choice, integer, probability
from ..data import Splits, shakespeare
from ..data.text import BETWEEN_PLAYS
from ..init import forget_bias_
from ..stack import LSTM
from ..stack.base import DROPOUT_MASKS
from ..training import train

States = Sequence[tuple[Tensor, Tensor]]
Window = tuple[tuple[Tensor, bool], Tensor]

UNKNOWN = "<unk>"
SCALE = 0.3  # bound of the uniform initial weights
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*|[^\sa-z]|\n")


# Data -------------------------------------------------------------------------------------------------------


class Corpus(NamedTuple):
    """Texts as codes of words."""

    words: list[str]
    """Word i stands at place i; place 0 is what all rare words become."""
    splits: Splits[Tensor]
    """Each part (tokens,) integers, in reading order."""


def split_words(text: str) -> list[str]:
    r"""Words in lower case, punctuation marks and ends of lines; empty lines are left out.

    >>> split_words("O, 'tis true!\n\n  Exeunt.")
    ['o', ',', "'", 'tis', 'true', '!', '\n', 'exeunt', '.']
    """
    return WORD.findall(re.sub(r"\n\s*", "\n", text.lower()))


def corpus(train: int = 1500, held_out: int = 600, least: int = 2) -> Corpus:
    """A few words of each of Shakespeare's seven tragedies, and whole pieces to test on.

    Parameters
    ----------
    train
        words from the end of each play's training piece.
    held_out
        words from the beginning of each play's validation piece. Test pieces stay whole.
    least
        how often a word must occur in the training part to have a code of its own.

    Raises
    ------
    ValueError
        If a number is not positive.

    Examples
    --------
    >>> text = corpus()
    >>> len(text.words), [len(part) for part in (text.splits.train, text.splits.valid, text.splits.test)]
    (691, [10500, 4200, 13695])
    """
    train, held_out = integer("train", train, 1), integer("held_out", held_out, 1)
    least = integer("least", least, 1)
    text = shakespeare()

    def pieces(codes: Tensor) -> Iterable[list[str]]:
        return map(split_words, text.decode(codes).split(BETWEEN_PLAYS))

    parts = (
        [word for piece in pieces(text.splits.train) for word in piece[-train:]],
        [word for piece in pieces(text.splits.valid) for word in piece[:held_out]],
        [word for piece in pieces(text.splits.test) for word in piece],
    )
    counts = Counter(parts[0])
    words = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= least)]
    code = {word: i for i, word in enumerate(words)}
    return Corpus(words, Splits(*(torch.tensor([code.get(word, 0) for word in part]) for part in parts)))


def columns(codes: Tensor, batch: int) -> Tensor:
    """The text cut into pieces of one length that are read side by side, (T, N); what is left over is lost.

    >>> columns(torch.arange(7), 2)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])
    """
    batch = integer("batch", batch, 1)
    if len(codes) < 2 * batch:
        raise ValueError(f"batch={batch}: expected at most {len(codes) // 2} columns of two words or more")
    return codes[: len(codes) // batch * batch].view(batch, -1).T.contiguous()


def windows(codes: Tensor, batch: int, steps: int) -> Iterator[Window]:
    """Once through the text: ((x, fresh), y), x and y (T, N); ``fresh`` where nothing comes before.

    A window goes on where the last one ended, so that its initial states may be the last one's final ones.
    """
    whole, steps = columns(codes, batch), integer("steps", steps, 1)
    for start in range(0, len(whole) - 1, steps):
        y = whole[start + 1 : start + 1 + steps]
        yield (whole[start : start + len(y)], start == 0), y


# The model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dropouts:
    """What is dropped while training, as shares.

    The original's rates for Penn Treebank are those of ``Dropouts(0.5, 0.1, 0.4, 0.25, 0.4)``.
    """

    weight: float = 0.0
    """Of the recurrent weights of every layer, drawn once a window."""
    word: float = 0.0
    """Of the words of the vocabulary, whose embeddings are then zero at every place in the window."""
    input: float = 0.0
    """Of the embeddings' units."""
    hidden: float = 0.0
    """Of the units between two layers."""
    output: float = 0.0
    """Of the units of the last layer."""
    mask: str = "sequence"
    """Whether the last three draw one mask for all steps of a window, or one for each ("step")."""

    def __post_init__(self) -> None:
        for name in ("weight", "word", "input", "hidden", "output"):
            probability(name, getattr(self, name))
        choice("mask", self.mask, DROPOUT_MASKS)


class AWDLSTM(nn.Module):
    """Embedding, LSTM layers and softmax, with everything dropped that can be.

    Parameters
    ----------
    words
        size of the vocabulary.
    embedding_size, hidden_size, num_layers
        widths of embeddings and layers. The last layer is as wide as an embedding.
    dropouts
        what is dropped in training mode; nothing by default.
    tied
        score a word by its own embedding, instead of a second table.

    Raises
    ------
    ValueError
        If a size is not positive.

    Examples
    --------
    >>> model = AWDLSTM(words=10, embedding_size=4, hidden_size=6)
    >>> scores, states = model(torch.zeros(5, 2, dtype=torch.long))
    >>> scores.shape, [tuple(h.shape) for h, c in states]
    (torch.Size([5, 2, 10]), [(1, 2, 6), (1, 2, 6), (1, 2, 4)])
    """

    def __init__(
        self,
        words: int,
        embedding_size: int,
        hidden_size: int,
        num_layers: int = 3,
        *,
        dropouts: Dropouts = Dropouts(),
        tied: bool = True,
    ) -> None:
        super().__init__()
        words, embedding_size = integer("words", words, 1), integer("embedding_size", embedding_size, 1)
        hidden_size = integer("hidden_size", hidden_size, 1)
        num_layers = integer("num_layers", num_layers, 1)
        self.dropouts = dropouts
        self.embedding = nn.Embedding(words, embedding_size)
        widths = [embedding_size, *[hidden_size] * (num_layers - 1), embedding_size]
        self.layers = nn.ModuleList(
            LSTM(below, width, weight_dropout=dropouts.weight) for below, width in pairwise(widths)
        )
        self.output = nn.Linear(embedding_size, words)
        self.reset_parameters()
        if tied:
            self.output.weight = self.embedding.weight

    def reset_parameters(self) -> None:
        """Draw every matrix from the same uniform distribution; biases are 0, those of forget gates 1."""
        for name, parameter in self.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.uniform_(parameter, -SCALE, SCALE)
        for module in self.modules():
            if isinstance(module, LSTM):
                forget_bias_(module)

    def forward(self, x: Tensor, states: States | None = None) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Codes (T, N) and the layers' states, zero if absent, to scores (T, N, words) and final states."""
        rates, table = self.dropouts, self.embedding.weight
        kept = functional.dropout(table.new_ones(len(table), 1), rates.word, self.training)
        y = self._masked(functional.embedding(x, kept * table), rates.input)
        finals = []
        for k, layer in enumerate(self.layers):
            y, final = layer(y, None if states is None else states[k])
            finals.append(final)
            y = self._masked(y, rates.hidden if layer is not self.layers[-1] else rates.output)
        return self.output(y), finals

    def _masked(self, y: Tensor, rate: float) -> Tensor:
        """Units of (T, N, width) dropped, the same ones at all steps of a sequence or others at each."""
        like = y[0] if self.dropouts.mask == "sequence" else y
        return y * functional.dropout(torch.ones_like(like), rate, self.training)

    @torch.no_grad()
    def write(self, start: Tensor, words: int, *, seed: int, never: Sequence[int] = ()) -> Tensor:
        """Words drawn one after another from what the model expects, (words,); in evaluation mode.

        Parameters
        ----------
        start
            (T,) codes to go on from.
        words
            how many to draw.
        seed
            of the draws.
        never
            codes that are not drawn.
        """
        was_training = self.training
        self.eval()
        generator = torch.Generator().manual_seed(seed)
        x, states, drawn = start[:, None], None, []
        for _ in range(integer("words", words, 1)):
            scores, states = self(x, states)
            chances = scores[-1, 0].softmax(-1)
            chances[list(never)] = 0
            x = torch.multinomial(chances, 1, generator=generator)[None]
            drawn.append(x[0, 0])
        self.train(was_training)
        return torch.stack(drawn)


# Training ---------------------------------------------------------------------------------------------------


class Carried(nn.Module):
    """A language model that starts each window in the states in which it left the last.

    It learns nothing from beyond a window: backpropagation through time is truncated there.
    """

    def __init__(self, model: AWDLSTM) -> None:
        super().__init__()
        self.model = model
        self.states: States | None = None

    def forward(self, x: tuple[Tensor, bool]) -> Tensor:
        """Codes (T, N), and whether to start from zero, to scores (T, N, words)."""
        codes, fresh = x
        scores, states = self.model(codes, None if fresh else self.states)
        self.states = [(h.detach(), c.detach()) for h, c in states]
        return scores


def loss(scores: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy in nats of scores (T, N, words) and codes (T, N)."""
    return functional.cross_entropy(scores.flatten(0, 1), y.flatten())


@torch.no_grad()
def mean_loss(model: AWDLSTM, codes: Tensor, batch: int = 32, steps: int = 70) -> float:
    """Nats a word over a whole text, read in columns with states carried along, in evaluation mode."""
    was_training = model.training
    carried = Carried(model).eval()
    parts = [(loss(carried(x), y).item(), y.numel()) for x, y in windows(codes, batch, steps)]
    model.train(was_training)
    return sum(mean * count for mean, count in parts) / sum(count for _, count in parts)


class Trigger:
    """Says when to start averaging: once a loss is above the best of those from more than ``patience`` looks
    before it (the original's non-monotonic condition).

    Raises
    ------
    ValueError
        If ``patience`` is negative.

    Examples
    --------
    >>> trigger = Trigger(patience=2)
    >>> [trigger(loss) for loss in (5.0, 4.0, 4.2, 4.1, 4.3)]
    [False, False, False, False, True]
    """

    def __init__(self, patience: int) -> None:
        self.patience = integer("patience", patience, 0)
        self.losses: list[float] = []

    def __call__(self, loss: float) -> bool:
        before = self.losses[: max(0, len(self.losses) - self.patience)]
        self.losses.append(loss)
        return bool(before) and loss > min(before)


class Average:
    """The mean of a model's weights at every call of `add`, kept in a copy of the model.

    All steps count the same, as in ``torch.optim.ASGD`` with ``t0=0`` and ``lambd=0``, which leaves out the
    first of them.
    """

    def __init__(self, model: AWDLSTM) -> None:
        self.source = model
        self.model = copy.deepcopy(model)
        self.count = 0

    @torch.no_grad()
    def add(self) -> None:
        """Take the weights as they are now into the mean."""
        self.count += 1
        for mean, now in zip(self.model.parameters(), self.source.parameters(), strict=True):
            mean.lerp_(now, 1 / self.count)


@dataclass
class History:
    """What a training run came to."""

    looks: list[tuple[int, float]] = field(default_factory=list)
    """Step and validation loss, of the averaged weights once there are any."""
    averaged_from: int | None = None
    """The step after which averaging began."""
    best: int = 0
    """The step of the look with the lowest loss, whose weights are kept."""
    diverged: bool = False
    seconds: float = 0.0


def fit(
    model: AWDLSTM,
    splits: Splits[Tensor],
    lr: float,
    steps: int,
    *,
    average: bool = True,
    every: int = 30,
    patience: int = 3,
    batch: int = 10,
    window: int = 35,
    clip: float = 1.0,
) -> History:
    """Train with Adam at a constant rate, average once the validation loss stalls, keep the best weights.

    Parameters
    ----------
    model
        left with the weights, averaged or not, that did best in a look at the validation part.
    splits
        of which ``train`` is trained on and ``valid`` looked at.
    lr, steps, clip
        learning rate, optimizer steps, largest norm of a gradient.
    average
        average the weights of all steps after the trigger; without it only the last weights are looked at.
    every
        steps between two looks.
    patience
        of the trigger, in looks.
    batch, window
        sequences side by side, steps that a gradient goes back.
    """
    carried, history, trigger = Carried(model), History(), Trigger(patience)
    optimizer = torch.optim.Adam(model.parameters(), lr, fused=True)
    mean: Average | None = None
    lowest, kept = math.inf, copy.deepcopy(model.state_dict())

    def after(step: int) -> bool:
        nonlocal mean, lowest, kept
        if mean is not None:
            mean.add()
        if step % every and step != steps:
            return False
        seen = model if mean is None else mean.model
        error = mean_loss(seen, splits.valid)
        history.looks.append((step, error))
        if error < lowest:
            lowest, kept, history.best = error, copy.deepcopy(seen.state_dict()), step
        if average and mean is None and trigger(error):
            mean, history.averaged_from = Average(model), step
        return False

    record = train(carried, list(windows(splits.train, batch, window)), loss, optimizer, steps, clip=clip,
                   stop=after, every=1)  # fmt: skip
    model.load_state_dict(kept)
    history.diverged, history.seconds = record.steps < steps, record.seconds
    return history
