"""`rnnlib.audit`: agreement where a formula is right, a NO where it is wrong, a name for the rest."""

import itertools
from html.parser import HTMLParser

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import rnnlib
from rnnlib import audit
from rnnlib.audit.parts import LinearPart
from rnnlib.cost import Block

MODULES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
X = torch.zeros(6, 4, 3)
PACKED = pack_padded_sequence(X, [6, 4, 3, 1])


class Model(nn.Module):
    """Parts a, b, … and a forward pass given as a function of them and the inputs."""

    def __init__(self, function, *parts):
        super().__init__()
        self.function = function
        for name, part in zip("abcd", parts, strict=False):
            self.add_module(name, part)

    def forward(self, *inputs):
        return self.function(*self.children(), *inputs)


def sides(result, quantity, convention, name="total"):
    """Closed form and measurement of one row."""
    (row,) = [r for r in result.rows if (r.name, r.quantity, r.convention) == (name, quantity, convention)]
    return row.closed_form, row.measured


def note(result, quantity, convention):
    (row,) = [r for r in result.rows if (r.name, r.quantity, r.convention) == ("total", quantity, convention)]
    return row.note


def disagreements(result):
    return [(row.name, row.quantity, row.convention) for row in result.rows if row.agrees is False]


def unexplained(result):
    """Rows that say NO and do not say why."""
    return [
        (row.name, row.quantity, row.convention)
        for row in result.rows
        if row.agrees is False and not row.note
    ]


# --- Agreement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("cell", "layers", "bidirectional", "proj"),
    [
        (cell, layers, bidirectional, proj)
        for cell, layers, bidirectional, proj in itertools.product(MODULES, (1, 2), (False, True), (0, 2))
        if cell == "lstm" or not proj
    ],
)
def test_both_sides_are_there_and_agree(cell, layers, bidirectional, proj, bias):
    options = {"proj_size": proj} if proj else {}
    module = MODULES[cell](3, 5, layers, bias=bias, bidirectional=bidirectional, **options)
    result = audit(module, X)
    assert result.agrees
    assert result.uncounted == ()
    totals = {(r.quantity, r.convention): r.agrees for r in result.rows if r.name == "total"}
    for quantity, convention in (
        ("parameters", "pytorch"), ("parameters", "single"), ("parameters", "minimal"),
        ("MACs", "forward"), ("MACs", "training"), ("bytes kept", "all"),
    ):  # fmt: skip
        assert totals[quantity, convention] is True


def packed_model(lstm, head, x):
    packed = pack_padded_sequence(x, [6, 4, 3, 1])
    return head(pad_packed_sequence(lstm(packed)[0])[0])


