"""Stacked recurrent networks whose costs are derived, measured and tested."""

from . import measure
from .cost import Match, StackSpec, match, matched_width

__all__ = ["Match", "StackSpec", "match", "matched_width", "measure"]
