"""What the tests of graded assignments share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def _refuse(*args: Any, **options: Any) -> Any:
    raise AssertionError(
        "this answer is to be derived: rnnlib's closed forms and new modules are out of reach"
    )


@contextmanager
def out_of_reach(*things: type | Callable[..., Any]) -> Iterator[None]:
    """Let no class among ``things`` make a new object, and no function among them run.

    It works under every name that they were imported by. Objects that exist already keep working.

    Examples
    --------
    >>> import rnnlib
    >>> from torch import nn
    >>> with out_of_reach(rnnlib.StackSpec, nn.Module):
    ...     rnnlib.matched_width("gru", 3, 180)
    Traceback (most recent call last):
    AssertionError: this answer is to be derived: rnnlib's closed forms and new modules are out of reach
    """
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for thing in things:
            target, name, value = (
                (thing, "__init__", _refuse)
                if inspect.isclass(thing)
                else (inspect.unwrap(thing), "__code__", _refuse.__code__)
            )
            replaced.append((target, name, getattr(target, name)))
            setattr(target, name, value)
        yield
    finally:
        for target, name, value in reversed(replaced):
            setattr(target, name, value)
