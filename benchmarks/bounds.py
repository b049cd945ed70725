"""What a layer-by-layer recurrence written in torch's matrix products spends on the products alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import Any

import torch

from rnnlib import StackSpec

Call = Callable[[], Any]
KINDS = ("sums of x", "sums of h", "dh", "dx", "dW_ih", "dW_hh")
FORMS = ("side by side", "gate by gate")


def gemm_rate(size: int = 1024, rounds: int = 5) -> float:
    """Multiply-adds a second in one large square product, the best of a few."""
    a, b = torch.randn(2, size, size)

    def seconds() -> float:
        start = time.perf_counter()
        torch.mm(a, b)
        return time.perf_counter() - start

    return size**3 / min(seconds() for _ in range(rounds))


def products(
    cell: str, steps: int, batch: int, input_size: int, hidden_size: int, layers: int
) -> dict[str, Call]:
    """The matrix products of a training step, kind by kind and each in both forms, with nothing around them.

    The products of all gates are one with the gates side by side, or a batch of one for each gate. A kind
    covers all layers. Results are written to memory that is there already.
    """
    gates = len(StackSpec(cell, 1, 1).gates)
    calls: dict[str, list[Call]] = {f"{kind}, {form}": [] for kind, form in product(KINDS, FORMS)}
    for layer, form in product(range(layers), FORMS):
        width = hidden_size if layer else input_size
        for kind, some in of_layer(form, gates, steps, batch, width, hidden_size).items():
            if layer or kind != "dx":
                calls[f"{kind}, {form}"] += some
    return {name: partial(in_turn, some) for name, some in calls.items()}


def alone(times: Mapping[str, Sequence[float]]) -> float:
    """Seconds of the products, of every kind in the form that took less, by the medians of timed calls."""
    return sum(min(median(times[f"{kind}, {form}"]) for form in FORMS) for kind in KINDS)


def of_layer(
    form: str, gates: int, steps: int, batch: int, width: int, hidden_size: int
) -> dict[str, list[Call]]:
    """The products of one layer by their kind."""
    tokens = steps * batch
    multiply, split, rows = (
        (torch.mm, (), gates * hidden_size) if form == FORMS[0] else (torch.bmm, (gates,), hidden_size)
    )

    def shared(*size: int) -> torch.Tensor:
        """What all gates multiply, without a copy for each."""
        return torch.randn(size).expand(*split, *size)

    def own(*size: int) -> torch.Tensor:
        """What belongs to the gates."""
        return torch.randn(*split, *size)

    def times(left: torch.Tensor, right: torch.Tensor) -> Call:
        """left times right."""
        return partial(multiply, left, right, out=multiply(left, right))

    w_ih, w_hh = own(rows, width), own(rows, hidden_size)
    x, h, h_t = shared(tokens, width), shared(tokens, hidden_size), shared(batch, hidden_size)
    dsums, dsums_t = own(tokens, rows), own(batch, rows)
    return {
        "sums of x": [times(x, w_ih.mT)],
        "sums of h": [times(h_t, w_hh.mT)] * steps,
        "dh": [times(dsums_t, w_hh)] * (steps - 1),
        "dx": [times(dsums, w_ih)],
        "dW_ih": [times(dsums.mT, x)],
        "dW_hh": [times(dsums.mT, h)],
    }


def in_turn(calls: Sequence[Call]) -> None:
    """Make the calls."""
    for call in calls:
        call()
