"""The cells against torch's own, and against values that can be checked with a pencil."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from rnnlib import cells

D, H, N = 3, 5, 4


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def weights_of(cell):
    return [cell.weight_ih, cell.weight_hh, *((cell.bias_ih, cell.bias_hh) if cell.bias else ())]


@pytest.mark.parametrize("bias", [True, False])
def test_cells_are_torchs_cells(bias):
    x, h, c = torch.randn(N, D).double(), torch.randn(N, H).double(), torch.randn(N, H).double()
    for nonlinearity in ("tanh", "relu"):
        theirs = nn.RNNCell(D, H, bias, nonlinearity).double()
        ours = cells.rnn_cell(x, h, *weights_of(theirs), nonlinearity=getattr(torch, nonlinearity))
        torch.testing.assert_close(ours, theirs(x, h))
    theirs = nn.GRUCell(D, H, bias).double()
    torch.testing.assert_close(cells.gru_cell(x, h, *weights_of(theirs)), theirs(x, h))
    theirs = nn.LSTMCell(D, H, bias).double()
    torch.testing.assert_close(cells.lstm_cell(x, (h, c), *weights_of(theirs)), theirs(x, (h, c)))


def test_one_unit_by_hand():
    def sigmoid(a):
        return 1 / (1 + math.exp(-a))

    x, h, c = 0.5, -0.3, 0.8
    w, u, b, d = [0.1, -0.2, 0.3], [0.7, 0.4, -0.6], [0.05, 0.15, -0.25], [-0.1, 0.2, 0.35]
    tensors = [torch.tensor(v).view(3, 1).double() for v in (w, u)] + [
        torch.tensor(v).double() for v in (b, d)
    ]
    column = [torch.tensor([[v]]).double() for v in (x, h, c)]

    r = sigmoid(w[0] * x + b[0] + u[0] * h + d[0])
    z = sigmoid(w[1] * x + b[1] + u[1] * h + d[1])
    after = math.tanh(w[2] * x + b[2] + r * (u[2] * h + d[2]))
    before = math.tanh(w[2] * x + b[2] + u[2] * (r * h) + d[2])
    gru = cells.gru_cell(column[0], column[1], *tensors)
    assert gru.item() == pytest.approx((1 - z) * after + z * h)
    gru = cells.gru_cell_reset_before(column[0], column[1], *tensors)
    assert gru.item() == pytest.approx((1 - z) * before + z * h)


@settings(max_examples=30, deadline=None)
@given(reset=st.floats(0.01, 0.99), bias=st.booleans())
def test_both_resets_agree_exactly_where_theory_says(reset, bias):
    """A reset gate equal in all units commutes with the matrix, though not with the bias; others do not."""
    torch.manual_seed(1)
    x, h = torch.randn(N, D).double(), torch.randn(N, H).double()
    w_ih, w_hh = torch.randn(3 * H, D).double(), torch.randn(3 * H, H).double()
    b_ih, b_hh = torch.randn(2, 3 * H).double()
    uniform = [t.clone() for t in (w_ih, w_hh, b_ih, b_hh)]
    for t in uniform[:2]:
        t[:H] = 0
    uniform[2][:H], uniform[3][:H] = math.log(reset / (1 - reset)), 0
    if not bias:
        uniform[3][2 * H :] = 0
    pairs = [cell(x, h, *uniform) for cell in (cells.gru_cell, cells.gru_cell_reset_before)]
    assert torch.allclose(*pairs) != bias
    pairs = [cell(x, h, w_ih, w_hh) for cell in (cells.gru_cell, cells.gru_cell_reset_before)]
    assert (pairs[0] - pairs[1]).abs().max() > 0.05


def test_a_projection_narrows_the_output_and_leaves_the_cell():
    x, h, c = torch.randn(N, D), torch.randn(N, 2), torch.randn(N, H)
    w_ih, w_hh, w_hr = torch.randn(4 * H, D), torch.randn(4 * H, 2), torch.randn(2, H)
    narrow, c_next = cells.lstm_cell(x, (h, c), w_ih, w_hh, weight_hr=w_hr)
    wide, same_c = cells.lstm_cell(x, (h, c), w_ih, w_hh)
    torch.testing.assert_close(narrow, wide @ w_hr.t())
    assert torch.equal(c_next, same_c)


def norm(a):
    return nn.functional.layer_norm(a, a.shape[-1:])


def test_layer_norm_cells_are_the_update_of_the_two_normalised_sums():
    x, h, c = torch.randn(N, D).double(), torch.randn(N, H).double(), torch.randn(N, H).double()

    def draw(gates):
        return [
            torch.randn(*shape).double()
            for shape in ((gates * H, D), (gates * H, H), (gates * H,), (gates * H,), (gates * H,))
        ]

    w, u, g, k, s = draw(1)
    torch.testing.assert_close(
        cells.layer_norm_rnn_cell(x, h, w, u, g, k, s),
        torch.tanh(norm(x @ w.t()) * g + s + norm(h @ u.t()) * k),
    )

    w, u, g, k, s = draw(3)
    shift_hn = torch.randn(H).double()
    a_r, a_z, a_n = (norm(x @ w.t()) * g + s).chunk(3, -1)
    s_r, s_z, s_n = (norm(h @ u.t()) * k).chunk(3, -1)
    z = torch.sigmoid(a_z + s_z)
    n = torch.tanh(a_n + torch.sigmoid(a_r + s_r) * (s_n + shift_hn))
    torch.testing.assert_close(cells.layer_norm_gru_cell(x, h, w, u, g, k, s, shift_hn), (1 - z) * n + z * h)

    w, u, g, k, s = draw(4)
    gain_c, shift_c = torch.randn(2, H).double()
    i, f, candidate, o = (norm(x @ w.t()) * g + s + norm(h @ u.t()) * k).chunk(4, -1)
    c_next = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(candidate)
    h_next = torch.sigmoid(o) * torch.tanh(norm(c_next) * gain_c + shift_c)
    ours = cells.layer_norm_lstm_cell(x, (h, c), w, u, g, k, s, gain_c, shift_c)
    torch.testing.assert_close(ours, (h_next, c_next))
