"""One step of each cell, written to be read: the reference semantics of the library.

Shapes: x (N, D), h (N, H) or (N, P) for a projected LSTM, c (N, H). Weights are stacked gate by gate as in
torch.nn: ``weight_ih`` (gates*H, D), ``weight_hh`` (gates*H, H or P), ``weight_hr`` (P, H). The order of the
gates is r, z, n in the GRU and i, f, g, o in the LSTM.

A cell adds two sums, W_ih x + b_ih of the input and W_hh h + b_hh of the state. What it makes of them is its
``*_update``; ``layer_norm_*_cell`` (Ba, Kiros and Hinton 2016, arXiv:1607.06450) normalise the two sums
separately before the same update:

    LN(a) = (a - mean(a)) / sqrt(var(a) + eps),    var the population variance over all gates together

with a gain on each sum and one shift: a second one, or the biases, would add nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear

LAYER_NORM_EPS = 1e-5


def normalise(a: Tensor, gain: Tensor, shift: Tensor | None = None) -> Tensor:
    """LN(a) * gain + shift over the last dimension, as ``torch.nn.LayerNorm`` computes it.

    >>> normalise(torch.tensor([1.0, 3.0]), gain=torch.ones(2))
    tensor([-1.0000,  1.0000])
    """
    return layer_norm(a, a.shape[-1:], gain, shift, LAYER_NORM_EPS)


def rnn_update(input_sum: Tensor, state_sum: Tensor, nonlinearity: Callable = torch.tanh) -> Tensor:
    """h' = tanh(input_sum + state_sum): Elman 1990. Sums and result (N, H)."""
    return nonlinearity(input_sum + state_sum)


def rnn_cell(x, h, weight_ih, weight_hh, bias_ih=None, bias_hh=None, nonlinearity: Callable = torch.tanh):
    """One step of an RNN, h' = tanh(W_ih x + b_ih + W_hh h + b_hh): x (N, D), h (N, H) to h' (N, H).

    >>> one, half = torch.tensor([[1.0]]), torch.tensor([[0.5]])
    >>> rnn_cell(one, half, weight_ih=one, weight_hh=half)      # tanh(1 + 0.25)
    tensor([[0.8483]])
    """
    return rnn_update(linear(x, weight_ih, bias_ih), linear(h, weight_hh, bias_hh), nonlinearity)


def gru_update(input_sum: Tensor, state_sum: Tensor, h: Tensor) -> Tensor:
    """The reset-after GRU from its sums (N, 3H) and the state (N, H): the form of torch.nn and cuDNN.

    r = sigmoid(.), z = sigmoid(.), n = tanh(a_n + r * s_n), h' = (1 - z) * n + z * h
    """
    a_r, a_z, a_n = input_sum.chunk(3, -1)
    s_r, s_z, s_n = state_sum.chunk(3, -1)
    r = torch.sigmoid(a_r + s_r)
    z = torch.sigmoid(a_z + s_z)
    n = torch.tanh(a_n + r * s_n)
    return (1 - z) * n + z * h


def gru_cell(x, h, weight_ih, weight_hh, bias_ih=None, bias_hh=None):
    """One step of a GRU that resets after the product, r * (W_hn h + b_hn): x (N, D), h (N, H) to h' (N, H).

    >>> zero = torch.zeros(3, 1)
    >>> gru_cell(torch.ones(1, 1), torch.tensor([[0.8]]), zero, zero)   # z = 1/2, n = 0
    tensor([[0.4000]])
    """
    return gru_update(linear(x, weight_ih, bias_ih), linear(h, weight_hh, bias_hh), h)


