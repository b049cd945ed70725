"""Closed forms of `rnnlib.cost` against hand arithmetic, torch's declarations and torch's own counter."""

import ast
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import rnnlib.cost
from rnnlib import StackSpec

pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")

CELLS = ("rnn", "gru", "lstm")
CONVENTIONS = ("pytorch", "single", "minimal", "none")
SCHEMES = ("gates", "gates+tanh", "recompute", "native")
MODULES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

few = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@st.composite
def stacks(draw):
    """A cell and its dimensions, as the arguments of both `StackSpec` and torch.nn."""
    cell = draw(st.sampled_from(CELLS))
    hidden_size = draw(st.integers(2, 6))
    options = {
        "num_layers": draw(st.integers(1, 3)),
        "bias": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
    }
    if cell == "lstm":
        options["proj_size"] = draw(st.integers(0, hidden_size - 1))
    return cell, draw(st.integers(1, 6)), hidden_size, options


# --- Shapes, gate rows and parameters ---------------------------------------------------------------------


@few
@given(stacks())
def test_parameter_shapes_are_those_that_torch_declares(stack):
    cell, D, H, options = stack
    module = MODULES[cell](D, H, **options, device="meta")
    declared = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert StackSpec(cell, D, H, **options).parameter_shapes() == declared


@pytest.mark.parametrize(
    ("cell", "convention", "shapes"),
    [
        ("rnn", "single", {"weight_ih_l0": (5, 3), "weight_hh_l0": (5, 5), "bias_ih_l0": (5,)}),
        ("gru", "none", {"weight_ih_l0": (15, 3), "weight_hh_l0": (15, 5)}),
        (
            "gru",
            "minimal",
            {"weight_ih_l0": (15, 3), "weight_hh_l0": (15, 5), "bias_ih_l0": (15,), "bias_hn_l0": (5,)},
        ),
        ("lstm", "minimal", {"weight_ih_l0": (20, 3), "weight_hh_l0": (20, 5), "bias_ih_l0": (20,)}),
    ],
)
def test_a_bias_convention_says_which_vectors_there_are(cell, convention, shapes):
    assert StackSpec(cell, 3, 5).parameter_shapes(convention) == shapes


# Weights gH(D + H) = g * 40; a bias vector has gH = g * 5 entries; b_hn has H = 5.
@pytest.mark.parametrize(
    ("cell", "counts"),
    [
        ("rnn", {"none": 40, "single": 45, "minimal": 45, "pytorch": 50}),
        ("gru", {"none": 120, "single": 135, "minimal": 140, "pytorch": 150}),
        ("lstm", {"none": 160, "single": 180, "minimal": 180, "pytorch": 200}),
    ],
)
def test_one_layer_counts_what_a_pencil_counts(cell, counts):
    spec = StackSpec(cell, 3, 5)
    assert {convention: spec.parameters(convention) for convention in counts} == counts
    assert spec.parameters() == counts["pytorch"]


def test_an_upper_bidirectional_layer_reads_both_directions():
    # Layer 0, each direction: 15 * (3 + 5) = 120 weights. Layer 1: 15 * (10 + 5) = 225. Biases 15, b_hn 5.
    spec = StackSpec("gru", 3, 5, 2, bidirectional=True)
    assert spec.parameters("none") == 2 * (120 + 225)
    assert spec.parameters("single") == 2 * (135 + 240)
    assert spec.parameters("minimal") == 2 * (140 + 245)
    assert spec.parameters("pytorch") == 2 * (150 + 255)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("cell", "weights"), [("rnn", 40), ("gru", 120), ("lstm", 160)])
def test_a_stack_without_bias_has_none_under_any_convention(cell, weights, convention):
    assert StackSpec(cell, 3, 5, bias=False).parameters(convention) == weights


@pytest.mark.parametrize(("cell", "count"), [("rnn", 30), ("gru", 90), ("lstm", 120)])
def test_without_input_the_recurrent_part_remains(cell, count):
    # gH(H + 1) = g * 5 * 6
    assert StackSpec(cell, 0, 5).parameters("single") == count
    assert StackSpec(cell, 0, 5).macs() == count - count // 6


# Beside the weights two gains and a shift of gH each, the GRU's shift of its candidate (5), and the LSTM's
# gain and shift on c (10): 40 + 15 = 55, 120 + 45 + 5 = 170, 160 + 60 + 10 = 230.
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("cell", "count"), [("rnn", 55), ("gru", 170), ("lstm", 230)])
def test_a_norm_inside_the_cell_takes_the_place_of_every_bias(cell, count, convention, bias):
    assert StackSpec(cell, 3, 5, bias=bias, layer_norm="gates").parameters(convention) == count


