"""Depth or width, at equal parameters? The table behind chapter 2.

    python -m experiments.width             fills experiments/width.csv; stop and resume it at will
    python -m experiments.width --quick     a small version, into _build/experiments

Networks of one parameter count, and so of nearly equal work, that are 1 to 6 layers deep. The README beside
this file describes the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from rnnlib.runs import Row

from .fitting import fit
from .grid import Block, Seeds, command
from .models import Network, matched_to
from .problems import problem

DEPTHS = (1, 2, 3, 4, 6)
VARIANTS = ("plain", "residual + output norm")
TASKS = ("letters to phones", "composition", "characters", "digits", "composition, symbol last", "speakers")
SIZES = (1_000, 4_000)  # words to learn from; all 21,997 are in the main block
LARGE_BUDGET = 437_410  # of letters to phones; as at the tasks' own, every depth comes within 1% of it
GRU_BUDGET = 126_290
TUNED_AS = ("task", "cell", "budget", "depth", "variant", "examples", "steps")


def run(
    task: str, cell: str, budget: int, depth: int, variant: str, examples: int | None, steps: int, seed: int,
    lr: float, split: str,
) -> dict[str, Any]:  # fmt: skip
    """Train and score one network, as wide as the budget lets it be."""
    chosen = problem(task)

    def build(width: int) -> Network:
        return chosen.build(cell, width, depth, variant)

    width = matched_to(budget, build)
    return {"width": width, **fit(chosen, lambda: build(width), seed, lr, steps, split, examples=examples)}


def arms(
    task: str,
    depths: Sequence[int] = DEPTHS,
    variants: Sequence[str] = VARIANTS,
    size: int | None = None,
    cell: str = "lstm",
    budget: int | None = None,
    steps: int | None = None,
) -> Iterator[Row]:
    """Depth by depth, shallow first."""
    chosen = problem(task)
    for depth, variant in product(depths, variants):
        yield {"task": task, "cell": cell, "budget": budget or chosen.budget, "depth": depth,
               "variant": variant, "examples": size, "steps": steps or chosen.steps}  # fmt: skip


def blocks() -> list[Block]:
    """The grid, what matters most first."""
    phones = TASKS[0]
    return [
        *(Block([*arms(task)], TUNED_AS) for task in TASKS),
        *(Block([*arms(phones, size=size)], TUNED_AS) for size in SIZES),
        Block([*arms(phones, DEPTHS[1:], ["residual"])], TUNED_AS),
        Block([*arms(phones, cell="gru", budget=GRU_BUDGET)], TUNED_AS),
        Block([*arms(phones, budget=LARGE_BUDGET)], TUNED_AS),
    ]


def quick() -> list[Block]:
    """All tasks, for a few steps."""
    phones, *others = TASKS
    return [
        Block([*arms(phones, [1, 3], steps=4)], TUNED_AS),
        Block([arm for task in others for arm in arms(task, [2], VARIANTS[1:], steps=4)], TUNED_AS),
        Block([*arms(phones, [2], VARIANTS[:1], size=50, steps=4)], TUNED_AS),
    ]


QUICK_SEEDS = Seeds(rates=(1e-2,), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "width", __doc__, (blocks(), Seeds()), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
