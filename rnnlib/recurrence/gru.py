"""The GRU over a whole sequence, with the reset gate after the product, as in torch and cuDNN.

With s = W_hn h + b_hn, the recurrent term of the candidate, and a prime for the next step:

    r  = sigmoid(W_ir x + W_hr h + b_r)        dr = dn s * r (1 - r)
    z  = sigmoid(W_iz x + W_hz h + b_z)        dz = dh' (h - n) * z (1 - z)
    n  = tanh(W_in x + b_in + r s)             dn = dh' (1 - z) * (1 - n^2)          ds = dn r
    h' = (1 - z) n + z h                       dh = z dh' + W_hn^T ds + W_hr^T dr + W_hz^T dz

On the right dr, dz and dn are the gradients of the sums inside the nonlinearities.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from .once import once_differentiable
from .products import (
    bias_gradient,
    for_each_gate,
    input_gradient,
    per_gate,
    project,
    transposed,
    weight_gradient,
)
from .steps import Steps, or_zeros

aten = torch.ops.aten


def input_sums(x, weight_ih, bias_ih, bias_hh) -> tuple[Tensor, Tensor]:
    """(sums, b_hn): the gates' sums (3, tokens, H) before the recurrent products, and the bias of s.

    Only s is scaled by the reset gate, so b_hr and b_hz join the biases of the input.
    """
    H = len(weight_ih) // 3
    if bias_ih is None:
        bias_ih = bias_hh = x.new_zeros(3 * H)
    bias = torch.cat([bias_ih[: 2 * H] + bias_hh[: 2 * H], bias_ih[2 * H :]])
    return project(x, weight_ih, bias, gates=3), bias_hh[2 * H :]


def compute_gates(sums, h, w_hh, b_hn, gates, s) -> None:
    """Write r, z, n to ``gates`` (3, rows, H) and the recurrent term to ``s`` (rows, H)."""
    rz, (r, _, n) = gates[:2], gates
    torch.baddbmm(sums[:2], for_each_gate(h, 2), w_hh[:2], out=rz).sigmoid_()
    torch.addmm(b_hn, h, w_hh[2], out=s)
    torch.addcmul(sums[2], r, s, out=n).tanh_()


class GRURecurrence(Function):
    """Keeps r, z, n, s and h. Under ``recompute`` it keeps h alone and computes the others again."""

    @staticmethod
    def forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh, steps: Steps, scheme: str):
        gates, b_hn = input_sums(x, weight_ih, bias_ih, bias_hh)
        terms, hidden = torch.empty_like(gates[0]), torch.empty_like(gates[0])
        w_hh = transposed(weight_hh, 3)
        h_n = h0.clone()
        for block in steps.blocks:
            h = h_n[: block.sequences]
            now = h.new_empty(3, *h.shape)
            _, z, n = now
            for sums, s, h_t in zip(*map(block.visits, (gates, terms, hidden)), strict=True):
                compute_gates(sums, h, w_hh, b_hn, now, s)
                h = torch.lerp(n, h, z, out=h_t)
                sums.copy_(now)
            h_n[: block.sequences] = h
        kept = () if scheme == "recompute" else (gates, terms)
        return hidden, h_n, *kept

    @staticmethod
    def setup_context(ctx, inputs, output):
        *tensors, ctx.steps, ctx.scheme = inputs
        hidden, _, *kept = output
        ctx.mark_non_differentiable(*kept)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, hidden, *kept)

    @staticmethod
    @once_differentiable
    def backward(ctx, dhidden, dh_n, *_):
        x, h0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, *kept = ctx.saved_tensors
        steps, (needs_dx, needs_dh0, *_) = ctx.steps, ctx.needs_input_grad
        before = steps.before(hidden, h0)
        if ctx.scheme == "recompute":
            gates, b_hn = input_sums(x, weight_ih, bias_ih, bias_hh)
            terms = torch.empty_like(hidden)
            compute_gates(gates, before, transposed(weight_hh, 3), b_hn, gates, terms)
        else:
            gates, terms = kept
        r, z, n = gates

        # The local derivatives for all steps at once; the loop multiplies dh' into them, step by step.
        # s comes first, so that the gradients of the recurrent and of the input products are contiguous.
        dsums = hidden.new_empty(4, *hidden.shape)
        dinput, drecurrent, (ds, dr, dz, dn) = dsums[1:], dsums[:3], dsums
        aten.sigmoid_backward.grad_input(before - n, z, grad_input=dz)
        aten.tanh_backward.grad_input(1 - z, n, grad_input=dn)
        aten.sigmoid_backward.grad_input(dn * terms, r, grad_input=dr)
        torch.mul(dn, r, out=ds)

        w_hh = per_gate(weight_hh, 3).roll(1, 0)
        dhidden, dstate = or_zeros(dhidden, hidden), or_zeros(dh_n, h0).clone()
        for block in reversed(steps.blocks):
            dh = dstate[: block.sequences]
            product = dh.new_empty(3, *dh.shape)
            all_t, recurrent_t, z_t, dh_t = map(block.visits, (dsums, drecurrent, z, dhidden))
            dh += dh_t[-1]
            for t in reversed(range(1, block.steps)):
                all_t[t].mul_(dh)
                dh.mul_(z_t[t]).add_(dh_t[t - 1])
                dh.add_(torch.bmm(recurrent_t[t], w_hh, out=product).sum(0))
            all_t[0].mul_(dh)
            dh.mul_(z_t[0])
            m = block.sequences if needs_dh0 else block.continued
            dh[:m] += torch.bmm(recurrent_t[0][:, :m], w_hh).sum(0)

        H = weight_hh.shape[1]
        return (
            input_gradient(dinput, weight_ih) if needs_dx else None,
            dstate if needs_dh0 else None,
            weight_gradient(dinput, x),
            weight_gradient(drecurrent, before).roll(-H, 0),
            None if bias_ih is None else bias_gradient(dinput),
            None if bias_ih is None else bias_gradient(drecurrent).roll(-H),
            None,
            None,
        )
