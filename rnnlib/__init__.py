"""Stacked recurrent networks whose costs are derived, measured and tested."""

from .corrections import Correction, corrections
from .cost import Match, StackSpec, match, matched_width
from .table import Table

__all__ = ["Correction", "Match", "StackSpec", "Table", "corrections", "match", "matched_width"]

try:
    from . import measure
    from .audit import Audit, Row, audit
    from .stack import GRU, LSTM, RNN
except ImportError as missing:
    if missing.name != "torch":
        raise
    # The closed forms need nothing but the standard library.
else:
    __all__ += ["GRU", "LSTM", "RNN", "Audit", "Row", "audit", "measure"]
