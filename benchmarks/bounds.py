"""What a recurrence written in torch's matrix products cannot be faster than."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

FORMS = {"products side by side": False, "products gate by gate": True}


def gemm_rate(size: int = 1024, rounds: int = 5) -> float:
    """Multiply-adds a second in one large square product, the best of a few."""
    a, b = torch.randn(2, size, size)

    def seconds() -> float:
        start = time.perf_counter()
        torch.mm(a, b)
        return time.perf_counter() - start

    return size**3 / min(seconds() for _ in range(rounds))


def products_alone(
    cell: str, steps: int, batch: int, input_size: int, hidden_size: int, layers: int, by_gate: bool
) -> Callable[[], None]:
    """The matrix products of a training step and no more, into memory that is there already.

    Those of all gates in one product side by side, or a batch of one for each.
    """
    sums = len(getattr(nn, cell)(1, hidden_size).weight_hh_l0)
    of_gates = [sums // hidden_size] if by_gate else []
    width = hidden_size if by_gate else sums
    multiply = torch.bmm if by_gate else torch.mm

    def of_all(*size: int) -> torch.Tensor:
        return torch.randn(size).expand(*of_gates, *size)

    def of_each(*size: int) -> torch.Tensor:
        return torch.randn(*of_gates, *size)

    def products(left: torch.Tensor, right: torch.Tensor, times: int = 1) -> Callable[[], None]:
        out = multiply(left, right)

        def run() -> None:
            for _ in range(times):
                multiply(left, right, out=out)

        return run

    def of_layer(layer: int) -> list[Callable[[], None]]:
        tokens, inputs = steps * batch, hidden_size if layer else input_size
        w_ih, w_hh, x = of_each(width, inputs), of_each(width, hidden_size), of_all(tokens, inputs)
        h, h_t, dsums, dsums_t = (
            of(rows, columns)
            for of, columns in ((of_all, hidden_size), (of_each, width))
            for rows in (tokens, batch)
        )
        return [
            products(x, w_ih.mT),
            products(h_t, w_hh.mT, steps),
            products(dsums_t, w_hh, steps - 1),
            *([products(dsums, w_ih)] if layer else []),
            products(dsums.mT, x),
            products(dsums.mT, h),
        ]

    calls = [call for layer in range(layers) for call in of_layer(layer)]

    def run() -> None:
        for call in calls:
            call()

    return run