def gru_cell_reset_before(x, h, weight_ih, weight_hh, bias_ih=None, bias_hh=None):
    """The same step with the reset before the product, W_hn (r * h) + b_hn: Cho et al. 2014, arXiv:1406.1078.

    The same weights give another function as soon as r differs between the units.
    """
    H = h.shape[-1]
    b_rz, b_n = (None, None) if bias_hh is None else bias_hh.split([2 * H, H])
    a_r, a_z, a_n = linear(x, weight_ih, bias_ih).chunk(3, -1)
    s_r, s_z = linear(h, weight_hh[: 2 * H], b_rz).chunk(2, -1)
    r = torch.sigmoid(a_r + s_r)
    z = torch.sigmoid(a_z + s_z)
    n = torch.tanh(a_n + linear(r * h, weight_hh[2 * H :], b_n))
    return (1 - z) * n + z * h


def lstm_update(
    input_sum: Tensor, state_sum: Tensor, c: Tensor, normalise_c: Callable = lambda c: c
) -> tuple[Tensor, Tensor]:
    """The LSTM from its sums (N, 4H) and the cell (N, H): Hochreiter and Schmidhuber 1997, Gers et al. 2000.

    i, f, o = sigmoid(.), g = tanh(.), c' = f * c + i * g, h' = o * tanh(c')
    """
    i, f, g, o = (input_sum + state_sum).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(normalise_c(c)), c


def lstm_cell(x, state, weight_ih, weight_hh, bias_ih=None, bias_hh=None, weight_hr=None):
    """One step of an LSTM: x (N, D), state = (h, c) to (h', c').

    With ``weight_hr`` the output is projected, h' = W_hr (o * tanh(c')): Sak et al. 2014, arXiv:1402.1128.

    >>> zero, one = torch.zeros(4, 1), torch.ones(1, 1)
    >>> h, c = lstm_cell(one, (one, one), zero, zero)           # every gate is 1/2, g = 0
    >>> c
    tensor([[0.5000]])
    """
    h, c = state
    h, c = lstm_update(linear(x, weight_ih, bias_ih), linear(h, weight_hh, bias_hh), c)
    return (h if weight_hr is None else linear(h, weight_hr)), c


def layer_norm_rnn_cell(x, h, weight_ih, weight_hh, gain_ih, gain_hh, shift, nonlinearity=torch.tanh):
    """h' = tanh(LN(W_ih x) * gain_ih + shift + LN(W_hh h) * gain_hh); gains and shift (H)."""
    return rnn_update(
        normalise(linear(x, weight_ih), gain_ih, shift),
        normalise(linear(h, weight_hh), gain_hh),
        nonlinearity,
    )


def layer_norm_gru_cell(x, h, weight_ih, weight_hh, gain_ih, gain_hh, shift, shift_hn):
    """The GRU of the sums LN(W_ih x) * gain_ih + shift and LN(W_hh h) * gain_hh + (0, 0, shift_hn).

    Gains and shift (3H), shift_hn (H): the candidate's recurrent term stands alone inside r * (.), so a shift
    of its own is not redundant, as b_hn is not.
    """
    return gru_update(
        normalise(linear(x, weight_ih), gain_ih, shift),
        normalise(linear(h, weight_hh), gain_hh, candidate_shift(shift_hn)),
        h,
    )


def candidate_shift(shift_hn: Tensor) -> Tensor:
    """(0, 0, shift_hn): a shift (3H) that moves the candidate's term alone."""
    return torch.nn.functional.pad(shift_hn, (2 * len(shift_hn), 0))


def layer_norm_lstm_cell(
    x, state, weight_ih, weight_hh, gain_ih, gain_hh, shift, gain_c, shift_c, weight_hr=None
):
    """The LSTM of the sums LN(W_ih x) * gain_ih + shift and LN(W_hh h) * gain_hh, with c' normalised too.

    h' = o * tanh(LN(c') * gain_c + shift_c), while c' itself is handed on as it is. Gains and shift of the
    sums (4H), of the cell (H).
    """
    h, c = state
    h, c = lstm_update(
        normalise(linear(x, weight_ih), gain_ih, shift),
        normalise(linear(h, weight_hh), gain_hh),
        c,
        lambda c: normalise(c, gain_c, shift_c),
    )
    return (h if weight_hr is None else linear(h, weight_hr)), c
