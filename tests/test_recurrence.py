"""The recurrences against the cells, against finite differences, and against the cost model."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.flop_counter import FlopCounterMode

import rnnlib
from rnnlib import StackSpec, cells, measure, recurrence
from rnnlib.recurrence import Steps

SCHEMES = ("gates", "gates+tanh", "recompute")
D, H, P = 3, 4, 2
BATCHES = [
    Steps((2, 2, 2)),
    Steps((3, 2, 2, 1)),
    Steps((3, 2, 2, 1), reverse=True),
    Steps((2,), reverse=True),
]


def draw(*shape):
    return (0.7 * torch.randn(*shape, dtype=torch.float64)).requires_grad_()


def lstm_weights(norm, projected):
    W = P if projected else H
    gates = ([draw(4 * H) for _ in range(3)] + [draw(H), draw(H)]) if norm else [draw(4 * H), draw(4 * H)]
    return [draw(4 * H, D), draw(4 * H, W), *gates, draw(P, H) if projected else None]


def rnn_cell(nonlinearity):
    return lambda x, state, *weights: (cells.rnn_cell(x, *state, *weights, nonlinearity=nonlinearity),)


# What to run over a sequence, the cell it must equal at every step, widths of the states, weights.
CASES = {
    "rnn": (
        lambda *a: recurrence.RNNRecurrence.apply(*a[:-1], "tanh"),
        rnn_cell(torch.tanh),
        (H,),
        lambda: [draw(H, D), draw(H, H), draw(H), draw(H)],
    ),
    "relu": (
        lambda *a: recurrence.RNNRecurrence.apply(*a[:-1], "relu"),
        rnn_cell(torch.relu),
        (H,),
        lambda: [draw(H, D), draw(H, H), draw(H), draw(H)],
    ),
    "gru": (
        recurrence.GRURecurrence.apply,
        lambda x, s, *w: (cells.gru_cell(x, *s, *w),),
        (H,),
        lambda: [draw(3 * H, D), draw(3 * H, H), draw(3 * H), draw(3 * H)],
    ),
    "gru, no bias": (
        recurrence.GRURecurrence.apply,
        lambda x, s, *w: (cells.gru_cell(x, *s, *w),),
        (H,),
        lambda: [draw(3 * H, D), draw(3 * H, H), None, None],
    ),
    "lstm": (recurrence.LSTMRecurrence.apply, cells.lstm_cell, (H, H), lambda: lstm_weights(False, False)),
    "projected lstm": (
        recurrence.LSTMRecurrence.apply,
        cells.lstm_cell,
        (P, H),
        lambda: lstm_weights(False, True),
    ),
    "layer-norm lstm": (
        recurrence.LayerNormLSTMRecurrence.apply,
        cells.layer_norm_lstm_cell,
        (H, H),
        lambda: lstm_weights(True, False),
    ),
    "projected layer-norm lstm": (
        recurrence.LayerNormLSTMRecurrence.apply,
        cells.layer_norm_lstm_cell,
        (P, H),
        lambda: lstm_weights(True, True),
    ),
    "layer-norm rnn": (
        lambda *a: recurrence.layer_norm_rnn(*a[:-1], torch.tanh),
        lambda x, s, *w: (cells.layer_norm_rnn_cell(x, *s, *w),),
        (H,),
        lambda: [draw(H, D), draw(H, H), draw(H), draw(H), draw(H)],
    ),
    "layer-norm gru": (
        lambda *a: recurrence.layer_norm_gru(*a[:-1]),
        lambda x, s, *w: (cells.layer_norm_gru_cell(x, *s, *w),),
        (H,),
        lambda: [draw(3 * H, D), draw(3 * H, H), *(draw(3 * H) for _ in range(3)), draw(H)],
    ),
}


def cell_by_cell(cell, steps, x, states, weights):
    """Every sequence on its own, one cell after another: (tokens, W) and final states (N, W)."""
    starts = [0]
    for size in steps.sizes:
        starts.append(starts[-1] + size)
    rows, finals = [None] * len(x), []
    for n in range(steps.sizes[0]):
        tokens = [start + n for start, size in zip(starts, steps.sizes, strict=False) if n < size]
        state = tuple(s[n : n + 1] for s in states)
        for token in reversed(tokens) if steps.reverse else tokens:
            state = cell(x[token : token + 1], state, *weights)
            rows[token] = state[0]
        finals.append(state)
    return torch.cat(rows), *map(torch.cat, zip(*finals, strict=True))


def make(name, steps):
    torch.manual_seed(0)
    run, cell, widths, weights = CASES[name]
    x = draw(sum(steps.sizes), D)
    return run, cell, x, [draw(steps.sizes[0], width) for width in widths], weights()


@pytest.mark.parametrize("steps", BATCHES, ids=str)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CASES)
def test_equals_the_cell_step_by_step(name, scheme, steps):
    run, cell, x, states, weights = make(name, steps)
    outputs = run(x, *states, *weights, steps, scheme)[: 1 + len(states)]
    expected = cell_by_cell(cell, steps, x, states, weights)
    leaves = [t for t in (x, *states, *weights) if t is not None]
    cotangents = [torch.randn_like(t) for t in outputs]
    for ours, theirs in zip(
        (*outputs, *torch.autograd.grad(outputs, leaves, cotangents)),
        (*expected, *torch.autograd.grad(expected, leaves, cotangents)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CASES)
def test_gradcheck(name, scheme):
    for steps in BATCHES[1:3]:
        run, _, x, states, weights = make(name, steps)
        present, count = [w for w in weights if w is not None], len(states)

        def outputs(x, *leaves, run=run, steps=steps, weights=weights, count=count):
            rest = iter(leaves[count:])
            weights = [None if w is None else next(rest) for w in weights]
            return run(x, *leaves[:count], *weights, steps, scheme)[: 1 + count]

        assert gradcheck(outputs, (x, *states, *present), fast_mode=True)


@settings(max_examples=100, deadline=None)
@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6), reverse=st.booleans())
def test_steps_visit_every_row_once_after_the_row_before_it(lengths, reverse):
    sizes = tuple(sum(length > t for length in lengths) for t in range(max(lengths)))
    steps = Steps(sizes, reverse)
    rows = torch.arange(sum(sizes)).view(-1, 1)
    visited = [view for block in steps.blocks for view in block.visits(rows)]
    assert sorted(torch.cat(visited).flatten().tolist()) == list(range(len(rows)))
    assert [len(view) for view in visited] == list(sizes[::-1] if reverse else sizes)

    # Running alone: the state of sequence n starts at -1-n and becomes the row of each step in turn.
    initial = -1 - torch.arange(sizes[0]).view(-1, 1)
    state, before = initial.clone(), torch.empty_like(rows)
    for view in visited:
        before[view.flatten()] = state[: len(view)]
        state[: len(view)] = view
    assert torch.equal(steps.before(rows, initial), before)
    expected = 0
    for block in steps.blocks:
        assert block.continued == min(expected, block.sequences)
        expected = block.sequences


def spec_and_module(cell, storage, **options):
    module = getattr(rnnlib, cell)(options.pop("input_size", 3), 5, storage=storage, **options)
    return StackSpec.of(module), module


def batches(input_size):
    x = torch.randn(6, 4, input_size)
    packed = pack_padded_sequence(x, torch.tensor([6, 4, 3, 1]))
    return ((x, {"steps": 6, "batch": 4}), (packed, {"lengths": [6, 4, 3, 1]}))


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_saved_bytes_are_those_of_the_cost_model(cell, storage):
    for layers, proj_size, given_states in product((1, 2, 4), (0, 2), (False, True)):
        if proj_size and cell != "LSTM":
            continue
        options = {"num_layers": layers, **({"proj_size": proj_size} if proj_size else {})}
        spec, module = spec_and_module(cell, storage, **options)
        for x, size in batches(3):
            hx = ()
            if given_states:
                h = torch.randn(layers, 4, proj_size or 5)
                hx = ((h, torch.randn(layers, 4, 5)) if cell == "LSTM" else h,)
            outside = spec.storage_terms(**size, scheme=storage)
            assert (
                measure.saved_bytes(module, x, *hx)
                == spec.storage(**size, scheme=storage) + outside["input"] + outside["initial states"]
            )


def test_saved_bytes_in_half_precision_are_half():  # case X06
    for storage in SCHEMES:
        module = rnnlib.LSTM(3, 5, storage=storage)
        full = measure.saved_bytes(module, torch.randn(6, 4, 3))
        assert measure.saved_bytes(module.bfloat16(), torch.randn(6, 4, 3).bfloat16()) == full // 2


@pytest.mark.parametrize("storage", ["native", *SCHEMES])
@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_saved_bytes_of_what_stands_between_the_layers(cell, storage):
    for layers, bidirectional, residual, norm, input_size in product(
        (1, 3), (False, True), (False, True), (None, "output"), (3, 5, 10)
    ):
        spec, module = spec_and_module(
            cell,
            storage,
            input_size=input_size,
            num_layers=layers,
            bidirectional=bidirectional,
            residual=residual,
            layer_norm=norm,
        )
        for x, size in batches(input_size)[: 1 if storage == "native" else 2]:
            terms = spec.storage_terms(**size, scheme=storage)
            assert measure.saved_bytes(module, x) == sum(terms.values())


def test_saved_bytes_of_the_lstm_with_gate_norms():
    everything, cells = (13, 6), (1, 0)  # vectors, and means and scales of the three norms
    schemes = {"native": everything, "gates": everything, "recompute": cells}
    for proj_size, (storage, (vectors, stats)) in product((0, 2), schemes.items()):
        module = rnnlib.LSTM(3, 5, layer_norm="gates", proj_size=proj_size, storage=storage)
        width = proj_size or 5
        for x, size in batches(3):
            tokens = sum(size.get("lengths", [24]))
            floats = tokens * (3 + 5 * vectors + stats + width) + 4 * (5 + width)
            assert measure.saved_bytes(module, x) == 4 * floats


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_macs_are_those_of_the_cost_model(cell):
    for layers, bidirectional, proj_size, storage in product(
        (1, 3), (False, True), (0, 2), ("gates", "gates+tanh")
    ):
        if proj_size and cell != "LSTM":
            continue
        options = {"num_layers": layers, "bidirectional": bidirectional}
        spec, module = spec_and_module(
            cell, storage, **options, **({"proj_size": proj_size} if proj_size else {})
        )
        for x, size in batches(3):
            assert measure.macs(module, x) == spec.macs(**size)
            for input_grad in (False, True):
                assert measure.macs(module, x, training=True, input_grad=input_grad) == spec.macs(
                    **size, training=True, input_grad=input_grad
                )


@pytest.mark.parametrize("cell, again", [("RNN", 0), ("GRU", 1), ("LSTM", 1)])
def test_recompute_repeats_the_products_of_the_forward_pass(cell, again):
    spec, module = spec_and_module(cell, "recompute", num_layers=2, bidirectional=True)
    for x, size in batches(3):
        assert measure.macs(module, x, training=True) == spec.macs(**size, training=True) + again * spec.macs(
            **size
        )


def test_a_projected_recompute_does_not_project_again():
    spec, module = spec_and_module("LSTM", "recompute", proj_size=2)
    gates_alone = spec.macs(steps=6, batch=4) - 6 * 4 * 2 * 5
    assert (
        measure.macs(module, torch.randn(6, 4, 3), training=True)
        == spec.macs(steps=6, batch=4, training=True) + gates_alone
    )


def test_a_given_state_that_needs_its_gradient_costs_one_product_more():
    module = rnnlib.GRU(3, 5, storage="gates")
    x, h0 = torch.randn(6, 4, 3), torch.randn(1, 4, 5, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        module(x, h0)[0].sum().backward()
    assert counter.get_total_flops() // 2 == StackSpec.of(module).macs(6, 4, training=True) + 4 * 3 * 5 * 5
