"""The LSTM with layer_norm="gates" (Ba, Kiros and Hinton 2016) over a whole sequence.

    a  = LN(W_ih x) * gain_ih + shift + LN(W_hh h) * gain_hh
    i, f, g, o = the gates of :mod:`rnnlib.recurrence.lstm`, of the sums a
    c' = f c + i g
    m  = o tanh(LN(c') * gain_c + shift_c)
    h' = W_hr m, or m without a projection

The products are normalised over all four gates together, so here they lie side by side, (tokens, 4H), and
``by_gate`` gives the view (4, tokens, H) that the element-wise work is written for. Beside a sum its norm's
mean and 1 / sqrt(var + eps) are kept, two numbers a row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..cells import LAYER_NORM_EPS, normalise
from .function import Recurrence, keep, once_differentiable
from .lstm import activate, local_derivatives
from .products import recurrent_weight_gradient
from .steps import Steps, or_zeros

aten = torch.ops.aten


def by_gate(rows: Tensor) -> Tensor:
    """(..., 4H) as a view (4, ..., H)."""
    return rows.unflatten(-1, (4, -1)).movedim(-2, 0)


def norm(a: Tensor, gain: Tensor, shift: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """``cells.normalise`` with mean(a) and 1 / sqrt(var(a) + eps) of every row, (rows, 1) each."""
    return torch.native_layer_norm(a, a.shape[-1:], gain, shift, LAYER_NORM_EPS)


def norm_gradient(dy, a, mean, scale, gain) -> Tensor:
    """The gradient of a, where y = LN(a) * gain + shift."""
    return aten.native_layer_norm_backward(
        dy, a, a.shape[-1:], mean, scale, gain, None, [True, False, False]
    )[0]


def norm_parameter_gradients(dy, a, mean, scale, gain) -> tuple[Tensor, Tensor]:
    """The gradients of gain and shift, summed over all rows."""
    return aten.native_layer_norm_backward(dy, a, a.shape[-1:], mean, scale, gain, gain, [False, True, True])[
        1:
    ]


class LayerNormLSTMRecurrence(Recurrence):
    """Keeps W_ih x, W_hh h, the gates, c and h, (13H + W) a step, and 6 numbers of the three norms.

    With ``recompute`` it keeps c and h alone.
    """

    @staticmethod
    def forward(
        x,
        h0,
        c0,
        weight_ih,
        weight_hh,
        gain_ih,
        gain_hh,
        shift,
        gain_c,
        shift_c,
        weight_hr,
        steps: Steps,
        scheme: str,
    ):
        from_input = torch.mm(x, weight_ih.t())
        gates, *stats_input = norm(from_input, gain_ih, shift)
        from_state = torch.empty_like(gates)
        cells, hidden = x.new_empty(len(x), c0.shape[1]), x.new_empty(len(x), h0.shape[1])
        stats = x.new_empty(4, len(x), 1)  # of W_hh h and of c
        w_hh = weight_hh.t()
        h_n, c_n = h0.clone(), c0.clone()
        for block in steps.blocks:
            h, c = h_n[: block.sequences], c_n[: block.sequences]
            now, m = c.new_empty(len(c), gates.shape[1]), torch.empty_like(c)
            i, f, g, o = by_gate(now)
            of_block = []
            for sums, product, c_t, h_t in zip(
                *map(block.visits, (gates, from_state, cells, hidden)), strict=True
            ):
                torch.mm(h, w_hh, out=product)
                normed, *of_state = norm(product, gain_hh)
                torch.add(sums, normed, out=now)
                activate(by_gate(now))
                c = torch.mul(c, f, out=c_t).addcmul_(i, g)
                normed, *of_cells = norm(c, gain_c, shift_c)
                normed.tanh_()
                if weight_hr is None:
                    h = torch.mul(o, normed, out=h_t)
                else:
                    h = torch.mm(torch.mul(o, normed, out=m), weight_hr.t(), out=h_t)
                sums.copy_(now)
                of_block.append((*of_state, *of_cells))
            h_n[: block.sequences], c_n[: block.sequences] = h, c
            for of_steps, rows in zip(zip(*of_block, strict=True), block.rows(stats), strict=True):
                torch.cat(of_steps[::-1] if block.reverse else of_steps, out=rows)
        kept = () if scheme == "recompute" else (from_input, from_state, gates, *stats_input, stats)
        return hidden, h_n, c_n, cells, *kept

    @staticmethod
    def setup_context(ctx, inputs, output):
        hidden, _, _, *kept = output
        keep(ctx, inputs, hidden, kept)

    @staticmethod
    @once_differentiable
    def backward(ctx, dhidden, dh_n, dc_n, *_):
        x, h0, c0, weight_ih, weight_hh, *norms, weight_hr, hidden, cells = ctx.saved_tensors[:13]
        gain_ih, gain_hh, shift, gain_c, shift_c = norms
        steps, (needs_dx, needs_dh0, needs_dc0, *_) = ctx.steps, ctx.needs_input_grad
        if ctx.scheme == "recompute":
            from_input = torch.mm(x, weight_ih.t())
            from_state = torch.mm(steps.before(hidden, h0), weight_hh.t())
            gates, *stats_input = norm(from_input, gain_ih, shift)
            normed, *stats_state = norm(from_state, gain_hh)
            activate(by_gate(gates.add_(normed)))
            tanh_cells, *stats_cells = norm(cells, gain_c, shift_c)
        else:
            from_input, from_state, gates, *stats_input, stats = ctx.saved_tensors[13:]
            stats_state, stats_cells = stats[:2], stats[2:]
            tanh_cells = normalise(cells, gain_c, shift_c)
        tanh_cells.tanh_()
        _, f, _, o = by_gate(gates)

        # dsums starts as the local derivatives of all steps, dnormed as those of LN(c) * gain_c + shift_c.
        dsums, dfrom_state = torch.empty_like(gates), torch.empty_like(gates)
        local_derivatives(by_gate(gates), steps.starts(cells, c0), tanh_cells, by_gate(dsums))
        dnormed = aten.tanh_backward(o, tanh_cells)

        dhidden = or_zeros(dhidden, hidden)
        dh_state, dc_state = or_zeros(dh_n, h0).clone(), or_zeros(dc_n, c0).clone()
        dh_total = torch.empty_like(hidden)
        for block in reversed(steps.blocks):
            dh, dc = dh_state[: block.sequences], dc_state[: block.sequences]
            dh_t, total_t, f_t, dsums_t, dnormed_t = map(block.visits, (dhidden, dh_total, f, dsums, dnormed))
            difg_t, do_t = map(block.visits, (by_gate(dsums)[:3], by_gate(dsums)[3]))
            normed_cells = list(zip(*map(block.visits, (cells, *stats_cells)), strict=True))
            normed_state = list(zip(*map(block.visits, (from_state, *stats_state)), strict=True))
            dfrom_state_t = block.visits(dfrom_state)
            for t in reversed(range(block.steps)):
                dh.add_(dh_t[t])
                dm = dh if weight_hr is None else torch.mm(total_t[t].copy_(dh), weight_hr)
                dnormed_t[t].mul_(dm)
                dc.add_(norm_gradient(dnormed_t[t], *normed_cells[t], gain_c))
                difg_t[t].mul_(dc)
                do_t[t].mul_(dm)
                dc.mul_(f_t[t])
                dfrom_state_t[t].copy_(norm_gradient(dsums_t[t], *normed_state[t], gain_hh))
                if t:
                    torch.mm(dfrom_state_t[t], weight_hh, out=dh)
            m = block.sequences if needs_dh0 else block.continued
            torch.mm(dfrom_state_t[0][:m], weight_hh, out=dh[:m])

        dfrom_input = norm_gradient(dsums, from_input, *stats_input, gain_ih)
        dgain_ih, dshift = norm_parameter_gradients(dsums, from_input, *stats_input, gain_ih)
        dgain_hh, _ = norm_parameter_gradients(dsums, from_state, *stats_state, gain_hh)
        dgain_c, dshift_c = norm_parameter_gradients(dnormed, cells, *stats_cells, gain_c)
        dweight_hr = None if weight_hr is None else torch.mm(dh_total.t(), o * tanh_cells)
        return (
            torch.mm(dfrom_input, weight_ih) if needs_dx else None,
            dh_state if needs_dh0 else None,
            dc_state if needs_dc0 else None,
            torch.mm(dfrom_input.t(), x),
            recurrent_weight_gradient(dfrom_state, steps.starts(hidden, h0)),
            dgain_ih,
            dgain_hh,
            dshift,
            dgain_c,
            dshift_c,
            dweight_hr,
            None,
            None,
        )
