"""Errors that name the argument, its value and what was expected."""

from collections.abc import Sequence
from operator import index
from typing import Any


def integer(name: str, value: Any, minimum: int) -> int:
    kind = {0: "a non-negative integer", 1: "a positive integer"}.get(minimum, f"an integer >= {minimum}")
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < minimum:
        raise ValueError(f"{name}={value!r}: expected {kind}")
    return number


def choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
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
    lengths = [integer("lengths", length, 0) for length in lengths]
    if not lengths:
        raise ValueError("lengths=[]: expected at least one sequence length")
    return sum(lengths), sum(length > 0 for length in lengths)
