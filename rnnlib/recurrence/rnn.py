"""The Elman network over a whole sequence: h_t = tanh(W_ih x_t + W_hh h_{t-1} + b), or relu for tanh.

Backward, with a_t the sum inside the nonlinearity and d for the gradient of the loss:

    da_t = dh_t * (1 - h_t^2)                   [h_t > 0] for relu
    dh_{t-1} = dh_{t-1} from above + W_hh^T da_t
"""

from __future__ import annotations

import torch

from .function import Recurrence, once_differentiable
from .products import recurrent_weight_gradient
from .steps import Steps


class RNNRecurrence(Recurrence):
    """Keeps h. The derivatives of tanh and relu are functions of their output: nothing else is needed."""

    @staticmethod
    def forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh, steps: Steps, nonlinearity: str):
        activate = {"tanh": torch.tanh_, "relu": torch.relu_}[nonlinearity]
        bias = x.new_zeros(len(weight_ih)) if bias_ih is None else bias_ih + bias_hh
        hidden = torch.addmm(bias, x, weight_ih.t())
        w_hh = weight_hh.t()
        h_n = h0.clone()
        for block in steps.blocks:
            h = h_n[: block.sequences]
            for a in block.visits(hidden):
                h = activate(torch.addmm(a, h, w_hh, out=a))
            h_n[: block.sequences] = h
        return hidden, h_n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, h0, weight_ih, weight_hh, bias_ih, _, ctx.steps, ctx.nonlinearity = inputs
        ctx.has_bias = bias_ih is not None
        ctx.save_for_backward(x, h0, weight_ih, weight_hh, output[0])

    @staticmethod
    @once_differentiable
    def backward(ctx, dhidden, dh_n):
        x, h0, weight_ih, weight_hh, hidden = ctx.saved_tensors
        needs_dx, needs_dh0 = ctx.needs_input_grad[:2]

        # The local derivatives for all steps at once; the loop multiplies dh into them, step by step.
        if ctx.nonlinearity == "tanh":
            da = hidden.square()
            torch.sub(1, da, out=da)
        else:
            da = (hidden > 0).to(hidden.dtype)

        dstate = dh_n.clone()
        for block in reversed(ctx.steps.blocks):
            dh = dstate[: block.sequences]
            das, dhs = block.visits(da), block.visits(dhidden)
            dh += dhs[-1]
            for t in reversed(range(1, block.steps)):
                das[t].mul_(dh)
                torch.addmm(dhs[t - 1], das[t], weight_hh, out=dh)
            das[0].mul_(dh)
            n = block.sequences if needs_dh0 else block.continued
            torch.mm(das[0][:n], weight_hh, out=dh[:n])

        dbias = da.sum(0) if ctx.has_bias else None
        return (
            torch.mm(da, weight_ih) if needs_dx else None,
            dstate if needs_dh0 else None,
            torch.mm(da.t(), x),
            recurrent_weight_gradient(da, ctx.steps.starts(hidden, h0)),
            dbias,
            dbias,
            None,
            None,
        )
