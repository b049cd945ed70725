"""The book's look: one style, colours that a colour-blind reader can tell apart, few helpers."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.patches import Rectangle

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


def timetable(schedule, ax=None):
    """Draw a timetable of `rnnlib.schedule`: a lane per row, a tick per column, "layer, step" in each cell.

    Parameters
    ----------
    schedule : slots (tick, lane, layer, step), all counted from 0; the labels count from 1.
    ax : the axes to draw on; pyplot's current ones by default.

    Returns
    -------
    The axes.
    """
    if ax is None:
        ax = plt.gca()
    for tick, lane, layer, step in schedule:
        colour = PALETTE[layer % len(PALETTE)]
        ax.add_patch(Rectangle((tick, lane), 1, 1, facecolor=colour, edgecolor="white", alpha=0.75))
        ax.text(tick + 0.5, lane + 0.5, f"{layer + 1}, {step + 1}", ha="center", va="center", size="small")
    ticks = 1 + max(slot[0] for slot in schedule)
    lanes = 1 + max(slot[1] for slot in schedule)
    ax.set(xlim=(0, ticks), ylim=(lanes, 0), xlabel="tick", ylabel="lane")
    ax.set_xticks([k + 0.5 for k in range(ticks)], range(1, ticks + 1))
    ax.set_yticks([k + 0.5 for k in range(lanes)], range(1, lanes + 1))
    return ax
