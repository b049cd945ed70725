"""How deep can a stack be? The table behind chapter 3.

    python -m experiments.limits            fills experiments/limits.csv; stop and resume it at will
    python -m experiments.limits --quick    a small version, into _build/experiments

Stacks of one width, 1 to 12 layers deep, plain and with what is said to help. The README beside this file
describes the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from rnnlib.runs import Row

from .fitting import fit
from .grid import Block, Seeds, command
from .models import VARIANTS
from .problems import problem

WIDTH = 64
MAIN = ("plain", "residual", "residual + output norm")
NORMS = ("output norm", "gate norm")
BOTH = ("residual + gate norm",)
CLIP = 1.0
LONGER = 4  # times the steps, to tell slow from stuck
TUNED_AS = ("task", "depth", "variant", "steps")


def run(
    task: str,
    cell: str,
    depth: int,
    variant: str,
    clip: float | None,
    steps: int,
    seed: int,
    lr: float,
    split: str,
) -> dict[str, Any]:
    """Train and score one network."""
    chosen = problem(task)
    return fit(chosen, lambda: chosen.build(cell, WIDTH, depth, variant), seed, lr, steps, split, clip)


def differ(depth: int, variant: str) -> bool:
    """Whether the variant differs from all others: one layer has no residual where the widths disagree."""
    return depth > 1 or not VARIANTS[variant].get("residual")


def arms(
    task: str,
    depths: Sequence[int],
    variants: Sequence[str],
    clips: Sequence[float | None] = (CLIP,),
    steps: int | None = None,
) -> Iterator[Row]:
    """Depth by depth, shallow first."""
    for depth, variant, clip in product(depths, variants, clips):
        if differ(depth, variant):
            yield {"task": task, "cell": "lstm", "depth": depth, "variant": variant, "clip": clip,
                   "steps": steps or problem(task).steps}  # fmt: skip


def blocks() -> list[Block]:
    """The grid, what matters most first."""
    phones, characters = "letters to phones", "characters"
    one_layer = [*arms(phones, [1], NORMS[:1])]  # the control of all that normalise
    return [
        Block([*arms(phones, [1, 2, 4, 8], MAIN), *one_layer], TUNED_AS),
        # Clipped runs of these arms have their rows already; so do their learning rates.
        Block([*arms(phones, [4, 8], MAIN, [CLIP, None])], TUNED_AS),
        Block([*arms(phones, [1, 2, 4, 8], NORMS)], TUNED_AS),
        Block([*arms(phones, [12], MAIN)], TUNED_AS),
        Block([*arms(phones, [6], MAIN)], TUNED_AS),
        Block([*arms(phones, [12], NORMS), *arms(phones, [4, 8, 12], BOTH)], TUNED_AS),
        Block([*arms(phones, [6], NORMS), *arms(phones, [2, 6], BOTH)], TUNED_AS),
        Block([*arms(phones, [4, 8], MAIN[:1], steps=LONGER * problem(phones).steps)], TUNED_AS),
        Block([*arms(characters, [1, 2, 4, 8], MAIN), *arms(characters, [1], NORMS[:1])], TUNED_AS),
        Block([*arms(characters, [6, 12], MAIN)], TUNED_AS),
        Block(
            [*arms(characters, [2, 4, 6, 8, 12], (*NORMS, *BOTH)), *arms(characters, [1], NORMS[1:])],
            TUNED_AS,
        ),
    ]


def quick() -> list[Block]:
    """Every kind of arm, for a few steps."""
    return [
        Block([*arms("letters to phones", [1, 2], MAIN[::2], steps=4)], TUNED_AS),
        Block([*arms("letters to phones", [2], ["plain", "gate norm"], [CLIP, None], steps=4)], TUNED_AS),
    ]


QUICK_SEEDS = Seeds(rates=(3e-3, 1e-2), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "limits", __doc__, (blocks(), Seeds()), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