def test_a_norm_inside_the_cell_is_there_in_every_layer_and_direction():
    # Layer 1 of a GRU: 15 * (10 + 5) + 3 * 15 + 5 = 275 each direction, above 2 * 170.
    assert StackSpec("gru", 3, 5, 2, bidirectional=True, layer_norm="gates").parameters() == 2 * (170 + 275)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("options", "width"),
    [({}, 5), ({"bidirectional": True}, 10), ({"proj_size": 2, "bidirectional": True}, 4)],
)
def test_a_norm_of_the_output_adds_gain_and_shift_to_every_layer(options, width, convention):
    plain = StackSpec("lstm", 3, 5, 3, **options)
    added = replace(plain, layer_norm="output").parameters(convention) - plain.parameters(convention)
    assert added == 3 * 2 * width


@pytest.mark.parametrize("residual", [True, 1, 2])
def test_a_shortcut_costs_no_parameter_and_no_product(residual):
    # 200 + 20 * (5 + 5 + 2) = 440 parameters, 160 + 200 = 360 products
    spec = StackSpec("lstm", 3, 5, 2, residual=residual)
    assert (spec.parameters(), spec.macs()) == (440, 360)


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        ("rnn", {"h": slice(0, 5)}),
        ("gru", {"r": slice(0, 5), "z": slice(5, 10), "n": slice(10, 15)}),
        ("lstm", {"i": slice(0, 5), "f": slice(5, 10), "g": slice(10, 15), "o": slice(15, 20)}),
    ],
)
def test_gate_rows_follow_torchs_order(cell, rows):
    spec = StackSpec(cell, 3, 5)
    assert spec.gate_rows == rows
    assert spec.gates == tuple(rows)


@torch.no_grad()
@pytest.mark.parametrize(
    ("gate", "c1", "h1"),
    [
        # All else zero: i = f = o = 1/2 and g = tanh(30) = 1, so c = 1/2 * 2 + 1/2 * 1 = 1.5 from c0 = 2.
        ("i", "2.0000", "0.4820"),  # 1 + 1,    h = tanh(2) / 2
        ("f", "2.5000", "0.4933"),  # 2 + 1/2,  h = tanh(2.5) / 2
        ("o", "1.5000", "0.9051"),  # h = tanh(1.5)
        ("g", "1.5000", "0.4526"),
    ],
)
def test_the_rows_of_an_lstm_gate_act_on_that_gate(gate, c1, h1):
    cell = nn.LSTMCell(1, 2)
    rows = StackSpec("lstm", 1, 2).gate_rows
    for parameter in cell.parameters():
        parameter.zero_()
    cell.bias_ih[rows["g"]] = 30
    cell.bias_ih[rows[gate]] = 30
    h, c = cell(torch.zeros(1), (torch.zeros(2), torch.full((2,), 2.0)))
    assert [f"{value:.4f}" for value in c] == [c1] * 2
    assert [f"{value:.4f}" for value in h] == [h1] * 2


@torch.no_grad()
@pytest.mark.parametrize(
    ("gate", "h1"),
    [
        # All else zero, b_hn = 1: r = z = 1/2 and n = tanh(1/2), so h = n / 2 + 2 / 2 from h0 = 2.
        ("r", "1.3808"),  # n = tanh(1)
        ("z", "2.0000"),  # h stays
        ("n", "1.5000"),  # n = 1
    ],
)
def test_the_rows_of_a_gru_gate_act_on_that_gate(gate, h1):
    cell = nn.GRUCell(1, 2)
    rows = StackSpec("gru", 1, 2).gate_rows
    for parameter in cell.parameters():
        parameter.zero_()
    cell.bias_hh[rows["n"]] = 1
    cell.bias_ih[rows[gate]] = 30
    h = cell(torch.zeros(1), torch.full((2,), 2.0))
    assert [f"{value:.4f}" for value in h] == [h1] * 2


def test_the_width_of_a_layers_output_joins_both_directions():
    assert StackSpec("lstm", 3, 5).output_size == 5
    assert StackSpec("lstm", 3, 5, bidirectional=True).output_size == 10
    assert StackSpec("lstm", 3, 5, bidirectional=True, proj_size=2).output_size == 4


def test_the_blocks_come_in_torchs_order():
    spec = StackSpec("rnn", 3, 5, 2, bidirectional=True)
    assert [block.suffix for block in spec.blocks()] == ["l0", "l0_reverse", "l1", "l1_reverse"]
    assert [block.input_size for block in spec.blocks()] == [3, 3, 10, 10]


