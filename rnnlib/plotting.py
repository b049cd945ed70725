"""The book's look: one style, colours that a colour-blind reader can tell apart, few helpers."""

from __future__ import annotations

import matplotlib as mpl
from cycler import cycler

# Okabe and Ito's palette, which keeps its contrasts under the common kinds of colour blindness.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
CELL_COLOURS = dict(zip(("rnn", "gru", "lstm"), PALETTE, strict=False))
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")


def use_book_style() -> None:
    """Set matplotlib's defaults to the book's."""
    mpl.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": "medium",
            "figure.constrained_layout.use": True,
            "figure.dpi": 120,
            "figure.figsize": (7.0, 3.6),
            "font.size": 10,
            "hatch.linewidth": 0.6,
            "legend.frameon": False,
        }
    )
