"""The matrix products of a whole sequence: one call for all steps and all gates.

Weights are stacked gate by gate, (gates*H, width), as torch stores them. What belongs to the gates lies side
by side, (tokens, gates*H), or is kept gate-major, (gates, tokens, H), so that ``i, f, g, o = gates`` are four
contiguous blocks. The first form needs one plain product a step, the second less time for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Starts = Sequence[tuple[slice, Tensor]]  # what Steps.starts returns


def per_gate(weight: Tensor, gates: int) -> Tensor:
    """(gates*H, width) as (gates, H, width)."""
    return weight.view(gates, -1, weight.shape[1])


def transposed(weight: Tensor, gates: int) -> Tensor:
    """(gates*H, width) as (gates, width, H), without a copy: the right-hand side of x W^T."""
    return per_gate(weight, gates).transpose(1, 2)


def for_each_gate(rows: Tensor, gates: int) -> Tensor:
    """(rows, width) as (gates, rows, width), without a copy."""
    return rows.expand(gates, *rows.shape)


def project(x: Tensor, weight: Tensor, bias: Tensor, gates: int) -> Tensor:
    """x W^T + b for every gate: (tokens, width) to (gates, tokens, H)."""
    return torch.baddbmm(bias.view(gates, 1, -1), for_each_gate(x, gates), transposed(weight, gates))


def input_gradient(dgates: Tensor, weight: Tensor) -> Tensor:
    """The sum of dgate W over the gates: (gates, tokens, H) to (tokens, width)."""
    first, *others = zip(dgates, per_gate(weight, len(dgates)), strict=True)
    dx = torch.mm(*first)
    for dgate, w in others:
        torch.addmm(dx, dgate, w, out=dx)
    return dx


def weight_gradient(dgates: Tensor, x: Tensor) -> Tensor:
    """dgate^T x for every gate, summed over all steps: (gates*H, width)."""
    return torch.bmm(dgates.transpose(1, 2), for_each_gate(x, len(dgates))).flatten(0, 1)


def recurrent_weight_gradient(dsums: Tensor, starts: Starts) -> Tensor:
    """dsum^T h summed over all steps, h the states they start from: (tokens, gates*H) to (gates*H, width)."""
    (rows, h), *others = starts
    gradient = torch.mm(dsums[rows].t(), h)
    for rows, h in others:
        torch.addmm(gradient, dsums[rows].t(), h, out=gradient)
    return gradient


def recurrent_weight_gradient_by_gate(dgates: Tensor, starts: Starts) -> Tensor:
    """The same of gates that are kept gate-major: (gates, tokens, H) to (gates*H, width)."""
    gates = len(dgates)
    (rows, h), *others = starts
    gradient = torch.bmm(dgates[:, rows].transpose(1, 2), for_each_gate(h, gates))
    for rows, h in others:
        torch.baddbmm(gradient, dgates[:, rows].transpose(1, 2), for_each_gate(h, gates), out=gradient)
    return gradient.flatten(0, 1)


def bias_gradient(dgates: Tensor) -> Tensor:
    """dgate summed over all steps: (gates*H,)."""
    return dgates.sum(1).flatten()
