"""What the usual cost counters say of recurrent networks: reported over true multiply-accumulates.

The counters live in an environment of their own. From the root of the repository::

    python -m venv benchmarks/.venv-counters
    benchmarks/.venv-counters/bin/python -m pip install -r benchmarks/counters-requirements.txt
    benchmarks/.venv-counters/bin/python -m pip install --no-deps -e .
    benchmarks/.venv-counters/bin/python -m benchmarks.counters

This writes ``benchmarks/counters.csv`` and prints it as a Markdown table.
"""

from __future__ import annotations

import io
import logging
import multiprocessing
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.counters_table import CSV, SETTINGS, Row, Setting, markdown, write_table

# ---- One adapter per tool: (module, input) -> reported MACs. Peers are imported where they are used, so that
# ---- the others can be tested without them.


def flop_counter_mode(module: nn.Module, x: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        module(x)
    return counter.get_total_flops() // 2


def flop_counter_mode_without_onednn(module: nn.Module, x: Any) -> int:
    with torch.backends.mkldnn.flags(enabled=False):
        return flop_counter_mode(module, x)


def torchinfo(module: nn.Module, x: Any) -> int:
    from torchinfo import summary

    return summary(module, input_data=x, verbose=0).total_mult_adds


def thop(module: nn.Module, x: Any) -> int:
    from thop import profile

    macs, _ = profile(module, inputs=(x,), verbose=False)
    return int(macs)


def _ptflops(module: nn.Module, x: Any, backend: str) -> int:
    from ptflops import get_model_complexity_info

    # Where the model fails, ptflops prints the traceback and returns None: raise that exception instead.
    caught: list[BaseException | None] = []
    with patch("traceback.print_exc", lambda: caught.append(sys.exc_info()[1])):
        macs, _ = get_model_complexity_info(
            module,
            (1,),
            input_constructor=lambda _: x,
            print_per_layer_stat=False,
            as_strings=False,
            backend=backend,
        )
    for error in filter(None, caught):
        raise error
    return macs


def ptflops_pytorch(module: nn.Module, x: Any) -> int:
    return _ptflops(module, x, "pytorch")


def ptflops_aten(module: nn.Module, x: Any) -> int:
    return _ptflops(module, x, "aten")


def fvcore(module: nn.Module, x: Any) -> int:
    from fvcore.nn import FlopCountAnalysis

    return FlopCountAnalysis(module, x).total()


def deepspeed(module: nn.Module, x: Any) -> int:
    from deepspeed.profiling.flops_profiler import FlopsProfiler

    profiler = FlopsProfiler(module)
    profiler.start_profile()
    try:
        module(x)
        return profiler.get_total_macs()
    finally:
        profiler.end_profile()


def torchprofile(module: nn.Module, x: Any) -> int:
    from torchprofile import profile_macs

    return profile_macs(module, x)


def rnnlib_closed_form(module: nn.Module, x: Any) -> int:
    from rnnlib import StackSpec

    spec = StackSpec.of(module)
    if isinstance(x, PackedSequence):
        _, lengths = pad_packed_sequence(x)
        return spec.macs(lengths=lengths.tolist())
    return spec.macs(steps=x.shape[:-1].numel())


def rnnlib_measured(module: nn.Module, x: Any) -> int:
    from rnnlib import measure

    return measure.macs(module, x)


@dataclass(frozen=True)
class Tool:
    """A counter, the distribution it comes in, the unit it documents, and its adapter."""

    name: str
    distribution: str
    unit: str
    count: Callable[[nn.Module, Any], int]


TOOLS = (
    Tool("torch FlopCounterMode", "torch", "FLOPs, 2 per MAC", flop_counter_mode),
    Tool("torch FlopCounterMode, oneDNN off", "torch", "FLOPs, 2 per MAC", flop_counter_mode_without_onednn),
    Tool("torchinfo", "torchinfo", "mult-adds", torchinfo),
    Tool("thop", "thop", "MACs", thop),
    Tool("ptflops", "ptflops", "MACs per sample", ptflops_pytorch),
    Tool("ptflops, aten backend", "ptflops", "MACs", ptflops_aten),
    Tool("fvcore", "fvcore", "FLOPs, 1 per multiply-add", fvcore),
    Tool("DeepSpeed", "deepspeed", "MACs, reported beside FLOPs", deepspeed),
    Tool("torchprofile", "torchprofile", "MACs", torchprofile),
    Tool("rnnlib, closed form", "rnnlib", "MACs", rnnlib_closed_form),
    Tool("rnnlib, measured", "rnnlib", "MACs", rnnlib_measured),
)


def module_and_input(setting: Setting, cell: str) -> tuple[nn.Module, Any]:
    """A live `torch.nn` module and an input for it."""
    D, H, T, N = setting.input_size, setting.hidden_size, setting.steps, setting.batch
    if setting.layout == "one step":
        return getattr(nn, f"{cell}Cell")(D, H, bias=setting.bias), torch.randn(N, D)
    options = {"proj_size": setting.proj_size} if setting.proj_size else {}
    module = getattr(nn, cell)(
        D,
        H,
        num_layers=setting.num_layers,
        bias=setting.bias,
        batch_first=setting.layout == "batch first",
        bidirectional=setting.bidirectional,
        **options,
    )
    shape = {"batch first": (N, T, D), "unbatched": (T, D)}.get(setting.layout, (T, N, D))
    x = torch.randn(shape)
    return module, pack_padded_sequence(x, setting.lengths) if setting.layout == "packed" else x


def row(tool: Tool, setting: Setting, cell: str) -> Row:
    """Run one tool once; what it prints is dropped."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            reported, note = tool.count(*module_and_input(setting, cell)), tool.unit
    except Exception as error:
        reported, note = None, f"crash: {type(error).__name__}"
    return Row(
        tool.name,
        version(tool.distribution).partition("+")[0],
        setting.name,
        cell,
        reported,
        setting.true_macs(cell),
        note,
    )


def rows_of(tool: Tool) -> list[Row]:
    """Every setting and cell, in a process of its own: some tools patch torch."""
    torch.set_num_threads(1)  # counts do not depend on it
    warnings.simplefilter("ignore")
    logging.disable()
    return [row(tool, setting, cell) for setting in SETTINGS for cell in setting.cells]


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn, max_tasks_per_child=1) as pool:
        rows = list(chain.from_iterable(pool.map(rows_of, TOOLS)))
    write_table(rows)
    print(markdown(rows))
    print(f"\nUnits: {'; '.join(f'{tool.name}: {tool.unit}' for tool in TOOLS)}.\nWritten to {CSV}.")


if __name__ == "__main__":
    main()
