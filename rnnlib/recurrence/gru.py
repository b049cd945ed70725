"""The GRU over a whole sequence, with the reset gate after the product, as in torch and cuDNN.

With s = W_hn h + b_hn, the recurrent term of the candidate, and a prime for the next step:

    r  = sigmoid(W_ir x + W_hr h + b_r)        dr = dn s * r (1 - r)
    z  = sigmoid(W_iz x + W_hz h + b_z)        dz = dh' (h - n) * z (1 - z)
    n  = tanh(W_in x + b_in + r s)             dn = dh' (1 - z) * (1 - n^2)          ds = dn r
    h' = (1 - z) n + z h                       dh = z dh' + W_hn^T ds + W_hr^T dr + W_hz^T dz

On the right dr, dz and dn are the gradients of the sums inside the nonlinearities. What belongs to the gates
lies side by side, (tokens, 3H).
"""

from __future__ import annotations

import torch
from torch import Tensor

from .function import Recurrence, keep, once_differentiable
from .products import recurrent_weight_gradient
from .steps import Steps, or_zeros

aten = torch.ops.aten


def sums(rows: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
    """W v + b for every row v: (rows, width) to (rows, 3H)."""
    if bias is None:
        return torch.mm(rows, weight.t(), out=out)
    return torch.addmm(bias, rows, weight.t(), out=out)


def activate(gates: Tensor, state_sums: Tensor) -> None:
    """Turn W_ih x + b_ih (rows, 3H) into r, z, n, given W_hh h + b_hh (rows, 3H)."""
    H = gates.shape[1] // 3
    rz, r, n = gates[:, : 2 * H], gates[:, :H], gates[:, 2 * H :]
    rz.add_(state_sums[:, : 2 * H]).sigmoid_()
    n.addcmul_(r, state_sums[:, 2 * H :]).tanh_()


class GRURecurrence(Recurrence):
    """Keeps r, z, n, s and h. Under ``recompute`` it keeps h alone and computes the others again."""

    @staticmethod
    def forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh, steps: Steps, scheme: str):
        H = h0.shape[1]
        gates = sums(x, weight_ih, bias_ih)
        terms, hidden = x.new_empty(len(x), H), x.new_empty(len(x), H)
        h_n = h0.clone()
        for block in steps.blocks:
            h = h_n[: block.sequences]
            state_sums = h.new_empty(len(h), 3 * H)
            s = state_sums[:, 2 * H :]
            z, n = gates[:, H : 2 * H], gates[:, 2 * H :]
            for gates_t, z_t, n_t, s_t, h_t in zip(
                *map(block.visits, (gates, z, n, terms, hidden)), strict=True
            ):
                activate(gates_t, sums(h, weight_hh, bias_hh, out=state_sums))
                s_t.copy_(s)
                h = torch.lerp(n_t, h, z_t, out=h_t)
            h_n[: block.sequences] = h
        kept = () if scheme == "recompute" else (gates, terms)
        return hidden, h_n, *kept

    @staticmethod
    def setup_context(ctx, inputs, output):
        hidden, _, *kept = output
        keep(ctx, inputs, hidden, kept)

    @staticmethod
    @once_differentiable
    def backward(ctx, dhidden, dh_n, *_):
        x, h0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, *kept = ctx.saved_tensors
        steps, (needs_dx, needs_dh0, *_) = ctx.steps, ctx.needs_input_grad
        H = weight_hh.shape[1]
        starts = steps.starts(hidden, h0)
        if ctx.scheme == "recompute":
            gates, state_sums = (
                sums(x, weight_ih, bias_ih),
                sums(steps.before(hidden, h0), weight_hh, bias_hh),
            )
            activate(gates, state_sums)
            terms = state_sums[:, 2 * H :]
        else:
            gates, terms = kept
        r, z, n = gates.split(H, 1)

        # The local derivatives for all steps at once; the loop multiplies dh' into them, step by step.
        # s comes first, so that the gradients of the recurrent and of the input sums are each side by side.
        dsums = x.new_empty(len(x), 4, H)
        ds, dr, dz, dn = dsums.unbind(1)
        dstate_sums, dinput_sums = dsums.flatten(1)[:, : 3 * H], dsums.flatten(1)[:, H:]
        for rows, h in starts:
            aten.sigmoid_backward.grad_input(h - n[rows], z[rows], grad_input=dz[rows])
        aten.tanh_backward.grad_input(1 - z, n, grad_input=dn)
        aten.sigmoid_backward.grad_input(dn * terms, r, grad_input=dr)
        torch.mul(dn, r, out=ds)

        w_hh = weight_hh.roll(H, 0)
        dhidden, dstate = or_zeros(dhidden, hidden), or_zeros(dh_n, h0).clone()
        for block in reversed(steps.blocks):
            dh = dstate[: block.sequences]
            dsums_t, dstate_sums_t, z_t, dh_t = map(block.visits, (dsums.flatten(1), dstate_sums, z, dhidden))
            dsums_t = [d.view(-1, 4, H) for d in dsums_t]
            dh_of_each = dh.unsqueeze(1)
            dh += dh_t[-1]
            for t in reversed(range(1, block.steps)):
                dsums_t[t].mul_(dh_of_each)
                dh.mul_(z_t[t]).add_(dh_t[t - 1])
                torch.addmm(dh, dstate_sums_t[t], w_hh, out=dh)
            dsums_t[0].mul_(dh_of_each)
            dh.mul_(z_t[0])
            m = block.sequences if needs_dh0 else block.continued
            torch.addmm(dh[:m], dstate_sums_t[0][:m], w_hh, out=dh[:m])

        return (
            torch.mm(dinput_sums, weight_ih) if needs_dx else None,
            dstate if needs_dh0 else None,
            torch.mm(dinput_sums.t(), x),
            recurrent_weight_gradient(dstate_sums, starts).roll(-H, 0),
            None if bias_ih is None else dinput_sums.sum(0),
            None if bias_ih is None else dstate_sums.sum(0).roll(-H),
            None,
            None,
        )
