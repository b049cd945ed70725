"""Training with carried states, and with averaged weights once the validation loss stalls."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ... import training
from ...cost.checks import integer
from ...data import Splits
from .model import AWDLSTM, States
from .words import windows


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


def mean_loss(model: AWDLSTM, codes: Tensor, batch: int = 32, steps: int = 70) -> float:
    """Nats a word over a whole text, read in columns with states carried along, in evaluation mode."""
    carried = Carried(model).train(model.training)
    return training.mean_loss(carried, windows(codes, batch, steps))


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

    record = training.train(
        carried,
        list(windows(splits.train, batch, window)),
        training.cross_entropy,
        optimizer,
        steps,
        clip=clip,
        stop=after,
        every=1,
    )
    model.load_state_dict(kept)
    history.diverged, history.seconds = record.steps < steps, record.seconds
    return history