# --- Multiply-accumulates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "per_step"),
    [
        (StackSpec("rnn", 3, 5), 5 * (3 + 5)),
        (StackSpec("gru", 3, 5), 15 * (3 + 5)),
        (StackSpec("lstm", 3, 5), 20 * (3 + 5)),
        (StackSpec("lstm", 3, 5, bias=False), 20 * (3 + 5)),
        (StackSpec("lstm", 3, 5, layer_norm="gates"), 20 * (3 + 5)),
        (StackSpec("lstm", 3, 5, 2), 20 * (3 + 5) + 20 * (5 + 5)),
        (StackSpec("lstm", 3, 5, 2, bidirectional=True), 2 * 20 * (3 + 5) + 2 * 20 * (10 + 5)),
        (StackSpec("lstm", 3, 5, proj_size=2), 20 * (3 + 2) + 2 * 5),
        (StackSpec("lstm", 3, 5, 2, proj_size=2), 20 * (3 + 2) + 10 + 20 * (2 + 2) + 10),
    ],
)
def test_macs_of_a_step_times_every_step_of_every_sequence(spec, per_step):
    assert spec.macs() == per_step
    assert spec.macs(6) == 6 * per_step
    assert spec.macs(batch=4) == 4 * per_step
    assert spec.macs(steps=6, batch=4) == 24 * per_step
    assert spec.macs(lengths=[6, 4, 3, 1]) == 14 * per_step
    assert spec.macs(lengths=(1, 6, 3, 4)) == 14 * per_step
    assert spec.macs(lengths=[5, 0, 2]) == 7 * per_step
    assert spec.macs(steps=0, batch=4) == 0
    assert spec.macs(lengths=[0, 0]) == 0
    assert spec.flops(6, 4) == 48 * per_step
    assert spec.flops(lengths=[6, 4, 3, 1]) == 28 * per_step


# Forward F, then gradients of W_ih and W_hh (24 gHD and 24 gHH), and to h_{t-1} at 5 of 6 steps (20 gHH).
@pytest.mark.parametrize(
    ("cell", "training", "with_input_grad"),
    [
        ("rnn", 960 + 24 * 15 + 24 * 25 + 20 * 25, 2420 + 24 * 15),
        ("gru", 2880 + 24 * 45 + 24 * 75 + 20 * 75, 7260 + 24 * 45),
        ("lstm", 3840 + 24 * 60 + 24 * 100 + 20 * 100, 9680 + 24 * 60),
    ],
)
def test_training_takes_every_gradient_but_that_of_the_first_state(cell, training, with_input_grad):
    spec = StackSpec(cell, 3, 5)
    assert spec.macs(6, 4, training=True) == training
    assert spec.macs(6, 4, training=True, input_grad=True) == with_input_grad
    assert spec.flops(6, 4, training=True, input_grad=True) == 2 * with_input_grad


