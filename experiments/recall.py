"""Delayed recall: how far back does a recurrent network remember? The table behind chapter 5.

    python -m experiments.recall            fills experiments/recall.csv; stop and resume it at will
    python -m experiments.recall --quick    a small version, into _build/experiments

A learning rate is tuned for every arm, a cell and a depth, at one lag and on seeds of its own
(recall-tuning.csv). Then every arm is trained at every lag on every seed, and the shallow ones once more
with blanks in place of the random symbols in between. The README beside this file describes the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

import rnnlib
from rnnlib.init import forget_bias_
from rnnlib.runs import Row, load, sweep, versions
from rnnlib.tasks import delayed_recall
from rnnlib.training import accuracy, train

HERE = Path(__file__).parent
SYMBOLS, WIDTH, BATCH, CLIP, SOLVED = 8, 64, 16, 1.0, 0.99
CELLS = {
    # The fastest way to the same numbers: oneDNN runs a native LSTM on the CPU, but neither of the others.
    "rnn": (rnnlib.RNN, "gates"),
    "gru": (rnnlib.GRU, "gates"),
    "lstm": (rnnlib.LSTM, "native"),
}


@dataclass(frozen=True)
class Grid:
    """What is run. Tuning seeds and test seeds have nothing in common."""

    depths: tuple[int, ...] = (1, 4)
    lags: tuple[int, ...] = (5, 10, 20, 40, 80, 160)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    rates: tuple[float, ...] = (1e-3, 3e-3, 1e-2)
    tuning_lag: int = 20
    tuning_seeds: tuple[int, ...] = (100, 101)
    blank_depths: tuple[int, ...] = (1,)
    steps: int = 2000

    def arms(self) -> Iterator[tuple[str, int]]:
        """Cell and depth."""
        yield from product(CELLS, self.depths)

    def tuning(self) -> Iterator[Row]:
        """The settings among which the learning rates are chosen."""
        for (cell, depth), lr, seed in product(self.arms(), self.rates, self.tuning_seeds):
            yield self._setting(cell, depth, seed, self.tuning_lag, "random", lr)

    def test(self, rates: dict[tuple[str, int], float]) -> Iterator[Row]:
        """The settings whose scores are reported, given the learning rate of each arm."""
        for between, depths in (("random", self.depths), ("blank", self.blank_depths)):
            for lag, cell, depth, seed in product(self.lags, CELLS, depths, self.seeds):
                yield self._setting(cell, depth, seed, lag, between, rates[cell, depth])

    def _setting(self, cell: str, depth: int, seed: int, lag: int, between: str, lr: float) -> Row:
        return {"task": "delayed recall", "cell": cell, "depth": depth, "seed": seed, "lag": lag,
                "between": between, "lr": lr, "steps": self.steps}  # fmt: skip


QUICK = Grid(
    depths=(1, 2), lags=(2, 4), seeds=(0, 1), rates=(3e-3, 1e-2), tuning_lag=3, tuning_seeds=(100,), steps=40
)


class Reader(nn.Module):
    """A stack, and a linear layer that reads its output at the last step.

    >>> Reader("gru", depth=2)(torch.zeros(6, 3, 2 * SYMBOLS + 1)).shape
    torch.Size([3, 8])
    """

    def __init__(self, cell: str, depth: int) -> None:
        super().__init__()
        stack, storage = CELLS[cell]
        self.stack = stack(2 * SYMBOLS + 1, WIDTH, depth, storage=storage)
        self.output = nn.Linear(WIDTH, SYMBOLS)
        if cell == "lstm":
            forget_bias_(self.stack, 1.0)

    def forward(self, x: Tensor) -> Tensor:
        """(T, N, width) to (N, SYMBOLS)."""
        return self.output(self.stack(x)[0][-1])


def batches(
    seed: int, purpose: str, lag: int, between: str = "random", size: int = BATCH
) -> Iterator[tuple[Tensor, Tensor]]:
    """Fresh batches without end, the same for every arm, unrelated for another seed or purpose."""
    stream = ("training", "validation", "test").index(purpose)
    generator = torch.Generator().manual_seed(1000 * seed + stream)
    while True:
        yield delayed_recall(lag, size, SYMBOLS, distractors=between == "random", generator=generator)


def run(
    task: str, cell: str, depth: int, seed: int, lag: int, between: str, lr: float, steps: int
) -> dict[str, Any]:
    """Train one network until it has solved the task or its steps are used up, and test it.

    It counts as solved when 256 validation sequences, the same at every look, are answered 99% right. The
    accuracy returned is that on 2,048 sequences never seen before.
    """
    torch.set_flush_denormal(True)  # vanished gradients are denormal numbers, which take many times longer
    torch.manual_seed(seed)
    model = Reader(cell, depth)
    validation = next(batches(seed, "validation", lag, between, 256))
    record = train(
        model,
        batches(seed, "training", lag, between),
        nn.functional.cross_entropy,
        torch.optim.Adam(model.parameters(), lr),
        steps,
        clip=CLIP,
        stop=lambda step: accuracy(model, [validation]) >= SOLVED,
    )
    test = batches(seed, "test", lag, between, 256)
    return {
        "accuracy": round(accuracy(model, [next(test) for _ in range(8)]), 5),
        "chance": 1 / SYMBOLS,
        "solved": record.steps if record.stopped else None,
        "seconds": round(record.seconds, 2),
        "version": versions(),
    }


def best_rates(rows: list[Row]) -> dict[tuple[str, int], float]:
    """For every arm the learning rate with the highest mean accuracy; of equal ones the sooner solved.

    >>> row = {"cell": "gru", "depth": 1, "seed": 100, "accuracy": 1.0, "steps": 200}
    >>> best_rates([row | {"lr": 0.01, "solved": 120}, row | {"lr": 0.1, "solved": 60}])
    {('gru', 1): 0.1}
    """
    scores: dict[tuple[str, int], dict[float, list[tuple[float, int]]]] = {}
    for row in rows:
        score = row["accuracy"], -(row["solved"] or row["steps"])
        scores.setdefault((row["cell"], row["depth"]), {}).setdefault(row["lr"], []).append(score)

    def mean(runs: list[tuple[float, int]]) -> tuple[float, ...]:
        return tuple(map(fmean, zip(*runs, strict=True)))

    return {arm: max(sorted(rates), key=lambda lr: mean(rates[lr])) for arm, rates in scores.items()}


def fill(grid: Grid, folder: Path, processes: int | None = None, progress: bool = True) -> None:
    """Tune, then test, whatever the two tables in the folder do not hold yet."""
    tuning, results = folder / "recall-tuning.csv", folder / "recall.csv"
    sweep(run, grid.tuning(), tuning, processes, progress)
    rates = best_rates([row for row in load(tuning) if row["steps"] == grid.steps])
    sweep(run, grid.test(rates), results, processes, progress)


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.recall", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short lags, two seeds, few steps")
    parser.add_argument("--folder", type=Path, help="where the tables lie")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time, one thread each (2)")
    parser.add_argument("--steps", type=int, help=f"optimizer steps of a run at most ({Grid.steps})")
    options = parser.parse_args(arguments)
    grid = QUICK if options.quick else Grid()
    if options.steps:
        grid = replace(grid, steps=options.steps)
    fill(grid, options.folder or (Path("_build/experiments") if options.quick else HERE), options.processes)


if __name__ == "__main__":
    main()
