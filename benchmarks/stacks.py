"""Time rnnlib's stacks beside torch.nn's, in one process, and write the table to results.md.

    python -m benchmarks.stacks              the whole table
    python -m benchmarks.stacks --quick      two rounds of the smallest shape, to see that it runs

Two threads, float32, one forward and one backward pass. In every round each contestant runs once, the order
turning from round to round; a ratio is the median over the rounds of time / reference time in the same round.
The GEMM limit is the training's multiply-adds divided by the rate that this machine reaches in one large
square product in the same minute.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

import rnnlib
from rnnlib import StackSpec, measure

THREADS = 2
SHAPES = [
    (100, 32, 128, 128, 1),
    (100, 32, 512, 512, 1),
    (35, 20, 200, 200, 2),
    (512, 8, 256, 256, 4),
    (28, 64, 28, 128, 2),
]
CELLS = ("RNN", "GRU", "LSTM")


class Row(NamedTuple):
    """A contestant, what it is compared with, and the ratio to reach at small H and at H = 512."""

    cell: str
    options: dict
    reference: dict | None  # options of the rnnlib module to compare with; None is the plain torch.nn module
    reach: float
    reach_512: float

    def __str__(self) -> str:
        return ", ".join(
            f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
            for name, value in self.options.items()
        )


ROWS = [
    *(Row(cell, {"storage": "native"}, None, 1.05, 1.05) for cell in CELLS),
    *(
        Row(cell, {"storage": "native", "residual": True, "layer_norm": "output"}, None, 1.10, 1.10)
        for cell in CELLS
    ),
    Row("GRU", {"storage": "gates"}, None, 0.75, 0.90),
    Row("RNN", {"storage": "gates"}, None, 0.65, 0.85),
    Row("LSTM", {"storage": "gates"}, None, 1.5, 1.2),
    *(Row(cell, {"storage": "recompute"}, {"storage": "gates"}, 1.4, 1.4) for cell in CELLS),
    Row("LSTM", {"layer_norm": "gates"}, None, 2.2, 1.6),
]


def training_step(module: nn.Module, x: torch.Tensor) -> Callable[[], None]:
    """One forward and one backward pass, gradients of all parameters included."""
    output, _ = module(x)
    cotangent = torch.randn_like(output)

    def step() -> None:
        module.zero_grad(set_to_none=True)
        module(x)[0].backward(cotangent)

    return step


def gemm_rate(size: int = 1024, rounds: int = 5) -> float:
    """Multiply-adds a second in one large product, the best of a few."""
    a, b = torch.randn(2, size, size)

    def seconds() -> float:
        start = time.perf_counter()
        torch.mm(a, b)
        return time.perf_counter() - start

    return size**3 / min(seconds() for _ in range(rounds))


def measure_shape(shape: tuple[int, ...], seconds: float, rounds: int) -> list[str]:
    """The lines of the table for one shape (T, N, D, H, L)."""
    steps, batch, input_size, hidden_size, layers = shape
    x = torch.randn(steps, batch, input_size)
    lines = []
    for cell in CELLS:
        rows = [row for row in ROWS if row.cell == cell]
        contestants = {"torch.nn": training_step(getattr(nn, cell)(input_size, hidden_size, layers), x)}
        for row in rows:
            module = getattr(rnnlib, cell)(input_size, hidden_size, layers, **row.options)
            contestants[str(row.options)] = training_step(module, x)
        times = measure.alternate(contestants, rounds, seconds)
        spec = StackSpec(cell.lower(), input_size, hidden_size, num_layers=layers)
        limit = spec.macs(steps, batch, training=True) / gemm_rate()
        for row in rows:
            own = times[str(row.options)]
            reference = times["torch.nn" if row.reference is None else str(row.reference)]
            ratio = measure.TimeRatio.of(own, reference).median
            reach = row.reach_512 if hidden_size == 512 else row.reach
            against = f"nn.{cell}" if row.reference is None else f'`storage="{row.reference["storage"]}"`'
            lines.append(
                f"| {cell}, `{row}` | {against} | {', '.join(map(str, shape))} | {ratio:.2f} | {reach:.2f} | "
                f"{'yes' if ratio <= reach else 'no'} | {1e3 * statistics.median(own):.1f} | "
                f"{1e3 * statistics.median(times['torch.nn']):.1f} | {1e3 * limit:.1f} | {len(own)} |"
            )
            print(lines[-1], flush=True)
    return lines


def processor() -> str:
    """The processor's name, where the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} cores" if models else platform.processor() or platform.machine()


HEADER = """\
# Stacks: rnnlib beside torch.nn

Written by `python -m benchmarks.stacks`, whose docstring says how it measures. Forward and backward, float32,
{threads} threads. {processor}; torch {torch}, Python {python}.

Times are medians in milliseconds. "GEMM limit" is the time that the same multiply-adds would take in one
large product, at {rate:.0f} billion multiply-adds a second.

| what | against | T, N, D, H, L | ratio | to reach | reached | ms | torch.nn, ms | GEMM limit, ms | rounds |
|---|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="two rounds of the smallest shape; write nothing"
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="for each cell and shape")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    header = HEADER.format(
        threads=THREADS,
        processor=processor(),
        torch=torch.__version__,
        python=platform.python_version(),
        rate=gemm_rate() / 1e9,
    )
    print(header, end="")
    if arguments.quick:
        measure_shape(SHAPES[-1], seconds=0, rounds=2)
        return
    lines = [line for shape in SHAPES for line in measure_shape(shape, arguments.seconds, rounds=9)]
    Path(__file__).with_name("results.md").write_text(header + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
