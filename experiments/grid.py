"""How a grid over depth is run: block by block, the learning rates of a block chosen before its test runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from rnnlib.runs import Row, load, sweep

HERE = Path(__file__).parent
QUICK_FOLDER = Path("_build/experiments")
Arm = tuple[Any, ...]


class Block(NamedTuple):
    """A part of a grid. Its arms are settings without learning rate, seed and split."""

    arms: Sequence[Row]
    tuned_as: Sequence[str]
    """The keys that make an arm one of its own when learning rates are chosen; other keys share its rate."""


@dataclass(frozen=True)
class Seeds:
    """Seeds and learning rates of a grid. Tuning seeds and test seeds have nothing in common."""

    rates: tuple[float, ...] = (1e-3, 3e-3, 1e-2, 3e-2)
    tuning: tuple[int, ...] = (100,)
    test: tuple[int, ...] = (0, 1, 2, 3, 4)


def to_tune(block: Block, seeds: Seeds) -> Iterator[Row]:
    """Every tuned arm, once at every rate on every tuning seed."""
    tuned: dict[Arm, Row] = {}
    for arm in block.arms:
        tuned.setdefault(key(arm, block.tuned_as), arm)
    for arm, lr, seed in product(tuned.values(), seeds.rates, seeds.tuning):
        yield {**arm, "seed": seed, "lr": lr, "split": "valid"}


def to_score(block: Block, seeds: Seeds, rates: Mapping[Arm, float]) -> Iterator[Row]:
    """Every arm at its rate on every test seed."""
    for arm, seed in product(block.arms, seeds.test):
        yield {**arm, "seed": seed, "lr": rates[key(arm, block.tuned_as)], "split": "test"}


def key(row: Row, names: Sequence[str]) -> Arm:
    """The row's values under these names."""
    return tuple(row[name] for name in names)


def best_rates(rows: Sequence[Row], names: Sequence[str]) -> dict[Arm, float]:
    """For every arm, told apart by these names, the rate of the lowest mean error; of equal ones the smaller.

    >>> rows = [{"depth": 2, "lr": lr, "error": error} for lr, error in ((0.1, 0.5), (0.2, 0.3), (0.2, 0.5))]
    >>> best_rates(rows, ["depth"])
    {(2,): 0.2}
    """
    errors: dict[Arm, dict[float, list[float]]] = {}
    for row in rows:
        errors.setdefault(key(row, names), {}).setdefault(row["lr"], []).append(row["error"])
    return {arm: min(sorted(by_rate), key=lambda lr: fmean(by_rate[lr])) for arm, by_rate in errors.items()}


def fill(
    run: Callable[..., Mapping[str, Any]],
    blocks: Sequence[Block],
    seeds: Seeds,
    folder: Path,
    name: str,
    processes: int | None = None,
    progress: bool = True,
) -> None:
    """Tune and test, block by block, whatever the two tables in the folder do not hold yet."""
    tuning, results = folder / f"{name}-tuning.csv", folder / f"{name}.csv"
    for block in blocks:
        settings = list(to_tune(block, seeds))
        sweep(run, settings, tuning, processes, progress)
        wanted = {tuple(setting.items()) for setting in settings}
        rows = [row for row in load(tuning) if tuple((c, row[c]) for c in settings[0]) in wanted]
        rates = best_rates(rows, block.tuned_as)
        sweep(run, to_score(block, seeds, rates), results, processes, progress)


def command(
    run: Callable[..., Mapping[str, Any]],
    name: str,
    doc: str | None,
    full: tuple[Sequence[Block], Seeds],
    quick: tuple[Sequence[Block], Seeds],
    arguments: list[str] | None,
) -> None:
    """The command line of a sweep, described by the first line of its module's docstring."""
    about = (doc or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{name}", description=about)
    parser.add_argument("--quick", action="store_true", help="few arms, seeds and steps")
    parser.add_argument("--folder", type=Path, help="where the tables lie")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time, one thread each (2)")
    parser.add_argument("--blocks", type=int, help="only the first so many blocks of the grid (all)")
    options = parser.parse_args(arguments)
    blocks, seeds = quick if options.quick else full
    folder = options.folder or (QUICK_FOLDER if options.quick else HERE)
    fill(run, blocks[: options.blocks], seeds, folder, name, options.processes)