@pytest.mark.parametrize(("cell", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_training_of_one_layer_is_three_forwards_less_two_terms(cell, gates):
    # 3F - N g H^2 - T N g H D
    forward = 24 * gates * 5 * 8
    expected = 3 * forward - 4 * gates * 25 - 24 * gates * 15
    assert StackSpec(cell, 3, 5).macs(6, 4, training=True) == expected


def test_in_training_only_upper_layers_always_return_a_gradient_to_their_input():
    # Layer 1 of the LSTM: F = 24 * 200 = 4,800, thrice, less 4 * 100 for the first step.
    assert StackSpec("lstm", 3, 5, 2).macs(6, 4, training=True) == 9680 + 3 * 4800 - 400


def test_training_a_projection_costs_two_more_passes_over_it():
    # F = 24 * 110; gradients of W_ih, W_hh and to h_{t-1}; of W_hr and through it.
    expected = 24 * 110 + 24 * 60 + 24 * 40 + 20 * 40 + 2 * 24 * 10
    assert StackSpec("lstm", 3, 5, proj_size=2).macs(6, 4, training=True) == expected == 6320


def test_training_on_packed_lengths_spares_one_first_step_per_sequence():
    spec = StackSpec("lstm", 3, 5)
    assert spec.macs(lengths=[6, 4, 3, 1], training=True) == 3 * 14 * 160 - 4 * 100 - 14 * 60
    assert spec.macs(lengths=[5, 0, 2], training=True) == 3 * 7 * 160 - 2 * 100 - 7 * 60


def test_training_follows_the_same_rule_in_a_packed_reverse_direction():
    spec = StackSpec("lstm", 3, 5, bidirectional=True)
    assert spec.macs(lengths=[6, 4, 3, 1], training=True) == 2 * 5480 == 10_960


def test_training_on_no_step_costs_nothing():
    assert StackSpec("lstm", 3, 5, 2).macs(0, 4, training=True, input_grad=True) == 0


@few
@given(stacks(), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.booleans())
def test_macs_are_what_torchs_own_counter_sees_without_onednn(stack, T, N, training, input_grad):
    cell, D, H, options = stack
    module = MODULES[cell](D, H, **options)
    x = torch.zeros(T, N, D, requires_grad=input_grad)
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        output, _ = module(x)
        if training:
            output.sum().backward()
    spec = StackSpec(cell, D, H, **options)
    assert spec.flops(T, N, training=training, input_grad=input_grad) == counter.get_total_flops()


# --- Storage ----------------------------------------------------------------------------------------------

VECTOR = 6 * 4 * 5 * 4  # bytes of one H-wide float32 vector per step: T * N * H * 4 = 480


@pytest.mark.parametrize(
    ("cell", "scheme", "vectors"),
    [
        ("rnn", "gates", 1),  # h
        ("gru", "gates", 5),  # r, z, n, the candidate's recurrent term, h
        ("lstm", "gates", 6),  # i, f, o, g, c, h
        ("rnn", "gates+tanh", 1),
        ("gru", "gates+tanh", 5),
        ("lstm", "gates+tanh", 7),  # and tanh c
        ("rnn", "recompute", 1),
        ("gru", "recompute", 1),
        ("lstm", "recompute", 2),  # c, h
        ("rnn", "native", 1),
        ("gru", "native", 7),
        ("lstm", "native", 7),
    ],
)
def test_a_scheme_says_how_many_vectors_a_step_keeps(cell, scheme, vectors):
    spec = StackSpec(cell, 3, 5)
    assert spec.storage(6, 4, scheme=scheme) == vectors * VECTOR
    assert spec.storage(scheme=scheme) == vectors * 5 * 4
    assert spec.storage(0, 4, scheme=scheme) == 0


def test_the_default_scheme_is_gates():
    assert StackSpec("lstm", 3, 5).storage(6, 4) == 6 * VECTOR


@pytest.mark.parametrize(
    ("scheme", "floats"),
    [("gates", 5 * 5 + 2), ("gates+tanh", 6 * 5 + 2), ("recompute", 5 + 2), ("native", 7 * 5 + 2)],
)
def test_a_projected_state_is_stored_projected(scheme, floats):
    assert StackSpec("lstm", 3, 5, proj_size=2).storage(6, 4, scheme=scheme) == 24 * floats * 4


@pytest.mark.parametrize("scheme", ["gates", "gates+tanh", "recompute"])
@pytest.mark.parametrize("cell", CELLS)
def test_every_layer_and_direction_keeps_the_same(cell, scheme):
    vectors = {"rnn": (1, 1, 1), "gru": (5, 5, 1), "lstm": (6, 7, 2)}[cell]
    expected = 3 * 2 * dict(zip(SCHEMES, vectors, strict=False))[scheme] * VECTOR
    assert StackSpec(cell, 3, 5, 3, bidirectional=True).storage(6, 4, scheme=scheme) == expected


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_torchs_kernels_keep_the_joined_output_between_layers_too(layers):
    assert StackSpec("rnn", 3, 5, layers).storage(6, 4, scheme="native") == (2 * layers - 1) * VECTOR
    assert StackSpec("gru", 3, 5, layers).storage(6, 4, scheme="native") == (8 * layers - 1) * VECTOR
    assert StackSpec("lstm", 3, 5, layers).storage(6, 4, scheme="native") == (8 * layers - 1) * VECTOR


def test_both_directions_of_torchs_kernels_join_once_between_layers():
    # Four blocks of seven vectors, and one output of twice the width.
    spec = StackSpec("lstm", 3, 5, 2, bidirectional=True)
    assert spec.storage(6, 4, scheme="native") == 4 * 7 * VECTOR + 2 * VECTOR


@pytest.mark.parametrize(("scheme", "vectors"), [("gates", 6), ("gates+tanh", 7), ("recompute", 2)])
def test_packed_lengths_store_valid_tokens_only(scheme, vectors):
    spec = StackSpec("lstm", 3, 5)
    assert spec.storage(lengths=[6, 4, 3, 1], scheme=scheme) == 14 * vectors * 5 * 4
    assert spec.storage(lengths=[5, 0, 2], scheme=scheme) == 7 * vectors * 5 * 4


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("float64", 8),
        ("float32", 4),
        ("float16", 2),
        ("bfloat16", 2),
        (torch.float64, 8),
        (torch.float32, 4),
        (torch.half, 2),
        (torch.bfloat16, 2),
    ],
)
def test_bytes_follow_the_dtype_by_name_or_from_torch(dtype, size):
    spec = StackSpec("lstm", 3, 5)
    assert spec.storage(6, 4, dtype=dtype) == 720 * size
    assert spec.storage_terms(6, 4, dtype=dtype) == {"l0": 720 * size, "initial states": 40 * size,
                                                     "input": 72 * size}  # fmt: skip


