"""Errors that name the argument, its value and what was expected."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any


def integer(name: str, value: Any, minimum: int) -> int:
    """The value as a plain integer, not below the minimum."""
    kind = {0: "a non-negative integer", 1: "a positive integer"}.get(minimum, f"an integer >= {minimum}")
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < minimum:
        raise ValueError(f"{name}={value!r}: expected {kind}")
    return number


def choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """The value, one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")
    return value


def tokens_and_sequences(steps: Any, batch: Any, lengths: Any) -> tuple[int, int]:
    """Valid tokens, and sequences with at least one of them (each has one first step)."""
    if lengths is None:
        steps = integer("steps", 1 if steps is None else steps, 0)
        batch = integer("batch", 1 if batch is None else batch, 1)
        return steps * batch, batch if steps else 0
    if steps is not None or batch is not None:
        raise ValueError(f"lengths={lengths!r}: replaces steps and batch, expected only one of the two forms")
    if not isinstance(lengths, Iterable) or not (lengths := list(lengths)):
        raise ValueError(f"lengths={lengths!r}: expected at least one sequence length")
    lengths = [integer("lengths", length, 0) for length in lengths]
    return sum(lengths), sum(length > 0 for length in lengths)


def probability(name: str, value: Any) -> None:
    """Raise unless the value is a probability."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r}: expected a probability in [0, 1]")
