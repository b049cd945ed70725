"""One training loop, its usual loss, and what is measured after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .cost.checks import integer

IGNORED = -100
"""The target that does not count."""


class Record(NamedTuple):
    """What a training run did."""

    losses: list[float]
    """The loss of every batch, before the step that it led to."""
    steps: int
    """Steps taken."""
    stopped: bool
    """Whether ``stop`` ended the run."""
    seconds: float
    """Wall-clock time of the whole run, with the calls of ``stop``."""


def train(
    model: nn.Module,
    batches: Iterable[tuple[Any, Any]],
    loss: Callable[[Any, Any], Tensor],
    optimizer: torch.optim.Optimizer,
    steps: int,
    *,
    clip: float | None = None,
    stop: Callable[[int], bool] | None = None,
    every: int = 20,
    seed: int | None = None,
    progress: bool = False,
) -> Record:
    """Take optimizer steps, one for each batch.

    Parameters
    ----------
    model
        called with x of a batch; put into training mode before every step.
    batches
        pairs (x, y). A collection or a ``DataLoader`` starts again at its end; an endless generator need not.
    loss
        of what the model returns and y, a scalar.
    optimizer
        of the model's parameters.
    steps
        how many to take at most. They are counted, never timed, so that a run does not depend on the load
        of the machine.
    clip
        scale the gradient down to this norm, all parameters together, where it is larger, before the step.
    stop
        called with the number of steps taken, after every ``every`` of them and after the last, gradients
        still in place; training ends when it returns a true value. Early stopping goes here, and whatever is
        to be watched.
    every
        steps between two calls of ``stop``.
    seed
        of torch's global generator during training, so of dropout and of a ``DataLoader`` that shuffles. The
        generator is put back afterwards. Without a seed it draws on from where it stands.
    progress
        show a progress bar; needs tqdm.

    Returns
    -------
    Record
        losses, steps taken, whether ``stop`` ended the run, seconds. A loss that is not finite ends it too,
        before its step, and is the last of the losses: the run has diverged.

    Raises
    ------
    ValueError
        If ``steps``, ``every`` or ``clip`` is not positive, or the batches end and do not start again.

    Examples
    --------
    >>> model = nn.Linear(1, 1)
    >>> x = torch.linspace(-1, 1, 32).unsqueeze(1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    >>> record = train(model, [(x, 3 * x)], nn.functional.mse_loss, optimizer, steps=100, clip=1.0)
    >>> record.steps, record.losses[-1] < 1e-6
    (100, True)
    """
    steps, every = integer("steps", steps, 1), integer("every", every, 1)
    if clip is not None and not clip > 0:
        raise ValueError(f"clip={clip!r}: expected a positive norm or None")

    losses: list[float] = []
    taken, stopped = 0, False
    start = perf_counter()
    gpus = range(torch.cuda.device_count())
    with torch.random.fork_rng(gpus, enabled=seed is not None), _bar(steps, progress) as bar:
        if seed is not None:
            torch.manual_seed(seed)
        for step, (x, y) in zip(range(1, steps + 1), _again_and_again(batches), strict=False):
            model.train()
            optimizer.zero_grad()
            error = loss(model(x), y)
            losses.append(error.item())
            if not math.isfinite(losses[-1]):
                break
            error.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            taken = step
            bar(losses[-1])
            if stop is not None and (step % every == 0 or step == steps) and stop(step):
                stopped = True
                break
    return Record(losses, taken, stopped, perf_counter() - start)


def accuracy(model: nn.Module, batches: Iterable[tuple[Any, Tensor]]) -> float:
    """Share of targets that the largest output names, in evaluation mode and without gradients.

    Parameters
    ----------
    model
        its outputs for x have the shape of y and one more dimension, the classes, last. Its mode is put back.
    batches
        pairs (x, y), each used once.

    Raises
    ------
    ValueError
        If there is no batch.

    Examples
    --------
    >>> y = torch.tensor([2, 0, 1, 1])
    >>> accuracy(nn.Identity(), [(nn.functional.one_hot(y), y)])
    1.0
    """
    was_training = model.training
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in batches:
            right += int((model(x).argmax(-1) == y).sum())
            total += y.numel()
    model.train(was_training)
    if not total:
        raise ValueError(f"batches={batches!r}: expected at least one batch")
    return right / total


def cross_entropy(scores: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy in nats of scores (..., classes) for the targets (...) that are not `IGNORED`.

    >>> y = torch.tensor([[3, 1], [2, IGNORED]])
    >>> cross_entropy(torch.zeros(2, 2, 50), y).exp()
    tensor(50.0000)
    """
    return functional.cross_entropy(scores.flatten(0, -2), y.flatten(), ignore_index=IGNORED)


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Iterable[tuple[Any, Tensor]]) -> float:
    """`cross_entropy` per target that counts over several batches, in evaluation mode; the mode is put back.

    Raises
    ------
    ValueError
        If no target counts.

    Examples
    --------
    >>> y = torch.tensor([2, 0, 1, 1])
    >>> round(mean_loss(nn.Identity(), [(torch.zeros(4, 3), y)]), 4)
    1.0986
    """
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for x, y in batches:
        n = int((y != IGNORED).sum())
        total += cross_entropy(model(x), y).item() * n
        count += n
    model.train(was_training)
    if not count:
        raise ValueError("batches: no target counts; expected at least one")
    return total / count


def _again_and_again(batches: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    while True:
        empty = True
        for batch in batches:
            empty = False
            yield batch
        if empty:
            raise ValueError(f"batches={batches!r}: expected one for every step, or some to repeat")


@contextmanager
def _bar(steps: int, progress: bool) -> Iterator[Callable[[float], None]]:
    """What to call with the loss after every step."""
    if not progress:
        yield lambda loss: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=steps, unit="step") as bar:

        def advance(loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.3g}", refresh=False)
            bar.update()

        yield advance
