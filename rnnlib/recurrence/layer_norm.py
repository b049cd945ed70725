"""The RNN and the GRU with layer_norm="gates": the update of ``cells.py`` step by step, under autograd.

The sums of the input are normalised for all steps at once; those of the state have to wait for it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import linear

from ..cells import candidate_shift, gru_update, normalise, rnn_update
from .steps import Steps


def step_by_step(update: Callable, input_sums: Tensor, h0: Tensor, steps: Steps) -> tuple[Tensor, Tensor]:
    """h' = update(input_sum, h) at every step: sums (tokens, gates*H), h0 (N, H) to h (tokens, H), h_n."""
    reached: list[Tensor] = []
    state = h0
    for block in steps.blocks:
        h, resting = state.split([block.sequences, len(state) - block.sequences])
        inside = []
        for input_sum in block.visits(input_sums):
            h = update(input_sum, h)
            inside.append(h)
        reached = [*inside[::-1], *reached] if steps.reverse else [*reached, *inside]
        state = torch.cat([h, resting])
    return torch.cat(reached), state


def layer_norm_rnn(
    x, h0, weight_ih, weight_hh, gain_ih, gain_hh, shift, steps: Steps, nonlinearity: Callable
):
    """``cells.layer_norm_rnn_cell`` at every step: x (tokens, D), h0 (N, H) to h (tokens, H), h_n (N, H)."""

    def update(input_sum, h):
        return rnn_update(input_sum, normalise(linear(h, weight_hh), gain_hh), nonlinearity)

    return step_by_step(update, normalise(linear(x, weight_ih), gain_ih, shift), h0, steps)


def layer_norm_gru(x, h0, weight_ih, weight_hh, gain_ih, gain_hh, shift, shift_hn, steps: Steps):
    """``cells.layer_norm_gru_cell`` at every step: x (tokens, D), h0 (N, H) to h (tokens, H), h_n (N, H)."""
    shift_hh = candidate_shift(shift_hn)

    def update(input_sum, h):
        return gru_update(input_sum, normalise(linear(h, weight_hh), gain_hh, shift_hh), h)

    return step_by_step(update, normalise(linear(x, weight_ih), gain_ih, shift), h0, steps)
