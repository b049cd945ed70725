"""`match` and `matched_width` against a search through every width."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnlib import Match, StackSpec, match, matched_width

GATES = {"rnn": 1, "gru": 3, "lstm": 4}

thorough = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def count(cell, D, H, *, bias="pytorch", num_layers=1, bidirectional=False, proj_size=0):
    """Parameters of a stack, layer by layer, written once more."""
    g, W = GATES[cell], proj_size or H
    directions = 2 if bidirectional else 1
    biases = {"none": 0, "single": g * H, "minimal": g * H + H * (cell == "gru"), "pytorch": 2 * g * H}[bias]
    first = g * H * (D + W) + biases + proj_size * H
    upper = g * H * (directions * W + W) + biases + proj_size * H
    return directions * (first + (num_layers - 1) * upper)


def search(counts, target, below):
    """(width, count) of the best of all widths, given the count of each."""
    if below:
        return max((c, w) for w, c in counts.items() if c <= target)[::-1]
    width = min(counts, key=lambda w: (abs(counts[w] - target), w))
    return width, counts[width]


@st.composite
def problems(draw):
    cell = draw(st.sampled_from(["rnn", "gru", "lstm"]))
    options = {
        "bias": draw(st.sampled_from(["pytorch", "single", "minimal", "none"])),
        "num_layers": draw(st.integers(1, 4)),
        "bidirectional": draw(st.booleans()),
    }
    if cell == "lstm":
        options["proj_size"] = draw(st.integers(0, 4))
    return cell, draw(st.integers(0, 12)), options


@thorough
@given(problems(), st.integers(1, 2000), st.booleans(), st.sampled_from([0, 7, 10]))
def test_the_match_is_the_best_of_all_widths(problem, target, below, classes):
    cell, D, options = problem
    extra = (lambda H: classes * H + classes) if classes else None
    first = options.get("proj_size", 0) + 1
    # A width adds at least one parameter, so no better one lies beyond these.
    counts = {H: count(cell, D, H, **options) + classes * (H + 1) for H in range(first, target + 6)}
    found = partial(match, cell, D, target, extra=extra, below=below, **options)
    if below and target < counts[first]:
        with pytest.raises(ValueError, match=f"^target={target}: .*{first} has {counts[first]} parameters"):
            found()
    else:
        result = found()
        assert (result.hidden_size, result.parameters) == search(counts, target, below)
        assert result.target == target
        assert matched_width(cell, D, target, extra=extra, below=below, **options) == result.hidden_size


def test_the_gru_that_matches_the_lstm_of_the_worked_problem_has_width_six():
    # 3 * 6 * (3 + 6 + 1) = 180 exactly, one bias; with two 3 * 6 * 11 = 198 against 200.
    assert match("gru", 3, 180, bias="single") == Match(6, 180, 180)
    assert match("gru", 3, 200) == Match(6, 198, 200)


def test_the_reset_after_gru_does_not_match_exactly():
    # Its b_hn makes 180 + 6 = 186; at width 5 it has 140.
    assert match("gru", 3, 180, bias="minimal") == Match(6, 186, 180)
    assert match("gru", 3, 180, bias="minimal", below=True) == Match(5, 140, 180)


def test_no_plain_rnn_matches_the_lstm_exactly():
    # 11 * 15 = 165 is 15 away and 12 * 16 = 192 is 12 away.
    assert match("rnn", 3, 180, bias="single") == Match(12, 192, 180)
    assert match("rnn", 3, 180, bias="single", below=True) == Match(11, 165, 180)


@pytest.mark.parametrize(
    ("target", "nearest", "below"),
    [
        # H(H + 3), one bias: 28 at 4, 40 at 5
        (33, 4, 4),
        (34, 4, 4),  # 6 away from both
        (35, 5, 4),
        (39, 5, 4),
        (40, 5, 5),
        (41, 5, 5),
    ],
)
def test_a_tie_goes_to_the_smaller_width(target, nearest, below):
    assert matched_width("rnn", 2, target, bias="single") == nearest
    assert matched_width("rnn", 2, target, bias="single", below=True) == below


def test_a_target_below_the_narrowest_stack_takes_the_narrowest():
    assert match("lstm", 3, 1) == Match(1, 4 * (3 + 1 + 2), 1)


def test_a_projected_stack_is_wider_than_its_projection():
    # 4 * 5 * (3 + 4 + 2) + 4 * 5 = 200 at the narrowest legal width, 5
    assert match("lstm", 3, 1, proj_size=4) == Match(5, 200, 1)


@pytest.mark.parametrize("layer_norm", ["gates", "output"])
def test_norms_count_towards_the_match(layer_norm):
    # "gates": 4H(3 + H) + 12H + 2H, 230 at 5; "output": 4H(3 + H + 2) + 2H, 210 at 5
    target = {"gates": 230, "output": 210}[layer_norm]
    assert match("lstm", 3, target, layer_norm=layer_norm) == Match(5, target, target)


@pytest.mark.parametrize(
    ("width", "layers", "matched"),
    [
        (512, 2, 341), (512, 3, 277), (512, 4, 239), (512, 6, 196), (512, 8, 171),
        (128, 2, 85), (128, 3, 69), (128, 4, 60), (128, 6, 49), (128, 8, 43),
    ],
)  # fmt: skip
def test_a_deeper_lstm_of_equal_parameters_is_narrower(width, layers, matched):
    target = 4 * width * (2 * width + 1)  # one LSTM layer as wide as its input, one bias per gate
    assert matched_width("lstm", width, target, num_layers=layers, bias="single") == matched


DIGITS = {"cell": "lstm", "input_size": 1, "extra": lambda H: 10 * H + 10}  # a pixel a step, ten classes


@pytest.mark.parametrize(
    ("depth", "width", "parameters"),
    [
        (1, 89, 4 * 89 * (1 + 89 + 2) + 900),
        (2, 52, 4 * 52 * (1 + 52 + 2) + 4 * 52 * (2 * 52 + 2) + 530),
        (3, 40, 4 * 40 * (1 + 40 + 2) + 2 * 4 * 40 * (2 * 40 + 2) + 410),
        (4, 34, 4 * 34 * (1 + 34 + 2) + 3 * 4 * 34 * (2 * 34 + 2) + 350),
        (6, 27, 4 * 27 * (1 + 27 + 2) + 5 * 4 * 27 * (2 * 27 + 2) + 280),
    ],
)
def test_the_budget_for_the_digits_is_met_below_one_percent_at_every_depth(depth, width, parameters):
    found = match(target=33_770, num_layers=depth, **DIGITS)
    assert found == Match(width, parameters, 33_770)
    assert abs(parameters - 33_770) * 100 < 33_770
    assert abs(found.mismatch) < 1


def test_thirty_thousand_would_miss_by_more_than_one_percent_at_some_depth():
    # Depth 6: 29,060 at width 25 and 31,366 at 26
    mismatches = [match(target=30_000, num_layers=depth, **DIGITS).mismatch for depth in (1, 2, 3, 4, 6)]
    assert max(map(abs, mismatches)) > 1


def test_the_mismatch_is_signed_and_in_percent_of_the_target():
    assert match("rnn", 2, 32, bias="single").mismatch == -12.5  # 28 against 32
    assert match("rnn", 2, 35, bias="single").mismatch == 100 * 5 / 35  # 40 against 35
    assert match("rnn", 2, 40, bias="single").mismatch == 0


def test_a_rest_of_the_model_that_does_not_grow_is_legal():
    # 28 + 100 and 40 + 100
    assert match("rnn", 2, 139, bias="single", extra=lambda H: 100) == Match(5, 140, 139)


def test_a_large_target_is_matched_exactly():
    target = StackSpec("lstm", 1024, 65_536, 4).parameters()
    assert match("lstm", 1024, target, num_layers=4) == Match(65_536, target, target)


@pytest.mark.parametrize("value", [0, -5, 1.5, 180.0, "180", None, True])
def test_a_target_that_is_no_positive_integer_is_refused(value):
    with pytest.raises(ValueError) as error:
        matched_width("lstm", 3, value)
    assert str(error.value) == f"target={value!r}: expected a positive integer"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cell": "LSTM"}, "cell='LSTM': expected one of"),
        ({"input_size": -1}, "input_size=-1: expected a non-negative integer"),
        ({"bias": "keras"}, "bias='keras': expected one of"),
        ({"bias": False}, "bias=False: expected one of"),
        ({"num_layers": 0}, "num_layers=0: expected a positive integer"),
        ({"proj_size": -1}, "proj_size=-1: expected a non-negative integer"),
        ({"cell": "gru", "proj_size": 2}, "proj_size=2: expected 0 for a gru"),
        ({"layer_norm": "input"}, "layer_norm='input': expected one of"),
    ],
)
def test_bad_dimensions_are_refused_as_a_spec_refuses_them(arguments, message):
    with pytest.raises(ValueError) as error:
        match(**{"cell": "lstm", "input_size": 3, "target": 180} | arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("value", [1.5, "8"])
def test_a_rest_of_the_model_that_is_no_integer_is_refused(value):
    with pytest.raises(ValueError, match=r"^extra=.*: expected"):
        match("lstm", 3, 180, extra=lambda H: value)