@pytest.mark.parametrize(
    ("module", "inputs", "macs", "training"),
    [
        (nn.LSTM(3, 5, batch_first=True), [X.mT.reshape(4, 6, 3)], 3840, 9680),
        (nn.RNN(3, 5, nonlinearity="relu"), [X], 960, 2420),
        (nn.LSTM(3, 5), [X[:, 0].clone()], 960, 3 * 960 - 100 - 360),
        (nn.GRU(3, 5, batch_first=True), [X[:, 0].clone()], 720, 3 * 720 - 75 - 270),
        (nn.RNN(3, 5), [PACKED], 560, 3 * 560 - 100 - 210),
        (nn.GRU(3, 5), [PACKED], 1680, 3 * 1680 - 300 - 630),
        (nn.LSTM(3, 5), [PACKED], 2240, 5480),
        (nn.LSTM(3, 5), [pack_padded_sequence(X, [1, 6, 3, 4], enforce_sorted=False)], 2240, 5480),
        (nn.LSTM(3, 5, bidirectional=True), [pack_padded_sequence(X, [6] * 4)], 7680, 19_360),
        (nn.LSTM(3, 5), [X.double()], 3840, 9680),
        (nn.LSTM(3, 5), [X.bfloat16()], 3840, 9680),
        (nn.LSTM(3, 5, 2, dropout=0.5), [X], 8640, 23_680),
        (nn.LSTM(3, 5, 2, dropout=0.5).eval(), [X], 8640, 23_680),
        (nn.LSTM(3, 5), [X, (torch.ones(1, 4, 5), torch.ones(1, 4, 5))], 3840, 9680),
        (nn.RNNCell(3, 5), [X[0].clone()], 160, 320),
        (nn.GRUCell(3, 5, bias=False), [X[0].clone(), torch.ones(4, 5)], 480, 960),
        (nn.LSTMCell(3, 5), [X[0].clone(), (torch.ones(4, 5), torch.ones(4, 5))], 640, 1280),
        (nn.LSTMCell(3, 5), [X[0].clone()], 640, 1280),
        (nn.LSTMCell(3, 5), [X[0, 0].clone()], 160, 320),
        (nn.Linear(3, 8), [X], 576, 1152),
        (nn.Linear(3, 8, bias=False), [X[0, 0].clone()], 24, 48),
        (Model(lambda r, h, x: h(r(x)[0]), nn.LSTM(3, 5), nn.Linear(5, 2)), [X], 4080, 9680 + 720),
        (Model(lambda r, h, x: h(r(x)[0][-1]), nn.GRU(3, 5), nn.Linear(5, 2)), [X], 2920, 7260 + 120),
        (Model(lambda r, h, x: h(r(x)[1][-1]), nn.RNN(3, 5), nn.Linear(5, 2)), [X], 1000, 2420 + 120),
        (Model(lambda h, r, x: r(h(x))[0], nn.Linear(3, 5), nn.LSTM(5, 5)), [X], 5160, 720 + 14_000),
        (Model(lambda a, b, x: b(a(x)[0]), nn.GRU(3, 5), nn.GRU(5, 5)), [X], 6480, 7260 + 10_500),
        (Model(lambda a, x: a(x)[0] + a(x)[0], nn.LSTM(3, 5)), [X], 7680, 2 * 9680),
        (Model(packed_model, nn.LSTM(3, 5), nn.Linear(5, 2)), [X], 2240 + 240, 5480 + 720),
        (Model(lambda r, n, x: n(r(x)[0]), nn.LSTM(3, 5), nn.LayerNorm(5)), [X], 3840, 9680),
        (nn.Sequential(nn.Linear(3, 5), nn.Dropout(), nn.Linear(5, 2)), [X], 600, 720 + 720),
    ],
)  # fmt: skip
def test_a_model_of_known_parts_agrees(module, inputs, macs, training):
    first = inputs[0].data if isinstance(inputs[0], nn.utils.rnn.PackedSequence) else inputs[0]
    result = audit(module.to(first.dtype), *inputs)
    assert disagreements(result) == []
    assert result.agrees
    assert sides(result, "MACs", "forward") == (macs, macs)
    assert sides(result, "MACs", "training") == (training, training)


def test_the_totals_are_at_hand():
    result = audit(nn.LSTM(3, 5), X)
    assert (result.parameters, result.macs, result.storage) == (200, 3840, 3648)


def test_there_is_a_row_for_every_layer_and_direction():
    result = audit(nn.GRU(3, 5, 2, bidirectional=True), X)
    names = ["l0", "l0_reverse", "l1", "l1_reverse"]
    assert list(dict.fromkeys(row.name for row in result.rows)) == [*names, "total"]
    assert [sides(result, "parameters", "pytorch", name) for name in names] == [(150,) * 2] * 2 + [
        (255,) * 2
    ] * 2
    assert [sides(result, "parameters", "single", name) for name in names] == [(135,) * 2] * 2 + [
        (240,) * 2
    ] * 2
    assert [sides(result, "parameters", "minimal", name) for name in names] == [(140,) * 2] * 2 + [
        (245,) * 2
    ] * 2
    assert [sides(result, "MACs", "forward", name) for name in names] == [(2880,) * 2] * 2 + [(5400,) * 2] * 2
    assert [sides(result, "bytes kept", "native", name) for name in names] == [(3360, None)] * 4


def test_rows_inside_a_model_carry_the_names_of_its_parts():
    model = Model(lambda r, h, x: h(r(x)[0]), nn.LSTM(3, 5, 2), nn.Linear(5, 2))
    assert list(dict.fromkeys(row.name for row in audit(model, X).rows)) == ["a.l0", "a.l1", "b", "total"]


def test_an_input_that_needs_a_gradient_has_its_products_counted():
    # The audit takes the input as data: 9,680 with and without.
    result = audit(nn.LSTM(3, 5), torch.zeros(6, 4, 3, requires_grad=True))
    assert result.agrees
    assert sides(result, "MACs", "training") == (9680, 9680)


