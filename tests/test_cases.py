"""Real reports by people whose counts of a recurrent network went wrong, each kept as a test.

Every number was worked out by hand; the name of a test says what the report was about, and its first line
where it stands.
"""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from rnnlib import StackSpec, audit, measure

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def meta(*shape):
    """A tensor without data: full-size modules run on it in no time."""
    return torch.empty(*shape, device="meta")


@pytest.mark.parametrize(
    ("cell", "two_biases", "one_bias", "no_bias"),
    [("rnn", 50, 45, 40), ("gru", 150, 135, 120), ("lstm", 200, 180, 160)],
)
def test_parameters_differ_between_libraries_by_the_second_bias(cell, two_biases, one_bias, no_bias):
    """pytorch/pytorch#95056, soumith/cudnn.torch#181"""
    spec = StackSpec(cell, 3, 5)
    assert spec.parameters("pytorch") == two_biases == measure.parameters(CELLS[cell](3, 5))
    assert spec.parameters("single") == one_bias
    assert spec.parameters("none") == no_bias == measure.parameters(CELLS[cell](3, 5, bias=False))


def test_a_gru_counts_differently_before_and_after_its_reset():
    """tensorflow/tensorflow#43960"""
    spec = StackSpec("gru", 4, 5)
    assert spec.parameters("single") == 150  # Keras, reset_after=False
    assert spec.parameters("pytorch") == 165  # torch; Keras, reset_after=True
    assert spec.parameters("minimal") == 155


def test_a_projected_stack_feeds_its_next_layer_the_projected_width():
    """pytorch/pytorch#65053, PaddlePaddle/Paddle#70245"""
    spec = StackSpec("lstm", 4, 3, 2, proj_size=2)
    assert spec.parameter_shapes("none") == {
        "weight_ih_l0": (12, 4), "weight_hh_l0": (12, 2), "weight_hr_l0": (2, 3),
        "weight_ih_l1": (12, 2), "weight_hh_l1": (12, 2), "weight_hr_l1": (2, 3),
    }  # fmt: skip
    assert (spec.parameters("pytorch"), spec.parameters("single")) == (180, 156)
    both_ways = StackSpec("lstm", 4, 3, 2, proj_size=2, bidirectional=True)
    assert both_ways.parameter_shapes()["weight_ih_l1"] == (12, 4)
    assert both_ways.parameters() == 408
    assert measure.parameters(nn.LSTM(4, 3, 2, proj_size=2)) == 180
    assert measure.parameters(nn.LSTM(4, 3, 2, proj_size=2, bidirectional=True)) == 408


def test_a_textbook_count_has_one_bias_per_gate():
    """datascience.stackexchange.com/questions/128705"""
    spec = StackSpec("lstm", 1, 9)
    assert (spec.parameters("single"), spec.parameters("pytorch")) == (396, 432)
    assert measure.parameters(nn.LSTM(1, 9)) == 432


@pytest.mark.parametrize(("steps", "macs"), [(100, 376_012_800), (10, 37_601_280), (1, 3_760_128)])
def test_macs_grow_with_the_sequence(steps, macs):
    """TylerYep/torchinfo#32"""
    assert StackSpec("lstm", 300, 512, 2).macs(steps) == macs
    assert measure.macs(nn.LSTM(300, 512, 2, device="meta"), meta(steps, 1, 300)) == macs
    assert StackSpec("lstm", 300, 512, 2).parameters() == 3_768_320


@pytest.mark.parametrize("batch_first", [False, True])
def test_a_gru_is_not_counted_as_zero_in_either_layout(batch_first):
    """MrYxJ/calculate-flops.pytorch#55"""
    spec = StackSpec("gru", 128, 128)
    assert (spec.macs(32, 10), spec.flops(32, 10)) == (31_457_280, 62_914_560)
    gru = nn.GRU(128, 128, batch_first=batch_first, device="meta")
    assert measure.macs(gru, meta(10, 32, 128)) == 31_457_280


@pytest.mark.parametrize(
    ("cell", "parameters", "macs"), [("lstm", 33_280, 3_276_800), ("gru", 24_960, 2_457_600)]
)
def test_macs_of_a_sequence_are_not_its_parameters(cell, parameters, macs):
    """ThanatosShinji/onnx-tool#64"""
    spec = StackSpec(cell, 64, 64)
    assert (spec.parameters(), spec.macs(100)) == (parameters, macs)
    module = CELLS[cell](64, 64, device="meta")
    assert (measure.parameters(module), measure.macs(module, meta(100, 1, 64))) == (parameters, macs)


def test_flops_and_macs_do_not_swap_their_labels():
    """deepspeedai/DeepSpeed#3816"""
    spec = StackSpec("lstm", 3, 5)
    assert (spec.macs(6, 4), spec.flops(6, 4)) == (3840, 7680)
    assert spec.flops(lengths=[6, 4], training=True, input_grad=True) == 2 * (3 * 10 * 160 - 2 * 100)
    result = audit(nn.LSTM(3, 5), torch.zeros(6, 4, 3))
    assert result.macs == 3840
    assert {row.quantity for row in result.rows if row.measured == 3840} == {"MACs"}
    assert 7680 not in {row.measured for row in result.rows}


