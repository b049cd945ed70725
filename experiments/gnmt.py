"""What residuals do for eight layers with attention. The table behind the page on GNMT.

    python -m experiments.gnmt            fills experiments/gnmt.csv; stop and resume it at will
    python -m experiments.gnmt --quick    a small version, into _build/experiments

Encoder and decoder of Wu et al. (2016), letters to phones, with the shortcuts and without. The README beside
this file describes the tables.
"""

from __future__ import annotations

from typing import Any

from rnnlib.runs import Row
from rnnlib.systems.gnmt import GNMT

from .fitting import fit
from .grid import Block, Seeds, command
from .models import EMBEDDING
from .problems import Phones, problem

TASK, WIDTH, VARIANTS = Phones.name, 64, ("plain", "residual")
TUNED_AS = ("depth", "variant")


def run(task: str, depth: int, variant: str, steps: int, seed: int, lr: float, split: str) -> dict[str, Any]:
    """Train and score one network."""
    chosen = problem(task)
    letters, phones = len(chosen.data.letters), len(chosen.data.phones)
    residual = variant == "residual"
    return fit(chosen, lambda: GNMT(letters, phones, EMBEDDING, WIDTH, depth, residual), seed, lr, steps,
               split, curve=True)  # fmt: skip


def arm(depth: int, variant: str, steps: int = Phones.steps) -> Row:
    """One of the grid's."""
    return {"task": TASK, "depth": depth, "variant": variant, "steps": steps}


def blocks() -> list[Block]:
    """The grid, what matters most first."""
    return [
        Block([arm(8, variant) for variant in VARIANTS], TUNED_AS),
        Block([arm(4, "plain")], TUNED_AS),
    ]


def quick() -> list[Block]:
    """The same at three layers, the fewest that have a shortcut, for a few steps."""
    return [Block([arm(3, variant, steps=4) for variant in VARIANTS], TUNED_AS)]


QUICK_SEEDS = Seeds(rates=(3e-3, 1e-2), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "gnmt", __doc__, (blocks(), Seeds()), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