def test_the_terms_name_every_block_and_what_lies_outside_the_layers():
    # Initial h and c, 2 * 4 * 5 floats for each of four blocks; the input, 24 * 3 floats.
    spec = StackSpec("lstm", 3, 5, 2, bidirectional=True)
    blocks = dict.fromkeys(("l0", "l0_reverse", "l1", "l1_reverse"), 6 * VECTOR)
    # The second layer takes in both directions of the first side by side, 24 * 10 floats.
    beside = {"joined directions": 960, "initial states": 640, "input": 288}
    assert spec.storage_terms(6, 4) == blocks | beside
    assert spec.storage(6, 4) == 4 * 6 * VECTOR


@pytest.mark.parametrize(("cell", "states"), [("rnn", 1), ("gru", 1), ("lstm", 2)])
def test_only_an_lstm_has_a_second_initial_state_to_keep(cell, states):
    assert StackSpec(cell, 3, 5).storage_terms(6, 4)["initial states"] == states * 4 * 5 * 4


def test_the_terms_of_torchs_kernels_have_initial_states_for_an_rnn_alone():
    assert StackSpec("rnn", 3, 5, 2).storage_terms(6, 4, scheme="native") == {
        "l0": 480, "l1": 480, "joined steps": 480, "initial states": 2 * 4 * 5 * 4, "input": 288,
    }  # fmt: skip
    assert StackSpec("gru", 3, 5, 2).storage_terms(6, 4, scheme="native") == {
        "l0": 3360, "l1": 3360, "joined steps": 480, "input": 288,
    }  # fmt: skip


def test_only_sequences_with_a_step_have_an_initial_state_to_keep():
    terms = StackSpec("lstm", 3, 5, proj_size=2).storage_terms(lengths=[5, 0, 2])
    assert terms == {"l0": 7 * 27 * 4, "initial states": 2 * (2 + 5) * 4, "input": 7 * 3 * 4}


def test_a_term_of_zero_bytes_is_left_out():
    assert StackSpec("lstm", 0, 5).storage_terms(6, 4) == {"l0": 2880, "initial states": 160}
    assert StackSpec("lstm", 3, 5).storage_terms(0, 4) == {}


def test_dropout_between_layers_changes_nothing_where_there_is_only_one():
    assert StackSpec("lstm", 3, 5, dropout=0.5).storage(6, 4) == 2880


def test_a_norm_keeps_two_statistics_a_token_and_its_result_where_a_layer_takes_it_in():
    plain = StackSpec("lstm", 5, 5, 3)
    normed = replace(plain, layer_norm="output")
    extra = {"output norms": 4 * (3 * 2 * 24 + 2 * 24 * 5)}
    assert normed.storage_terms(6, 4) == plain.storage_terms(6, 4) | extra
    assert normed.storage(6, 4) == plain.storage(6, 4)


def test_a_residual_keeps_its_sum_where_a_layer_takes_it_in():
    plain = StackSpec("lstm", 5, 5, 3)
    for residual, sums in ((True, 2), (1, 2), (2, 1), (3, 0)):
        extra = {"residual sums": sums * VECTOR} if sums else {}
        assert replace(plain, residual=residual).storage_terms(6, 4) == plain.storage_terms(6, 4) | extra
    narrow_input = StackSpec("lstm", 3, 5, 3, residual=True)
    assert narrow_input.storage_terms(6, 4)["residual sums"] == VECTOR  # none at the first layer


def test_with_both_the_sum_takes_the_place_of_the_norms_result():
    both = StackSpec("lstm", 5, 5, 3, layer_norm="output", residual=True).storage_terms(6, 4)
    assert (both["output norms"], both["residual sums"]) == (4 * 3 * 2 * 24, 2 * VECTOR)


def test_torchs_kernels_keep_the_joined_steps_where_a_layer_or_a_norm_takes_them_in():
    plain = StackSpec("gru", 5, 5, 3)
    for options, joined in (({}, 2), ({"residual": True}, 0), ({"layer_norm": "output"}, 3)):
        terms = replace(plain, **options).storage_terms(6, 4, scheme="native")
        assert terms.get("joined steps", 0) == joined * VECTOR


# --- The critical path ------------------------------------------------------------------------------------


def longest_chain(steps, layers):
    """Cells on the longest path through the grid in which (t, l) waits for (t-1, l) and (t, l-1)."""
    chain = {}
    for t in range(steps):
        for layer in range(layers):
            chain[t, layer] = 1 + max(chain.get((t - 1, layer), 0), chain.get((t, layer - 1), 0))
    return max(chain.values(), default=0)


@few
@given(st.integers(0, 8), st.integers(1, 6), st.sampled_from(CELLS))
def test_the_wavefront_is_the_longest_chain_of_dependent_cells(steps, layers, cell):
    assert StackSpec(cell, 3, 5, layers).critical_path(steps, "wavefront") == longest_chain(steps, layers)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_one_layer_after_another_takes_every_cell_of_a_direction_in_turn(bidirectional):
    spec = StackSpec("gru", 3, 5, 4, bidirectional=bidirectional)
    assert spec.critical_path(512) == 2048
    assert spec.critical_path(steps=512, schedule="layerwise") == 2048
    assert spec.critical_path(0) == 0


