"""How much does it matter how a stack is initialised? A table behind chapter 3.

    python -m experiments.initialisation            fills experiments/initialisation.csv; stop and resume it
    python -m experiments.initialisation --quick    a small version, into _build/experiments

Stacks of four layers, plain, with residuals and with norms, from four initialisations. The README beside this
file describes the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import torch
from torch import nn

from rnnlib.init import GATES, orthogonal_
from rnnlib.runs import Row

from .fitting import fit
from .grid import Block, Seeds, command
from .limits import MAIN, NORMS, WIDTH
from .models import Network
from .problems import problem

TASK = "letters to phones"
DEPTH = 4
TUNED_AS = ("task", "depth", "variant", "steps")


@torch.no_grad()
def scale_(stack: nn.RNNBase, factor: float) -> None:
    """Multiply every weight matrix by the factor; biases, gains and shifts stay."""
    for name, parameter in stack.named_parameters():
        if name.startswith("weight_"):
            parameter.mul_(factor)


@torch.no_grad()
def orthogonal_and_xavier_(stack: nn.RNNBase) -> None:
    """Recurrent matrices orthogonal, input matrices as Glorot and Bengio 2010, gate by gate."""
    orthogonal_(stack)
    for name, parameter in stack.named_parameters():
        if name.startswith("weight_ih_"):
            for block in parameter.chunk(GATES[stack.mode]):
                nn.init.xavier_uniform_(block)


INITIALISATIONS: dict[str, Callable[[nn.RNNBase], Any]] = {
    "torch": lambda stack: None,
    "half": lambda stack: scale_(stack, 0.5),
    "double": lambda stack: scale_(stack, 2.0),
    "orthogonal": orthogonal_and_xavier_,
}
"""What is done to a stack after torch has initialised it and the forget bias is set."""


def run(
    task: str, cell: str, depth: int, variant: str, initialisation: str, steps: int, seed: int, lr: float,
    split: str,
) -> dict[str, Any]:  # fmt: skip
    """Train and score one network."""
    chosen = problem(task)

    def build() -> Network:
        network = chosen.build(cell, WIDTH, depth, variant)
        for stack in network.stacks:
            INITIALISATIONS[initialisation](stack)
        return network

    return fit(chosen, build, seed, lr, steps, split)


def arms(
    variants: Sequence[str] = (*MAIN, *NORMS), depth: int = DEPTH, steps: int | None = None
) -> Iterator[Row]:
    """Variant by variant. The first initialisation, torch's own, is the one that rates are tuned with."""
    for variant, initialisation in product(variants, INITIALISATIONS):
        yield {"task": TASK, "cell": "lstm", "depth": depth, "variant": variant,
               "initialisation": initialisation, "steps": steps or problem(TASK).steps}  # fmt: skip


def blocks() -> list[Block]:
    """The grid."""
    return [Block([*arms()], TUNED_AS)]


def quick() -> list[Block]:
    """Two variants, for a few steps."""
    return [Block([*arms(["plain", "gate norm"], 2, 4)], TUNED_AS)]


QUICK_SEEDS = Seeds(rates=(1e-2,), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "initialisation", __doc__, (blocks(), Seeds()), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
