"""What models that turn one sequence into another share: targets to learn from, and greedy decoding.

Code 0 fills up what is shorter than its neighbours, always behind its end. Among targets it is also the
symbol that starts and that ends one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..cost.checks import integer
from ..training import IGNORED

States = TypeVar("States")


def teacher_forcing(source: Tensor, target: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """A batch to learn from: at every step the model is told the right target so far and names what follows.

    Parameters
    ----------
    source, target
        codes (N, S) and (N, T).

    Returns
    -------
    (source, so_far), following
        codes (S, N), and (T + 1, N) each; ``following`` is -100 behind the end of a target.

    Raises
    ------
    ValueError
        If there are not as many targets as sources.

    Examples
    --------
    >>> (source, so_far), following = teacher_forcing(torch.tensor([[3, 1]]), torch.tensor([[7, 9, 0]]))
    >>> source.T.tolist(), so_far.T.tolist(), following.T.tolist()
    ([[3, 1]], [[0, 7, 9, 0]], [[7, 9, 0, -100]])
    """
    if len(source) != len(target):
        raise ValueError(f"target: {len(target)} sequences; expected as many as in source, {len(source)}")
    following = pad(target.T, (0, 0, 0, 1))  # an end for the longest too
    so_far = pad(following[:-1], (0, 0, 1, 0))
    beyond = (so_far == 0) & (torch.arange(len(following), device=target.device)[:, None] > 0)
    return (source.T, so_far), following.masked_fill(beyond, IGNORED)


def greedy(
    step: Callable[[Tensor, States], tuple[Tensor, States]], states: States, start: Tensor, steps: int
) -> Tensor:
    """The likeliest symbol, step by step.

    Parameters
    ----------
    step
        from symbols (1, N) and states to scores of what follows, (1, N, symbols), and the next states.
    states
        of the first step.
    start
        (1, N) zeros.
    steps
        how many, at least 1.

    Returns
    -------
    (steps, N) codes; zeros after the first zero.
    """
    symbol, going, said = start, torch.ones_like(start), []
    for _ in range(integer("steps", steps, 1)):
        scores, states = step(symbol, states)
        symbol = scores.argmax(-1)
        going = going * (symbol > 0)
        said.append(symbol * going)
    return torch.cat(said)
