"""The LSTM over a whole sequence, with an optional projection of its output.

With a prime for the next step, and m for the output before the projection:

    i  = sigmoid(W_ii x + W_hi h + b_i)        di = dc' g * i (1 - i)
    f  = sigmoid(W_if x + W_hf h + b_f)        df = dc' c * f (1 - f)
    g  = tanh(W_ig x + W_hg h + b_g)           dg = dc' i * (1 - g^2)
    o  = sigmoid(W_io x + W_ho h + b_o)        do = dm tanh(c') * o (1 - o)
    c' = f c + i g                             dc = f dc',   and dc' receives dm o * (1 - tanh(c')^2) first
    m  = o tanh(c')                            dm = W_hr^T dh'
    h' = W_hr m, or m without a projection     dh = W_hi^T di + W_hf^T df + W_hg^T dg + W_ho^T do

On the right di, df, dg and do are the gradients of the sums inside the nonlinearities.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .function import Recurrence, keep, once_differentiable
from .products import (
    Starts,
    bias_gradient,
    for_each_gate,
    input_gradient,
    per_gate,
    project,
    recurrent_weight_gradient_by_gate,
    transposed,
    weight_gradient,
)
from .steps import Steps, or_zeros

aten = torch.ops.aten


def input_sums(x, weight_ih, bias_ih, bias_hh):
    """The gates' sums (4, tokens, H) before the recurrent products."""
    bias = x.new_zeros(len(weight_ih)) if bias_ih is None else bias_ih + bias_hh
    return project(x, weight_ih, bias, gates=4)


def activate(gates: Tensor) -> None:
    """Turn the sums (4, rows, H) into i, f, g, o."""
    gates[:2].sigmoid_()
    gates[2].tanh_()
    gates[3].sigmoid_()


def local_derivatives(gates, starting_cells: Starts, tanh_cells, out) -> None:
    """Write g i', c f', i g' and tanh(c') o' of all steps to ``out`` (4, tokens, H).

    Times dc' they are di, df and dg, and times dm the last is do: what remains for the loop over the steps.
    """
    i, f, g, o = gates
    aten.sigmoid_backward.grad_input(g, i, grad_input=out[0])
    for rows, c in starting_cells:
        aten.sigmoid_backward.grad_input(c, f[rows], grad_input=out[1][rows])
    aten.tanh_backward.grad_input(i, g, grad_input=out[2])
    aten.sigmoid_backward.grad_input(tanh_cells, o, grad_input=out[3])


class LSTMRecurrence(Recurrence):
    """Keeps i, f, g, o, c and h; with ``gates+tanh`` tanh(c) too; with ``recompute`` c and h alone."""

    @staticmethod
    def forward(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, steps: Steps, scheme: str):
        gates = input_sums(x, weight_ih, bias_ih, bias_hh)
        cells, hidden = torch.empty_like(gates[0]), x.new_empty(len(x), h0.shape[1])
        tanh_cells = torch.empty_like(cells) if scheme == "gates+tanh" else None
        w_hh = transposed(weight_hh, 4)
        h_n, c_n = h0.clone(), c0.clone()
        for block in steps.blocks:
            h, c = h_n[: block.sequences], c_n[: block.sequences]
            now, buffer, m = c.new_empty(4, *c.shape), torch.empty_like(c), torch.empty_like(c)
            i, f, g, o = now
            tanhs = [buffer] * block.steps if tanh_cells is None else block.visits(tanh_cells)
            for sums, c_t, tanh_c, h_t in zip(
                *map(block.visits, (gates, cells)), tanhs, block.visits(hidden), strict=True
            ):
                torch.baddbmm(sums, for_each_gate(h, 4), w_hh, out=now)
                activate(now)
                c = torch.mul(c, f, out=c_t).addcmul_(i, g)
                torch.tanh(c, out=tanh_c)
                if weight_hr is None:
                    h = torch.mul(o, tanh_c, out=h_t)
                else:
                    h = torch.mm(torch.mul(o, tanh_c, out=m), weight_hr.t(), out=h_t)
                sums.copy_(now)
            h_n[: block.sequences], c_n[: block.sequences] = h, c
        kept = {"gates": (gates,), "gates+tanh": (gates, tanh_cells), "recompute": ()}[scheme]
        return hidden, h_n, c_n, cells, *kept

    @staticmethod
    def setup_context(ctx, inputs, output):
        hidden, _, _, *kept = output
        keep(ctx, inputs, hidden, kept)

    @staticmethod
    @once_differentiable
    def backward(ctx, dhidden, dh_n, dc_n, *_):
        x, h0, c0, *weights, hidden, cells = ctx.saved_tensors[:10]
        weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = weights
        kept = ctx.saved_tensors[10:]
        steps, (needs_dx, needs_dh0, needs_dc0, *_) = ctx.steps, ctx.needs_input_grad
        if ctx.scheme == "recompute":
            gates = input_sums(x, weight_ih, bias_ih, bias_hh)
            torch.baddbmm(
                gates, for_each_gate(steps.before(hidden, h0), 4), transposed(weight_hh, 4), out=gates
            )
            activate(gates)
        else:
            gates = kept[0]
        tanh_cells = kept[1] if ctx.scheme == "gates+tanh" else torch.tanh(cells)

        # The local derivatives for all steps at once; the loop multiplies dc' and dm into them, step by step.
        dgates = torch.empty_like(gates)
        local_derivatives(gates, steps.starts(cells, c0), tanh_cells, dgates)
        difg, do = dgates[:3], dgates[3]
        dc_dm = aten.tanh_backward(gates[3], tanh_cells)

        w_hh = per_gate(weight_hh, 4)
        dhidden = or_zeros(dhidden, hidden)
        dh_state, dc_state = or_zeros(dh_n, h0).clone(), or_zeros(dc_n, c0).clone()
        dh_total = torch.empty_like(hidden)
        for block in reversed(steps.blocks):
            dh, dc = dh_state[: block.sequences], dc_state[: block.sequences]
            product = dh.new_empty(4, *dh.shape)
            dgates_t, difg_t, do_t, dc_dm_t, f_t, dh_t, total_t = map(
                block.visits, (dgates, difg, do, dc_dm, gates[1], dhidden, dh_total)
            )
            for t in reversed(range(block.steps)):
                dh.add_(dh_t[t])
                dm = dh if weight_hr is None else torch.mm(total_t[t].copy_(dh), weight_hr)
                dc.addcmul_(dm, dc_dm_t[t])
                difg_t[t].mul_(dc)
                do_t[t].mul_(dm)
                dc.mul_(f_t[t])
                if t:
                    torch.sum(torch.bmm(dgates_t[t], w_hh, out=product), 0, out=dh)
            m = block.sequences if needs_dh0 else block.continued
            torch.sum(torch.bmm(dgates_t[0][:, :m], w_hh), 0, out=dh[:m])

        dbias = None if bias_ih is None else bias_gradient(dgates)
        dweight_hr = None if weight_hr is None else torch.mm(dh_total.t(), gates[3] * tanh_cells)
        return (
            input_gradient(dgates, weight_ih) if needs_dx else None,
            dh_state if needs_dh0 else None,
            dc_state if needs_dc0 else None,
            weight_gradient(dgates, x),
            recurrent_weight_gradient_by_gate(dgates, steps.starts(hidden, h0)),
            dbias,
            dbias,
            dweight_hr,
            None,
            None,
        )
