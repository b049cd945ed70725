"""Stacked recurrent networks whose costs are derived, measured and tested."""

from . import measure
from .audit import Audit, audit
from .corrections import Correction, corrections
from .cost import Match, StackSpec, match, matched_width
from .table import Table

from .stack import GRU, LSTM, RNN  # isort: skip

__all__ = [
    "Audit",
    "Correction",
    "Match",
    "StackSpec",
    "Table",
    "audit",
    "corrections",
    "match",
    "matched_width",
    "measure",
]

__all__ += ["GRU", "LSTM", "RNN"]
