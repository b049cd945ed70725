"""The width at which one stack has as many parameters as another model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .checks import integer
from .spec import StackSpec


@dataclass(frozen=True)
class Match:
    """The width that `match` found, its parameter count, and how far that is from the target."""

    hidden_size: int
    parameters: int
    target: int

    @property
    def mismatch(self) -> float:
        """Signed mismatch in percent of the target."""
        return 100 * (self.parameters - self.target) / self.target


def match(
    cell: str,
    input_size: int,
    target: int,
    *,
    bias: str = "pytorch",
    extra: Callable[[int], int] | None = None,
    below: bool = False,
    **options: Any,
) -> Match:
    """The hidden size whose parameter count comes nearest to a target, found by integer search on the count.

    Parameters
    ----------
    cell, input_size
        as in `StackSpec`; ``options`` are its further arguments, such as ``num_layers``.
    target
        number of parameters to match.
    bias
        convention under which they are counted.
    extra
        parameters of the rest of the model as a function of ``hidden_size``; must not decrease.
    below
        take the largest count that does not exceed the target. Otherwise the nearest count wins, and
        a tie goes to the smaller width.

    Raises
    ------
    ValueError
        If the target is not positive, or ``below`` is asked for and even the narrowest stack exceeds it.

    Examples
    --------
    >>> match("rnn", 3, 180, bias="single")
    Match(hidden_size=12, parameters=192, target=180)
    >>> round(match("rnn", 3, 180, bias="single", below=True).mismatch, 2)
    -8.33
    """
    target = integer("target", target, 1)
    first = 1 + integer("proj_size", options.get("proj_size", 0), 0)
    narrowest = StackSpec(cell, input_size, first, **options)

    def count(hidden_size: int) -> int:
        stack = replace(narrowest, hidden_size=hidden_size).parameters(bias)
        return stack + (integer("extra", extra(hidden_size), 0) if extra else 0)

    last = first
    while count(last) < target:
        last *= 2
    at_least = bisect_left(range(first, last), target, key=count) + first
    candidates = [w for w in (at_least - 1, at_least) if w >= first]
    if below:
        candidates = [w for w in candidates if count(w) <= target]
        if not candidates:
            raise ValueError(f"target={target}: even hidden_size={first} has {count(first)} parameters")
        best = candidates[-1]
    else:
        best = min(candidates, key=lambda w: abs(count(w) - target))
    return Match(best, count(best), target)


def matched_width(cell: str, input_size: int, target: int, **options: Any) -> int:
    """The hidden size that `match` finds for the same arguments.

    >>> matched_width("gru", input_size=3, target=180, bias="single")
    6
    >>> one_layer = StackSpec("lstm", 512, 512).parameters("single")
    >>> matched_width("lstm", 512, one_layer, num_layers=2, bias="single")
    341
    """
    return match(cell, input_size, target, **options).hidden_size
