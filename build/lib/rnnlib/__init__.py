"""Stacked recurrent networks whose costs are derived, measured and tested."""

from . import measure
from .audit import Audit, audit
from .cost import Match, StackSpec, match, matched_width

__all__ = ["Audit", "Match", "StackSpec", "audit", "match", "matched_width", "measure"]
