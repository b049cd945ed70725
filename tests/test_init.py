"""Initialisers that know what torch's parameters hold."""

import pytest
import torch
from torch import nn

import rnnlib
from rnnlib.init import forget_bias_, orthogonal_


@pytest.mark.parametrize("library", [nn, rnnlib])
def test_the_forget_bias_is_the_sum_of_both_vectors(library):  # case C19
    torch.manual_seed(0)
    lstm = library.LSTM(2, 3, 3, bidirectional=True)
    before = {name: p.clone() for name, p in lstm.named_parameters()}
    assert forget_bias_(lstm, 1.0) is lstm
    checked = 0
    for layer in range(3):
        for suffix in ("", "_reverse"):
            biases = [f"bias_{kind}_l{layer}{suffix}" for kind in ("ih", "hh")]
            total = sum(getattr(lstm, name) for name in biases)
            assert (total[3:6] == 1.0).all()
            for name in biases:
                kept = torch.ones(12, dtype=torch.bool)
                kept[3:6] = False
                assert torch.equal(getattr(lstm, name)[kept], before[name][kept])
            checked += 1
    assert checked == 6
    assert all(torch.equal(p, before[name]) for name, p in lstm.named_parameters() if "weight" in name)


def test_without_biases_there_is_nothing_to_set():  # case C19
    lstm = rnnlib.LSTM(2, 3, bias=False)
    before = [p.clone() for p in lstm.parameters()]
    forget_bias_(lstm)
    assert all(torch.equal(a, b) for a, b in zip(lstm.parameters(), before, strict=True))


@pytest.mark.parametrize("storage", ["native", "gates"])
def test_what_a_forget_bias_of_one_does(storage):  # case C19
    lstm = rnnlib.LSTM(1, 1, storage=storage)
    for parameter in lstm.parameters():
        nn.init.zeros_(parameter)
    forget_bias_(lstm, 1.0)
    _, (h, c) = lstm(torch.zeros(1, 1, 1), (torch.zeros(1, 1, 1), torch.ones(1, 1, 1)))
    assert c.item() == pytest.approx(0.7310586, abs=1e-7)
    assert h.item() == pytest.approx(0.3118563, abs=1e-7)


def test_a_gate_norm_has_its_shift_set():
    lstm = forget_bias_(rnnlib.LSTM(2, 3, 2, layer_norm="gates"), 1.5)
    for layer in range(2):
        assert getattr(lstm, f"shift_l{layer}").tolist() == [0] * 3 + [1.5] * 3 + [0] * 6
        assert not getattr(lstm, f"shift_c_l{layer}").any()


@pytest.mark.parametrize("cell, gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("library", [nn, rnnlib])
def test_every_gate_is_orthogonal_on_its_own(library, cell, gates):  # case X02
    torch.manual_seed(0)
    module = getattr(library, cell)(4, 8, 2, bidirectional=True)
    assert orthogonal_(module) is module
    for name, weight in module.named_parameters():
        if name.startswith("weight_hh"):
            for block in weight.view(gates, 8, 8):
                torch.testing.assert_close(block @ block.t(), torch.eye(8))
                assert block.norm().item() == pytest.approx(8**0.5, abs=1e-5)
    whole = nn.init.orthogonal_(torch.empty(8 * gates, 8))
    assert cell == "RNN" or all(block.norm() < 2 for block in whole.view(gates, 8, 8))
    orthogonal_(module, gain=0.5)
    assert module.weight_hh_l1[:8].norm().item() == pytest.approx(0.5 * 8**0.5, abs=1e-5)


def test_a_projected_lstm_gets_orthonormal_columns():
    lstm = orthogonal_(rnnlib.LSTM(4, 8, proj_size=3))
    for block in lstm.weight_hh_l0.view(4, 8, 3):
        torch.testing.assert_close(block.t() @ block, torch.eye(3))


def test_other_modules_are_named():
    with pytest.raises(ValueError, match="module=GRU: expected an LSTM"):
        forget_bias_(nn.GRU(2, 3))
    with pytest.raises(ValueError, match="module=Linear: expected an RNN, GRU or LSTM"):
        orthogonal_(nn.Linear(2, 3))
