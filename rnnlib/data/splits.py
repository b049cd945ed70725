"""The three parts of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Part = TypeVar("Part")


@dataclass(frozen=True)
class Splits(Generic[Part]):
    """Parts without a common example, the same in every call."""

    train: Part
    """To fit parameters on."""
    valid: Part
    """To choose among fitted models."""
    test: Part
    """To score the chosen ones on, once."""
