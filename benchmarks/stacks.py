"""Time rnnlib's stacks beside torch.nn's, in one process, and write the table to results.md.

    python -m benchmarks.stacks              the whole table
    python -m benchmarks.stacks --quick      two rounds of the smallest shape, to see that it runs

Two threads, float32, one forward and one backward pass. In every round each contestant runs once, the order
turning from round to round; a ratio is the median over the rounds of time / reference time in the same round.

Beside the times stand the two bounds of `bounds.py`. results.md has a section for every processor and version
of torch, and a run rewrites that of its own.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

import rnnlib
from rnnlib import StackSpec, measure

from .bounds import alone, gemm_rate, products

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


def measure_shape(shape: tuple[int, ...], seconds: float, rounds: int) -> list[str]:
    """The lines of the table for one shape (T, N, D, H, L)."""
    steps, batch, input_size, hidden_size, layers = shape
    x = torch.randn(steps, batch, input_size)
    lines = []
    for cell in CELLS:
        rows = [row for row in ROWS if row.cell == cell]
        contestants = {"torch.nn": training_step(getattr(nn, cell)(input_size, hidden_size, layers), x)}
        bound = measure.alternate({**contestants, **products(cell.lower(), *shape)}, rounds, seconds / 2)
        least = alone(bound) / statistics.median(bound["torch.nn"])
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
            by_hand = row.reference is None and row.options.get("storage") != "native"
            reach = row.reach_512 if hidden_size == 512 else row.reach
            against = f"nn.{cell}" if row.reference is None else f'`storage="{row.reference["storage"]}"`'
            medians = (statistics.median(seconds) for seconds in (own, times["torch.nn"]))
            lines.append(
                f"| {cell}, `{row}` | {against} | {', '.join(map(str, shape))} | {ratio:.2f} | {reach:.2f} | "
                f"{'yes' if ratio <= reach else 'no'} | {f'{least:.2f}' if by_hand else ''} | "
                f"{' | '.join(f'{1e3 * seconds:.1f}' for seconds in (*medians, limit))} | {len(own)} |"
            )
            print(lines[-1], flush=True)
    return lines


def processor() -> str:
    """The processor's name, where the system tells; a virtual machine hides all but family and model."""
    info = Path("/proc/cpuinfo")
    lines = [line.partition(":") for line in info.read_text().splitlines()] if info.exists() else []
    facts = {name.strip(): value.strip() for name, _, value in lines}
    if "model name" not in facts:
        return platform.processor() or platform.machine()
    cores = sum(name.strip() == "processor" for name, _, _ in lines)
    model = f"family {facts.get('cpu family', '?')}, model {facts.get('model', '?')}"
    return f"{facts['model name']} ({model}), {cores} cores"


def sections(report: str, new: str) -> str:
    """All sections of the report, the new one first and in place of the one that had its heading.

    >>> sections("Title\\n\\n## A\\n\\nold\\n\\n## B\\n\\nb\\n", "## B\\n\\nnew\\n")
    '\\n## B\\n\\nnew\\n\\n## A\\n\\nold\\n'
    """
    _, *old = report.rstrip("\n").split("\n\n## ")
    kept = [f"## {section}\n" for section in old if not new.startswith(f"## {section.splitlines()[0]}\n")]
    return "\n" + "\n".join([new, *kept])


RESULTS = Path(__file__).with_name("results.md")
TITLE = """\
# Stacks: rnnlib beside torch.nn

Written by `python -m benchmarks.stacks`, whose docstring says how it measures: forward and backward, float32,
{threads} threads, a section for every processor and version of torch. Times are medians in milliseconds.

"GEMM limit" is the time that the multiply-adds would take in one large product. "Products alone" is the ratio
that the matrix products of the recurrences would have if nothing were done around them: layer after layer,
one product a step for the state and one for all steps for the rest, of each the faster of the forms that
`bounds.py` tries. Where it is above what is to be reached, no recurrence that calls these products can reach
it. `nn.LSTM` makes none of these calls: on a CPU oneDNN runs it whole, with products of its own.
"""
COLUMNS = (
    "what", "against", "T, N, D, H, L", "ratio", "to reach", "reached", "products alone", "ms",
    "torch.nn, ms", "GEMM limit, ms", "rounds",
)  # fmt: skip
SECTION = """\
## {processor}, torch {torch}

Python {python}. One large product: {rate:.0f} billion multiply-adds a second.

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
    section = SECTION.format(
        processor=processor(),
        torch=torch.__version__,
        python=platform.python_version(),
        rate=gemm_rate() / 1e9,
    )
    section += f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"
    print(section, end="")
    if arguments.quick:
        measure_shape(SHAPES[-1], seconds=0, rounds=2)
        return
    report = RESULTS.read_text() if RESULTS.exists() else ""
    lines = [line for shape in SHAPES for line in measure_shape(shape, arguments.seconds, rounds=9)]
    section += "\n".join(lines) + "\n"
    RESULTS.write_text(TITLE.format(threads=THREADS) + sections(report, section))


if __name__ == "__main__":
    main()