def test_the_wavefront_of_the_text_takes_515_steps():
    assert StackSpec("lstm", 512, 512, 4).critical_path(steps=512, schedule="wavefront") == 515


@pytest.mark.parametrize("layers", [1, 4])
def test_a_bidirectional_stack_has_no_wavefront(layers):
    with pytest.raises(ValueError, match=r"schedule='wavefront': expected a unidirectional stack"):
        StackSpec("lstm", 3, 5, layers, bidirectional=True).critical_path(6, "wavefront")


# --- Bad input --------------------------------------------------------------------------------------------

SPEC = StackSpec("lstm", 3, 5)
INTEGERS = [0, -1, 2.0, 1.5, "5", None, True]


def message_of(call):
    with pytest.raises(ValueError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("value", ["LSTM", "lstmcell", "", None, 3, ["lstm"]])
def test_an_unknown_cell_is_refused(value):
    message = message_of(lambda: StackSpec(value, 3, 5))
    assert message == f"cell={value!r}: expected one of 'rnn', 'gru', 'lstm'"


@pytest.mark.parametrize("value", INTEGERS)
@pytest.mark.parametrize("name", ["hidden_size", "num_layers"])
def test_a_size_that_is_no_positive_integer_is_refused(name, value):
    sizes = {"input_size": 3, "hidden_size": 5, name: value}
    assert message_of(lambda: StackSpec("lstm", **sizes)) == f"{name}={value!r}: expected a positive integer"


@pytest.mark.parametrize("value", INTEGERS[1:])
@pytest.mark.parametrize("name", ["input_size", "proj_size"])
def test_a_size_that_is_no_integer_from_zero_on_is_refused(name, value):
    sizes = {"input_size": 3, "hidden_size": 5, name: value}
    message = message_of(lambda: StackSpec("lstm", **sizes))
    assert message == f"{name}={value!r}: expected a non-negative integer"


@pytest.mark.parametrize("value", [5, 6, 100])
def test_a_projection_no_narrower_than_the_state_is_refused(value):
    message = message_of(lambda: StackSpec("lstm", 3, 5, proj_size=value))
    assert message == f"proj_size={value}: expected less than hidden_size=5"


@pytest.mark.parametrize("cell", ["rnn", "gru"])
def test_a_projection_of_any_cell_but_an_lstm_is_refused(cell):
    message = message_of(lambda: StackSpec(cell, 3, 5, proj_size=2))
    assert message.startswith(f"proj_size=2: expected 0 for a {cell}")


@pytest.mark.parametrize("value", ["input", "", True, False, 1])
def test_an_unknown_place_for_the_norm_is_refused(value):
    message = message_of(lambda: StackSpec("lstm", 3, 5, layer_norm=value))
    assert message == f"layer_norm={value!r}: expected one of None, 'output', 'gates'"


@pytest.mark.parametrize("value", [0, -1, 1.5, "1", None])
def test_a_shortcut_from_no_layer_is_refused(value):
    message = message_of(lambda: StackSpec("lstm", 3, 5, 2, residual=value))
    assert message == f"residual={value!r}: expected a positive integer"


@pytest.mark.parametrize("value", [-0.1, 1.1, 2, float("nan"), "0.5", None])
@pytest.mark.parametrize("name", ["dropout", "weight_dropout"])
def test_what_is_no_probability_is_refused(name, value):
    message = message_of(lambda: StackSpec("lstm", 3, 5, **{name: value}))
    assert message == f"{name}={value!r}: expected a probability in [0, 1]"


@pytest.mark.parametrize("value", ["none", "single", None, 2])
@pytest.mark.parametrize("name", ["bias", "bidirectional"])
def test_a_switch_that_is_neither_true_nor_false_is_refused(name, value):
    message = message_of(lambda: StackSpec("lstm", 3, 5, **{name: value}))
    assert message.startswith(f"{name}={value!r}: expected ")


@pytest.mark.parametrize("value", ["keras", "two", True, None, 2])
def test_an_unknown_bias_convention_is_refused(value):
    expected = f"bias={value!r}: expected one of 'pytorch', 'single', 'minimal', 'none'"
    assert message_of(lambda: SPEC.parameters(bias=value)) == expected
    assert message_of(lambda: SPEC.parameter_shapes(value)) == expected


@pytest.mark.parametrize("value", [-1, 1.5, 6.0, "6", True])
@pytest.mark.parametrize(
    "method", [SPEC.macs, SPEC.flops, SPEC.storage, SPEC.storage_terms, SPEC.critical_path]
)
def test_steps_that_are_no_integer_from_zero_on_are_refused(method, value):
    assert message_of(lambda: method(steps=value)) == f"steps={value!r}: expected a non-negative integer"


@pytest.mark.parametrize("value", [0, -1, 1.5, 4.0, "4", True])
@pytest.mark.parametrize("method", [SPEC.macs, SPEC.flops, SPEC.storage, SPEC.storage_terms])
def test_a_batch_that_is_no_positive_integer_is_refused(method, value):
    message = message_of(lambda: method(steps=6, batch=value))
    assert message == f"batch={value!r}: expected a positive integer"


@pytest.mark.parametrize("method", [SPEC.macs, SPEC.flops, SPEC.storage, SPEC.storage_terms])
class TestLengths:
    def test_that_are_empty_are_refused(self, method):
        message = message_of(lambda: method(lengths=[]))
        assert message == "lengths=[]: expected at least one sequence length"

    @pytest.mark.parametrize("value", [-1, 1.5, "4", None, True])
    def test_that_are_no_integers_from_zero_on_are_refused(self, method, value):
        message = message_of(lambda: method(lengths=[6, value]))
        assert message == f"lengths={value!r}: expected a non-negative integer"

    @pytest.mark.parametrize("value", [5, 2.5])
    def test_that_are_no_sequence_are_refused(self, method, value):
        assert message_of(lambda: method(lengths=value)).startswith(f"lengths={value!r}: expected ")

    @pytest.mark.parametrize("others", [{"steps": 6}, {"batch": 4}, {"steps": 6, "batch": 4}])
    def test_beside_steps_or_batch_are_refused(self, method, others):
        message = message_of(lambda: method(lengths=[6, 4], **others))
        assert message.startswith("lengths=[6, 4]: replaces steps and batch, expected only one")


@pytest.mark.parametrize("value", ["all", "tanh", None, 7])
def test_an_unknown_scheme_is_refused(value):
    expected = f"scheme={value!r}: expected one of 'gates', 'gates+tanh', 'recompute', 'native'"
    assert message_of(lambda: SPEC.storage(6, 4, scheme=value)) == expected
    assert message_of(lambda: SPEC.storage_terms(6, 4, scheme=value)) == expected


@pytest.mark.parametrize("steps", [0, 6])
@pytest.mark.parametrize("value", ["int32", "double", torch.int64, torch.complex64, 4, None, float])
def test_a_dtype_that_is_no_floating_point_type_is_refused(value, steps):
    message = message_of(lambda: SPEC.storage(steps, 4, dtype=value))
    assert message.startswith("dtype=")
    assert str(value).removeprefix("torch.") in message
    assert message.endswith("expected one of 'float64', 'float32', 'float16', 'bfloat16'")


@pytest.mark.parametrize("value", ["parallel", "", None])
def test_an_unknown_schedule_is_refused(value):
    message = message_of(lambda: SPEC.critical_path(6, value))
    assert message == f"schedule={value!r}: expected one of 'layerwise', 'wavefront'"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"layer_norm": "gates"}, "layer_norm='gates'"),
        ({"dropout": 0.5, "num_layers": 2}, "dropout=0.5"),
        ({"weight_dropout": 0.3}, "weight_dropout=0.3"),
    ],
)
def test_storage_without_a_closed_form_is_refused_and_says_where_to_measure_it(options, named, scheme):
    message = message_of(lambda: StackSpec("lstm", 3, 5, **options).storage(6, 4, scheme=scheme))
    assert message.startswith(f"{named}: ")
    assert "measure it with rnnlib.measure.saved_bytes" in message