def test_the_first_layer_reads_the_input_not_the_hidden_width():
    """NVIDIA-developer-blog/code-samples#7"""
    macs = StackSpec("lstm", 128, 512, 4).macs(100, 32)
    assert macs == 24_326_963_200
    shortcut = 100 * 32 * 4 * 8 * 512 * 512
    assert shortcut == 26_843_545_600
    assert f"{shortcut / macs:.4f}" == "1.1034"
    assert measure.macs(nn.LSTM(128, 512, 4, device="meta"), meta(100, 32, 128)) == macs


@pytest.mark.parametrize(("shape", "macs"), [((5, 10, 3), 1_200), ((5, 100, 100, 3), 1_200_000)])
def test_a_head_is_counted_at_every_position(shape, macs):
    """TylerYep/torchinfo#77"""
    head = nn.Linear(3, 8)
    assert measure.macs(head, torch.zeros(shape)) == macs
    assert audit(head, torch.zeros(shape)).agrees
    assert audit(head, torch.zeros(shape)).macs == macs


@pytest.mark.parametrize(
    ("cell", "size", "small"),
    [("rnn", 47_775_744, 848), ("gru", 204_800_000, 3_648), ("lstm", 204_800_000, 3_648)],
)
def test_the_memory_of_a_cell_depends_on_what_its_kernel_keeps(cell, size, small):
    """pytorch/pytorch#2895"""
    spec = StackSpec(cell, 128, 512, 4)
    assert sum(spec.storage_terms(100, 32, scheme="native").values()) == size
    assert measure.saved_bytes(CELLS[cell](128, 512, 4, device="meta"), meta(100, 32, 128)) == size
    assert sum(StackSpec(cell, 3, 5).storage_terms(6, 4, scheme="native").values()) == small
    assert measure.saved_bytes(CELLS[cell](3, 5), torch.zeros(6, 4, 3)) == small


@pytest.mark.parametrize(
    ("width", "rows", "kept", "macs", "parameters"),
    [
        (1024, 10_240, 4_194_304_000, 100 * 10_240 * 1024**2, 1_049_600),
        (16, 32, 204_800, 819_200, 272),
    ],
)
def test_a_module_used_a_hundred_times_keeps_and_multiplies_a_hundred_times(
    width, rows, kept, macs, parameters
):
    """TylerYep/torchinfo#144"""
    linear = nn.Linear(width, width, device="meta")
    result = audit(nn.Sequential(*[linear] * 100), meta(rows, width))
    assert (result.storage, result.macs, result.parameters) == (kept, macs, parameters)
    assert result.agrees


def test_a_layer_normalised_lstm_has_one_shift():
    """pytorch/benchmark#47, pytorch/pytorch#11335, seba-1511/lstms.pth#3"""
    # Weights 160, gains 20 + 20, shift 20, gain and shift on c 10.
    assert StackSpec("lstm", 3, 5, layer_norm="gates").parameters() == 230


def test_sequences_of_no_length_cost_nothing():
    """pytorch/pytorch#11514, #4582, #50192"""
    spec = StackSpec("lstm", 3, 5)
    assert spec.macs(lengths=[5, 0, 2]) == 7 * 160  # seven tokens, not 15
    assert spec.storage(lengths=[5, 0, 2]) == 7 * 30 * 4
    assert spec.macs(steps=0, batch=4) == spec.storage(steps=0, batch=4) == 0
    with pytest.raises(RuntimeError):
        measure.macs(nn.LSTM(3, 5), torch.zeros(0, 4, 3))
    assert audit(nn.LSTM(3, 5), torch.zeros(6, 0, 3)).macs == 0


def test_bfloat16_halves_what_is_kept():
    """pytorch/pytorch#88136, #116925"""
    lstm = nn.LSTM(3, 5, dtype=torch.bfloat16)
    x = torch.zeros(6, 4, 3, dtype=torch.bfloat16)
    assert measure.saved_bytes(lstm, x) == 1_824
    terms = StackSpec("lstm", 3, 5).storage_terms(6, 4, scheme="native", dtype="bfloat16")
    assert sum(terms.values()) == 1_824
    assert audit(lstm, x).agrees


def test_an_lstm_is_not_counted_as_zero_with_a_warning():
    """facebookresearch/fvcore#98"""
    x = torch.zeros(5, 3, 10)
    assert StackSpec("lstm", 10, 20).macs(5, 3) == 36_000
    assert measure.macs(nn.LSTM(10, 20), x) == 36_000
    assert audit(nn.LSTM(10, 20), x).macs == 36_000


def test_an_audit_of_packed_input_counts_work_and_never_time():
    """pytorch/pytorch#149194"""
    lstm, x = nn.LSTM(3, 5), torch.zeros(6, 4, 3)
    packed = audit(lstm, pack_padded_sequence(x, [6, 4, 3, 1]))
    assert (packed.macs, audit(lstm, x).macs) == (14 * 160, 24 * 160)
    assert {row.quantity for row in packed.rows} == {"parameters", "MACs", "bytes kept"}
