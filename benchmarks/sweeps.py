"""A table of timings: a row for every setting of every sweep, written as soon as it is taken."""

from __future__ import annotations

import csv
import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

THREADS = 2


def write(
    path: Path, columns: Sequence[str], sweeps: Iterable[Callable[[], Iterable[tuple[Any, ...]]]]
) -> None:
    """Run the sweeps on two threads. They yield a name, what is timed, x, a `TimeRatio`, and more if any."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    with path.open("w", newline="") as file:
        version = torch.__version__.split("+")[0]
        file.write(f"# {platform.machine()}, {THREADS} threads, torch {version}, float32\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        for sweep in sweeps:
            for name, what, x, ratio, *more in sweep():
                row = [name, what, f"{x:g}", *(f"{value:.4g}" for value in ratio), *more]
                table.writerow(row + [""] * (len(columns) - len(row)))
                file.flush()
                print(name, what, x, f"{ratio.median:.3g}", flush=True)