def test_torchs_storage_on_packed_lengths_is_refused_and_says_where_to_measure_it():
    message = message_of(lambda: SPEC.storage(lengths=[6, 4], scheme="native"))
    assert message.startswith("lengths=[6, 4]: ")
    assert "measure it with rnnlib.measure.saved_bytes" in message


class Int32:
    """An integer that stays within 32 bits, as NumPy's do."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __mul__(self, other):
        return Int32((self.value * int(other) + 2**31) % 2**32 - 2**31)

    def __lt__(self, other):
        return self.value < int(other)

    __rmul__, __int__ = __mul__, __index__


def test_a_size_from_another_library_is_taken_as_a_plain_integer():
    # 4 * 50,000 * (50,000 + 50,000 + 2) is more than 32 bits hold.
    spec = StackSpec("lstm", Int32(50_000), Int32(50_000))
    assert spec == StackSpec("lstm", 50_000, 50_000)
    assert spec.parameters() == 20_000_400_000


def test_a_spec_does_not_change():
    with pytest.raises(FrozenInstanceError):
        SPEC.hidden_size = 6
    assert {SPEC, StackSpec("lstm", input_size=3, hidden_size=5)} == {SPEC}


def test_everything_after_the_number_of_layers_goes_by_name():
    with pytest.raises(TypeError):
        StackSpec("lstm", 3, 5, 2, True)


# --- The spec of a live module ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "spec"),
    [
        (nn.RNN(3, 5), StackSpec("rnn", 3, 5)),
        (nn.RNN(3, 5, nonlinearity="relu"), StackSpec("rnn", 3, 5)),
        (nn.GRU(3, 5, 2, bias=False), StackSpec("gru", 3, 5, 2, bias=False)),
        (nn.LSTM(3, 5, batch_first=True), StackSpec("lstm", 3, 5)),
        (
            nn.LSTM(3, 5, 2, bidirectional=True, proj_size=2),
            StackSpec("lstm", 3, 5, 2, bidirectional=True, proj_size=2),
        ),
        (nn.LSTM(3, 5, dtype=torch.float64), StackSpec("lstm", 3, 5)),
        (nn.RNNCell(3, 5), StackSpec("rnn", 3, 5)),
        (nn.RNNCell(3, 5, nonlinearity="relu"), StackSpec("rnn", 3, 5)),
        (nn.GRUCell(3, 5, bias=False), StackSpec("gru", 3, 5, bias=False)),
        (nn.LSTMCell(3, 5), StackSpec("lstm", 3, 5)),
        (nn.LSTM(3, 5, 2, dropout=0.5), StackSpec("lstm", 3, 5, 2, dropout=0.5)),
        (nn.LSTM(3, 5, 2, dropout=0.5).eval(), StackSpec("lstm", 3, 5, 2)),
        (rnnlib.RNN(3, 5, nonlinearity="relu"), StackSpec("rnn", 3, 5)),
        (
            rnnlib.LSTM(3, 5, 4, residual=3, layer_norm="output", bidirectional=True),
            StackSpec("lstm", 3, 5, 4, residual=3, layer_norm="output", bidirectional=True),
        ),
        (rnnlib.GRU(3, 5, weight_dropout=0.3), StackSpec("gru", 3, 5, weight_dropout=0.3)),
        (rnnlib.GRU(3, 5, weight_dropout=0.3).eval(), StackSpec("gru", 3, 5)),
    ],
)
def test_the_spec_of_a_live_module_has_its_dimensions(module, spec):
    assert StackSpec.of(module) == spec


@few
@given(stacks(), st.sampled_from([None, "output", "gates"]))
def test_the_spec_of_a_stack_of_this_library_has_its_parameters(stack, layer_norm):
    cell, D, H, options = stack
    module = {"rnn": rnnlib.RNN, "gru": rnnlib.GRU, "lstm": rnnlib.LSTM}[cell](
        D, H, layer_norm=layer_norm, **options
    )
    declared = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert StackSpec.of(module).parameter_shapes() == declared


@pytest.mark.parametrize("name", ["Encoder", "MyLSTM", "RNN", "Gru", "GRUCell"])
def test_a_subclass_is_the_cell_it_derives_from_whatever_its_name(name):
    subclass = type(name, (nn.LSTM,), {})
    assert StackSpec.of(subclass(3, 5)) == StackSpec("lstm", 3, 5)


def model_called(name, **attributes):
    """A user's model: named like a cell, with attributes like a cell's, and a cell inside."""
    model = type(name, (nn.Module,), {})()
    model.cell = nn.LSTM(3, 5)
    for attribute, value in attributes.items():
        setattr(model, attribute, value)
    return model


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        (nn.Linear(3, 5), "Linear"),
        (nn.Conv1d(3, 5, 1), "Conv1d"),
        (nn.Sequential(nn.LSTM(3, 5)), "Sequential"),
        (nn.MultiheadAttention(4, 2), "MultiheadAttention"),
        (object(), "object"),
        (None, "NoneType"),
        (nn.LSTM, "type"),
        (model_called("RNN"), "RNN"),
        (model_called("RNN", hidden_size=5), "RNN"),
        (model_called("LSTM", input_size=3, hidden_size=5), "LSTM"),
    ],
)
def test_a_module_of_another_kind_is_refused_by_name(module, kind):
    message = message_of(lambda: StackSpec.of(module))
    assert message == f"module={kind}: expected an RNN, GRU or LSTM, or one of their cells"


# --- What the file may import -----------------------------------------------------------------------------


def test_the_cost_model_can_be_imported_without_torch():
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from rnnlib.cost import StackSpec, matched_width\n"
        "print(StackSpec('lstm', 3, 5).parameters(), matched_width('gru', 3, 180, bias='single'))"
    )
    root = Path(rnnlib.__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("200 6\n", "")


def test_the_cost_model_names_nothing_but_the_standard_library_and_itself():
    imported = set()
    for path in Path(rnnlib.cost.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{path.name} reaches out of the package"
                imported |= set() if node.level else {node.module.split(".")[0]}
    assert "dataclasses" in imported
    assert imported <= set(sys.stdlib_module_names)