def test_storage_that_has_no_closed_form_is_measured_and_says_why():
    result = audit(nn.LSTM(3, 5, 2, dropout=0.5), X)
    closed, measured = sides(result, "bytes kept", "all")
    # 15 vectors, the mask between the layers and what it left of the first output
    assert (closed, measured) == (None, 288 + 15 * 480 + 480)
    assert note(result, "bytes kept", "all").startswith("dropout=0.5: ")


def test_storage_of_packed_input_is_measured_and_says_why():
    result = audit(nn.LSTM(3, 5), PACKED)
    closed, measured = sides(result, "bytes kept", "all")
    assert closed is None
    assert measured > 14 * 7 * 20
    assert note(result, "bytes kept", "all").startswith("lengths=[6, 4, 3, 1]: ")


def test_torchs_surplus_in_packed_reverse_directions_is_named():
    result = audit(nn.LSTM(3, 5, bidirectional=True), PACKED)
    assert sides(result, "MACs", "training") == (10_960, 11_260)
    assert "torch runs 300 more in the reverse directions" in note(result, "MACs", "training")
    assert disagreements(result) == [("total", "MACs", "training")]


@pytest.mark.parametrize(("cell", "surplus"), [("rnn", "150"), ("gru", "450"), ("lstm", "600")])
def test_the_surplus_is_named_for_every_reverse_direction(cell, surplus):
    result = audit(MODULES[cell](3, 5, 2, bidirectional=True), PACKED)
    closed, measured = sides(result, "MACs", "training")
    assert measured - closed == int(surplus)
    assert f"torch runs {surplus} more" in note(result, "MACs", "training")


def test_the_surplus_is_not_offered_for_a_difference_it_does_not_explain(monkeypatch):
    right = Block.macs
    monkeypatch.setattr(Block, "macs", lambda self, *args, **kw: right(self, *args, **kw) + 1)
    result = audit(nn.LSTM(3, 5, bidirectional=True), PACKED)
    assert "more in the reverse directions" not in note(result, "MACs", "training")


# --- Modules used more than once --------------------------------------------------------------------------


def test_a_linear_used_a_hundred_times_has_its_parameters_once_and_its_products_each_time():
    result = audit(nn.Sequential(*[nn.Linear(16, 16)] * 100), torch.zeros(32, 16))
    assert result.agrees
    assert sides(result, "parameters", "pytorch") == (272, 272)
    assert sides(result, "MACs", "forward") == (819_200, 819_200)
    # Twice as much again in training, but for the gradient to the first input.
    assert sides(result, "MACs", "training") == (3 * 819_200 - 8_192,) * 2
    assert sides(result, "bytes kept", "all") == (204_800, 204_800)


def test_a_linear_shared_by_two_containers_is_one_part():
    linear = nn.Linear(3, 3)
    result = audit(nn.Sequential(nn.Sequential(linear), nn.Sequential(linear)), X)
    assert sides(result, "parameters", "pytorch") == (12, 12)
    assert sides(result, "MACs", "forward") == (432, 432)
    assert result.agrees


def test_a_stack_shared_by_two_containers_is_one_part():
    lstm = nn.LSTM(3, 3)
    halves = [Model(lambda r, x: r(x)[0], lstm) for _ in range(2)]
    result = audit(nn.Sequential(*halves), X)
    assert sides(result, "MACs", "forward") == (2 * 24 * 72,) * 2
    assert result.agrees


def test_two_linears_with_one_weight_share_its_parameters_and_each_its_products():
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    b.weight = a.weight
    result = audit(nn.Sequential(a, b), X)
    assert sides(result, "parameters", "pytorch") == (9 + 3 + 3,) * 2
    assert sides(result, "MACs", "forward") == (432, 432)
    assert result.agrees


class LanguageModel(nn.Module):
    def __init__(self, tied):
        super().__init__()
        self.embedding = nn.Embedding(11, 5)
        self.lstm = nn.LSTM(5, 5)
        self.head = nn.Linear(5, 11)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


@pytest.mark.parametrize(("tied", "single"), [(False, 55 + 220 + 66), (True, 55 + 220 + 11)])
def test_an_embedding_tied_to_the_head_counts_once(tied, single):
    result = audit(LanguageModel(tied), torch.zeros(6, 4, dtype=torch.long))
    assert result.agrees
    assert sides(result, "parameters", "single") == (single, single)
    assert sides(result, "parameters", "pytorch") == (single + 20, single + 20)
    assert sides(result, "MACs", "forward", "head") == (24 * 55, 24 * 55)
    assert sides(result, "MACs", "forward") == (24 * (200 + 55),) * 2
    assert note(result, "bytes kept", "all") == "no closed form beside Embedding"


