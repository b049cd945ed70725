"""`rnnlib.measure.critical_path`: the longest chain of dependent products, beside the closed form."""

import pytest
import torch
from calls import Calls
from torch import nn

import rnnlib
from rnnlib import StackSpec, measure
from rnnlib.schedule import run

STEPS = 9
CELLS = ("RNN", "GRU", "LSTM")


def x(width=4):
    return torch.randn(STEPS, 2, width)


def chain_of(function, *parts):
    return measure.critical_path(Calls(function, *parts), x())


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("library", [nn, rnnlib])
def test_layer_by_layer_a_stack_has_a_product_a_step_and_layer(library, cell, bidirectional, layers):
    module = getattr(library, cell)(4, 4, layers, bidirectional=bidirectional)
    assert measure.critical_path(module, x()) == StackSpec.of(module).critical_path(STEPS)


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("cell", CELLS)
def test_the_wavefront_has_as_many_as_there_are_ticks(cell, layers):
    module = getattr(rnnlib, cell)(4, 4, layers)
    expected = StackSpec.of(module).critical_path(STEPS, schedule="wavefront")
    assert chain_of(run, module) == expected == STEPS + layers - 1


def test_an_own_scheme_of_the_lstm_keeps_the_chain():
    for storage in ("gates", "gates+tanh", "recompute"):
        assert measure.critical_path(rnnlib.LSTM(4, 4, 3, storage=storage), x()) == 3 * STEPS


def test_a_projection_adds_a_product_a_step():
    assert measure.critical_path(nn.LSTM(4, 4, 2, proj_size=3), x()) == 2 * 2 * STEPS


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layers", [1, 4])
def test_a_transformer_layer_is_six_products_whatever_the_length(layers, causal):
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0), layers, enable_nested_tensor=False
    )
    for steps in (3, 30):
        mask = nn.Transformer.generate_square_subsequent_mask(steps) if causal else None
        module = Calls(lambda e, x, mask=mask: e(x, mask=mask, is_causal=causal), encoder)
        assert measure.critical_path(module, torch.randn(steps, 2, 16)) == 6 * layers


def test_attention_counts_alike_fused_and_in_separate_products():
    def separate(q):
        return (q @ q.transpose(1, 2)).softmax(-1) @ q

    def fused(q):
        return nn.functional.scaled_dot_product_attention(q, q, q)

    assert chain_of(separate) == chain_of(fused) == 2


def test_chains_by_hand():
    a, b, c = (nn.Linear(4, 4) for _ in range(3))
    assert chain_of(lambda a, b, c, x: a(x) + b(x) + c(x), a, b, c) == 1  # side by side
    assert chain_of(lambda a, b, c, x: c(b(a(x)).tanh()), a, b, c) == 3  # in a row
    assert chain_of(lambda a, b, c, x: c(b(a(x)) + a(x)), a, b, c) == 3  # the longer way counts
    assert chain_of(lambda x: x.tanh()) == 0


def test_what_is_added_to_a_product_may_come_late():
    left, right = torch.randn(3, 3), torch.randn(3, 3)
    assert chain_of(lambda x: torch.addmm(left @ right @ left, left, right)) == 2
    assert chain_of(lambda x: torch.addmm(left, left @ right @ left, right)) == 3


def test_a_chain_goes_through_what_is_written_in_place():
    def through_a_buffer(linear, x):
        buffer = torch.zeros_like(x)
        buffer.copy_(linear(x))
        return linear(buffer)

    assert chain_of(through_a_buffer, nn.Linear(4, 4)) == 2
    assert chain_of(lambda x: torch.mm(x[0], x[0].t(), out=torch.empty(2, 2)) @ x[0]) == 2


def test_a_storage_that_was_freed_is_not_taken_for_a_new_one():
    def discard_chains(linear, x):
        for _ in range(20):
            linear(linear(linear(x)))
        return sum(linear(torch.zeros_like(x)) for _ in range(20))

    assert chain_of(discard_chains, nn.Linear(4, 4)) == 1


def test_a_whole_layer_as_one_operator_is_refused():
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True).eval()

    def in_one(layer, x):
        with torch.no_grad():
            return layer(x)

    with pytest.raises(RuntimeError, match="as one operator"):
        measure.critical_path(Calls(in_one, layer), torch.randn(2, 3, 16))
