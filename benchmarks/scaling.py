"""How time and memory of a stack scale, measured: the tables behind chapter 1.

    python -m benchmarks.scaling            writes benchmarks/scaling.csv, in about ten minutes

Every row compares one setting with the reference of its sweep, alternately in one process, on two threads:
the median ratio, its quartiles, and the seconds of one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import nn

import rnnlib
from rnnlib import measure
from rnnlib.checkpoint import Checkpointed

from .sweeps import write

RESULTS = Path(__file__).with_name("scaling.csv")
COLUMNS = ("sweep", "what", "x", "median", "lower", "upper", "seconds", "bytes")
LSTMS: dict[str, Callable[..., nn.Module]] = {
    "torch.nn.LSTM": nn.LSTM,
    "rnnlib.LSTM": lambda *sizes: rnnlib.LSTM(*sizes, storage="gates"),
}


def training(module: nn.Module, x: torch.Tensor) -> Callable[[], None]:
    """A forward and a backward pass."""

    def run() -> None:
        module.zero_grad()
        module(x)[0].sum().backward()

    return run


def forward(module: nn.Module, x: torch.Tensor) -> Callable[[], None]:
    """A forward pass alone."""

    def run() -> None:
        with torch.no_grad():
            module(x)

    return run


def four_layers_to_one() -> Iterator[tuple]:
    """Time of four layers over time of one, as the width m of the input varies."""
    T, N, d = 100, 32, 256
    for name, lstm in LSTMS.items():
        for what in (forward, training):
            for m in (16, 32, 64, 128, 256, 512, 1024, 2048):
                x = torch.randn(T, N, m)
                calls = {str(layers): what(lstm(m, d, layers), x) for layers in (1, 4)}
                yield "layers", f"{name}, {what.__name__}", m / d, measure.time_ratios(calls, "1", 9)["4"]


def exponents() -> Iterator[tuple]:
    """Training time of one layer as T, N and d vary, m = d, in units of the smallest setting of the sweep."""
    base = {"T": 100, "N": 16, "d": 128}
    sweeps = {"T": (25, 50, 100, 200, 400, 800), "N": (1, 2, 4, 8, 16, 32, 64, 128, 256),
              "d": (16, 32, 64, 128, 256, 512, 1024)}  # fmt: skip
    for name, lstm in LSTMS.items():
        for symbol, values in sweeps.items():
            calls = {}
            for value in values:
                size = base | {symbol: value}
                module = lstm(size["d"], size["d"], 1)
                calls[str(value)] = training(module, torch.randn(size["T"], size["N"], size["d"]))
            for value, ratio in measure.time_ratios(calls, str(values[0]), 9).items():
                yield f"exponent of {symbol}", name, int(value), ratio


def one_product_or_many() -> Iterator[tuple]:
    """The recurrent products of 100 steps, one after another, over one product of the same MACs."""
    T, d = 100, 256
    for N in (1, 4, 16, 64, 256):
        rows, weight = torch.randn(T, N, d), torch.randn(d, 4 * d)
        flat, together, apart = rows.view(T * N, d), torch.empty(T * N, 4 * d), torch.empty(T, N, 4 * d)

        def many(rows=rows, weight=weight, apart=apart) -> None:
            for t in range(T):
                torch.mm(rows[t], weight, out=apart[t])

        calls = {
            "one": lambda flat=flat, weight=weight, out=together: torch.mm(flat, weight, out=out),
            "many": many,
        }
        yield "products", "many / one", N, measure.time_ratios(calls, "one", 15)["many"]


def memory_for_time() -> Iterator[tuple]:
    """Training time and kept bytes of the chapter's stack under every way of storing less."""
    T, N, d, layers = 100, 32, 512, 4
    x = torch.randn(T, N, d)
    modules: dict[str, nn.Module] = {"torch.nn.LSTM, oneDNN": nn.LSTM(d, d, layers)}
    for scheme in ("gates+tanh", "gates", "recompute"):
        modules[scheme] = rnnlib.LSTM(d, d, layers, storage=scheme)
    for segments in (5, 10, 20):
        modules[f"gates, {segments} segments"] = Checkpointed(modules["gates"], segments)
    ratios = measure.time_ratios({name: training(m, x) for name, m in modules.items()}, "gates", 5, 1)
    for name, ratio in ratios.items():
        kept = "" if "oneDNN" in name else measure.saved_bytes(modules[name], x)
        yield "memory", name, getattr(modules[name], "segments", 1), ratio, kept


def main() -> None:
    """Run every sweep and write the table."""
    write(RESULTS, COLUMNS, (one_product_or_many, memory_for_time, four_layers_to_one, exponents))


if __name__ == "__main__":
    main()