def test_weights_that_lie_in_one_storage_are_told_apart():
    lstm = nn.LSTM(3, 5, 2)  # as cuDNN lays them out
    vector = nn.utils.parameters_to_vector(lstm.parameters()).detach()
    nn.utils.vector_to_parameters(vector, lstm.parameters())
    assert disagreements(audit(lstm, X)) == []


# --- What has no closed form ------------------------------------------------------------------------------


class Gain(nn.Module):
    """A user's module with a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.gain


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.attention(x, x, x)[0])


@pytest.mark.parametrize(
    ("module", "x", "named"),
    [
        (nn.Sequential(nn.Conv1d(4, 4, 1), nn.Linear(3, 2)), X, "0 (Conv1d): 20 parameters"),
        (nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(4)), X, "1 (BatchNorm1d): 8 parameters"),
        (Attending(), torch.zeros(6, 2, 4), "attention (MultiheadAttention): 80 parameters"),
        (Attending().eval(), torch.zeros(6, 2, 4), "attention (MultiheadAttention): 80 parameters"),
        (nn.Sequential(nn.Linear(3, 3), Gain()), X, "1 (Gain): 3 parameters"),
        (Gain(), X, "the module (Gain): 3 parameters"),
        (nn.PReLU(), X, "the module (PReLU): 1 parameters"),
        (nn.Sequential(nn.Sequential(Gain())), X, "0.0 (Gain): 3 parameters"),
    ],
)
def test_a_module_without_closed_forms_is_named(module, x, named):
    result = audit(module, x)
    assert named in result.uncounted
    assert not result.agrees
    assert f"not counted: {named}" in str(result).splitlines()
    assert f"not counted: {named}" in result._repr_html_()
    totals = [row for row in result.rows if row.name == "total"]
    assert totals
    assert [row.closed_form for row in totals] == [None] * len(totals)


def test_the_products_of_a_module_without_closed_forms_are_counted_all_the_same():
    result = audit(nn.Sequential(nn.Conv1d(4, 4, 1), nn.Linear(3, 2)), X)
    assert "288 multiply-accumulates outside the modules above" in result.uncounted  # 6 * 3 * 4 * 4
    assert result.macs == 288 + 144


@pytest.mark.parametrize(
    ("function", "macs"),
    [
        (lambda linear, x: linear(x) @ x.mT, 288),  # 6 * 4 * 4 * 3
        (lambda linear, x: torch.einsum("tnd,tmd->tnm", linear(x), x), 288),
        (lambda linear, x: F.linear(linear(x), torch.ones(5, 3)), 360),  # 24 * 3 * 5
        (lambda linear, x: F.scaled_dot_product_attention(linear(x)[None], x[None], x[None]), 2 * 288),
    ],
)
def test_a_product_of_two_activations_is_not_silent(function, macs):
    result = audit(Model(function, nn.Linear(3, 3)), X)
    assert result.uncounted == (f"{macs} multiply-accumulates outside the modules above",)
    assert result.macs == 216 + macs
    assert not result.agrees


def test_the_parts_of_a_model_with_a_parameter_of_its_own_are_audited_too():
    class Learned(nn.Module):
        def __init__(self):
            super().__init__()
            self.h0 = nn.Parameter(torch.zeros(1, 4, 5))
            self.rnn = nn.RNN(3, 5)

        def forward(self, x):
            return self.rnn(x, self.h0)[0]

    result = audit(Learned(), X)
    assert sides(result, "MACs", "forward", "rnn.l0") == (960, 960)
    assert [name for name in result.uncounted if "20 parameters" in name]
    assert not result.agrees


@pytest.mark.parametrize("name", ["RNN", "LSTM"])
def test_a_model_that_is_named_like_a_cell_is_taken_apart_like_any_other(name):
    def __init__(self):
        nn.Module.__init__(self)
        self.input_size, self.hidden_size = 3, 5
        self.cell, self.head = nn.GRU(3, 5), nn.Linear(5, 2)

    def forward(self, x):
        return self.head(self.cell(x)[0])

    model = type(name, (nn.Module,), {"__init__": __init__, "forward": forward})()
    result = audit(model, X)
    assert sides(result, "parameters", "pytorch") == (162, 162)
    assert result.agrees


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (lambda part, x: part(input=x)[0], nn.LSTM(3, 5)),
        (lambda part, x: part(input=x), nn.Linear(3, 5)),
    ],
)
def test_a_part_may_be_called_by_keyword(function, part):
    assert audit(Model(function, part), X).agrees


@pytest.mark.parametrize("weighted", [nn.Linear(3, 5), nn.LSTM(3, 5)])
def test_a_parametrised_module_is_named_or_counted_but_does_not_break_the_audit(weighted):
    name = "weight" if isinstance(weighted, nn.Linear) else "weight_hh_l0"
    result = audit(nn.utils.parametrizations.weight_norm(weighted, name), X)
    assert result.uncounted or result.agrees


def test_a_module_without_parameters_has_nothing_to_train():
    result = audit(nn.Tanh(), X)
    assert (result.parameters, result.macs) == (0, 0)


def test_frozen_parameters_are_named_where_the_closed_form_presumes_gradients():
    frozen = audit(nn.LSTM(3, 5).requires_grad_(False), X)
    assert unexplained(frozen) == []
    model = Model(lambda r, h, x: h(r(x)[0]), nn.LSTM(3, 5).requires_grad_(False), nn.Linear(5, 2))
    result = audit(model, X)
    assert sides(result, "MACs", "training") == (None, 4080 + 240)
    assert note(result, "MACs", "training") == "some parameters take no gradient"
    assert unexplained(result) == []


def test_an_initial_state_that_needs_a_gradient_is_named():
    model = Model(lambda a, b, x: b(x, a(x)[1])[0], nn.GRU(3, 5), nn.GRU(3, 5))
    result = audit(model, X)
    # One more gradient, to the second GRU's first state: 4 * 75.
    assert sides(result, "MACs", "training") == (None, 2 * 7260 + 300)
    assert note(result, "MACs", "training") == "an initial state needs a gradient"
    assert result.agrees


def unrolled(cell, x):
    h = None
    for step in x:
        h = cell(step, h)
    return h


@pytest.mark.parametrize(
    ("module", "inputs"),
    [
        (Model(unrolled, nn.RNNCell(3, 5)), [X]),
        (Model(unrolled, nn.GRUCell(3, 5)), [X]),
        (Model(unrolled, nn.LSTMCell(3, 5)), [X]),
        (nn.RNN(3, 5), [torch.zeros(6, 10, 3)[:, :4]]),
        (nn.RNN(3, 5), [torch.zeros(6, 1, 3).expand(6, 4, 3)]),
        (nn.LSTM(3, 5), [X, (H0 := torch.zeros(1, 4, 5), H0)]),
        (nn.RNN(3, 5), [X, torch.zeros(3, 4, 5)[:1]]),
        (Model(lambda r, h, x: F.log_softmax(h(r(x)[0]), -1), nn.LSTM(3, 5), nn.Linear(5, 2)), [X]),
    ],
    ids=[
        "RNN cell in a loop",
        "GRU cell in a loop",
        "LSTM cell in a loop",
        "part of a batch",
        "one sequence repeated",
        "one tensor for h and c",
        "a slice of states",
        "a function after the head",
    ],
)
def test_a_verdict_of_no_never_stands_without_a_reason(module, inputs):
    result = audit(module, *inputs)
    assert unexplained(result) == []
    assert sides(result, "MACs", "forward")[0] == result.macs


# --- Stacks of this library -------------------------------------------------------------------------------

STACKS = {"rnn": rnnlib.RNN, "gru": rnnlib.GRU, "lstm": rnnlib.LSTM}
SCHEMES = ("native", "gates", "gates+tanh", "recompute")


# Vectors of 480 bytes a layer keeps, the initial states (80 bytes each) and the input.
@pytest.mark.parametrize(
    ("cell", "scheme", "kept"),
    [
        ("rnn", "native", 480 + 80 + 288),
        ("rnn", "gates", 480 + 80 + 288),
        ("rnn", "recompute", 480 + 80 + 288),
        ("gru", "native", 7 * 480 + 288),
        ("gru", "gates", 5 * 480 + 80 + 288),
        ("gru", "gates+tanh", 5 * 480 + 80 + 288),
        ("gru", "recompute", 480 + 80 + 288),
        ("lstm", "native", 7 * 480 + 288),
        ("lstm", "gates", 6 * 480 + 160 + 288),
        ("lstm", "gates+tanh", 7 * 480 + 160 + 288),
        ("lstm", "recompute", 2 * 480 + 160 + 288),
    ],
)
def test_a_storage_scheme_keeps_what_its_closed_form_says(cell, scheme, kept):
    result = audit(STACKS[cell](3, 5, storage=scheme), X)
    assert sides(result, "bytes kept", "all") == (kept, kept)


@pytest.mark.parametrize(("cell", "macs"), [("rnn", 40), ("gru", 120), ("lstm", 160)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_storage_scheme_does_not_change_the_forward_products(cell, macs, scheme):
    result = audit(STACKS[cell](3, 5, storage=scheme), X)
    assert sides(result, "MACs", "forward") == (24 * macs, 24 * macs)


@pytest.mark.parametrize(
    ("cell", "training"),
    # Recomputing runs the forward products once more in the backward pass; the RNN has nothing to recompute.
    [("rnn", 2420), ("gru", 7260 + 2880), ("lstm", 9680 + 3840)],
)
def test_recomputing_costs_a_second_forward_pass_and_the_audit_says_so(cell, training):
    result = audit(STACKS[cell](3, 5, storage="recompute"), X)
    assert sides(result, "MACs", "training")[1] == training
    assert unexplained(result) == []


@pytest.mark.parametrize(
    "options",
    [
        {"num_layers": 2, "bidirectional": True},
        {"num_layers": 3, "residual": True},
        {"num_layers": 2, "layer_norm": "output"},
        {"num_layers": 2, "layer_norm": "output", "residual": True, "bidirectional": True},
        {"layer_norm": "gates"},
        {"num_layers": 2, "dropout": 0.5},
        {"weight_dropout": 0.3},
    ],
    ids=str,
)
@pytest.mark.parametrize("scheme", ["native", "gates", "recompute"])
@pytest.mark.parametrize("cell", STACKS)
def test_a_stack_of_this_library_agrees_or_says_why_not(cell, scheme, options):
    if options.get("layer_norm") == "gates" and scheme != "native" and cell != "lstm":
        with pytest.raises(ValueError, match=r"^storage="):
            STACKS[cell](3, 5, storage=scheme, **options)
        return
    assert unexplained(audit(STACKS[cell](3, 5, storage=scheme, **options), X)) == []


# Parameters by hand: layer 0 and layer 1 of each convention are 150 and 180 for the GRU, two biases.
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, 150 + 180),
        ({"layer_norm": "output"}, 150 + 180 + 2 * 10),
        ({"layer_norm": "gates"}, 170 + 200),
        ({"residual": True}, 150 + 180),
        ({"bidirectional": True}, 2 * (150 + 255)),
        ({"bidirectional": True, "layer_norm": "output"}, 2 * (150 + 255) + 2 * 20),
    ],
)
def test_the_parameters_of_a_stack_of_this_library_agree(options, parameters):
    result = audit(rnnlib.GRU(3, 5, 2, **options), X)
    assert sides(result, "parameters", "pytorch") == (parameters, parameters)
    assert [r for r in result.rows if r.quantity == "parameters" and not r.agrees] == []


# --- A wrong formula --------------------------------------------------------------------------------------


def one_more(function):
    return lambda *args, **kwargs: function(*args, **kwargs) + 1


def a_gate_too_many(shapes):
    def wrong(self, bias="pytorch"):
        right = shapes(self, bias)
        first, (rows, columns) = next(iter(right.items()))
        return right | {first: (rows + self.hidden_size, columns)}

    return wrong


CONVENTIONS = ("pytorch", "single", "minimal")
BROKEN = {
    "products": (
        Block, "macs", one_more,
        [("a.l0", "MACs", "forward"), ("a.l1", "MACs", "forward"),
         ("total", "MACs", "forward"), ("total", "MACs", "training")],
    ),
    "shapes": (
        Block, "parameter_shapes", a_gate_too_many,
        [(name, "parameters", c) for name in ("a.l0", "a.l1", "total") for c in CONVENTIONS],
    ),
    "storage": (Block, "floats_per_step", one_more, [("total", "bytes kept", "all")]),
    "products of a head": (
        LinearPart, "macs", one_more,
        [("b", "MACs", "forward"), ("total", "MACs", "forward"), ("total", "MACs", "training")],
    ),
    "parameters of a head": (
        LinearPart, "closed_parameters", lambda right: lambda self, convention: {"weight": 10, "bias": 3},
        [("b", "parameters", "pytorch"), *(("total", "parameters", c) for c in CONVENTIONS)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("formula", BROKEN)
def test_a_formula_broken_on_purpose_is_found_out_in_every_row_it_feeds(formula, monkeypatch):
    model = Model(lambda r, h, x: h(r(x)[0]), nn.GRU(3, 5, 2), nn.Linear(5, 2))
    assert audit(model, X).agrees
    owner, method, breaking, wrong = BROKEN[formula]
    monkeypatch.setattr(owner, method, breaking(getattr(owner, method)))
    result = audit(model, X)
    assert not result.agrees
    assert disagreements(result) == wrong
    lines = [line.split() for line in str(result).splitlines()]
    assert len([cells for cells in lines if cells[-1].lower() == "no"]) == len(wrong)


def test_a_module_that_is_not_what_it_says_is_found_out():
    lstm = nn.LSTM(3, 5)
    lstm.hidden_size = 6
    lstm.forward = lambda x: nn.LSTM(3, 5)(x)
    assert not audit(lstm, X).agrees


# --- The table --------------------------------------------------------------------------------------------

WIDE = audit(Model(lambda r, h, x: h(r(x)[0]), nn.LSTM(3, 500, 2), nn.Linear(500, 2)), X)


def test_the_columns_of_the_table_line_up():
    header, rule, *lines = str(WIDE).splitlines()
    columns = [len(dashes) for dashes in rule.split("  ")]
    starts = [sum(columns[:k]) + 2 * k for k in range(len(columns))]
    cells = [[line.ljust(len(rule))[s : s + w] for s, w in zip(starts, columns, strict=True)]
             for line in (header, *lines)]  # fmt: skip
    assert len(lines) == len(WIDE.rows)
    assert all("  ".join(row).rstrip() == line for row, line in zip(cells, (header, *lines), strict=True))
    for row in cells:
        left, right = row[:3] + row[5:], row[3:5]
        assert not [cell for cell in left if cell.startswith(" ") and cell.strip()]
        assert not [cell for cell in right if cell.endswith(" ")]
    assert [cell.strip() for cell in cells[0]] == [
        "name", "quantity", "convention", "closed form", "measured", "agrees",
    ]  # fmt: skip


def test_the_table_shows_numbers_in_thousands_and_verdicts_in_words():
    lines = [line.split() for line in str(audit(nn.RNN(3, 5), X)).splitlines()]
    assert ["total", "MACs", "training", "2,420", "2,420", "yes"] in lines
    assert ["l0", "bytes", "kept", "native", "480", "-", "-"] in lines


def test_printing_and_echoing_show_the_same_table():
    assert repr(WIDE) == str(WIDE)


class TableReader(HTMLParser):
    """Collects the cells of every row and checks that tags close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.rows, self.cells, self.scopes = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "th":
            self.scopes.append(dict(attrs).get("scope"))
        self.open.append(tag)
        self.seen.append("/".join(self.open))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.rows.append(self.cells)
            self.cells = []

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_a_notebook_shows_a_real_table_with_headings():
    table = TableReader(WIDE._repr_html_())
    assert table.open == []
    assert {"table/thead/tr/th", "table/tbody/tr/td"} <= set(table.seen)
    assert table.scopes[:6] == ["col"] * 6
    assert None not in table.scopes
    header, *rows = table.rows
    assert header == ["name", "quantity", "convention", "closed form", "measured", "agrees"]
    assert len(rows) == len(WIDE.rows)
    assert all(len(row) == 6 for row in rows)
    assert ["total", "MACs", "forward"] in [row[:3] for row in rows]
    assert [row[0] for row in rows] == [row.name for row in WIDE.rows]


def test_names_are_escaped_in_html():
    name = '<img src="x">&'
    strange = type("Strange<b>", (Gain,), {})
    model = nn.Sequential()
    model.add_module(name, nn.Linear(3, 3))
    model.add_module("other", strange())
    html = audit(model, X)._repr_html_()
    assert "<img" not in html
    assert "<b>" not in html
    assert TableReader(html).rows[1][0] == name
    assert "other (Strange&lt;b&gt;)" in html
