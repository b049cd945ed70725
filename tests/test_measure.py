"""`rnnlib.measure` against hand arithmetic, and that measuring leaves no trace."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from calls import Calls
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence
from torch.utils.flop_counter import FlopCounterMode

import rnnlib
from rnnlib import StackSpec, measure

pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")

MODULES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def padded(steps=6, batch=4, size=3, **options):
    return torch.zeros(steps, batch, size, **options)


# --- Parameters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "count"),
    [
        (nn.RNN(3, 5), 50),
        (nn.GRU(3, 5, bias=False), 120),
        (nn.LSTMCell(3, 5), 200),
        (nn.LSTM(4, 3, 2, proj_size=2, bidirectional=True), 408),
        (nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2)), 20 + 12),
    ],
)
def test_parameters_are_counted(module, count):
    assert measure.parameters(module) == count


def test_a_shared_parameter_counts_once():
    linear, embedding = nn.Linear(5, 7, bias=False), nn.Embedding(7, 5)
    linear.weight = embedding.weight
    assert measure.parameters(nn.Sequential(linear, linear, embedding)) == 35


# --- Multiply-accumulates ---------------------------------------------------------------------------------

KINDS = [
    # module, inputs, tokens * products of one token, bytes kept
    (nn.RNN(3, 5), [padded()], 24 * 40),
    (nn.RNN(3, 5, nonlinearity="relu"), [padded()], 24 * 40),
    (nn.GRU(3, 5), [padded()], 24 * 120),
    (nn.LSTM(3, 5), [padded()], 24 * 160),
    (nn.LSTM(3, 5, bias=False), [padded()], 24 * 160),
    (nn.LSTM(3, 5, batch_first=True), [padded(4, 6)], 24 * 160),
    (nn.GRU(3, 5, batch_first=True), [padded(4, 6)], 24 * 120),
    (nn.LSTM(3, 5, 3, dropout=0.5), [padded()], 24 * (160 + 200 + 200)),
    (nn.RNN(3, 5, 2, bidirectional=True), [padded()], 24 * 2 * (40 + 75)),
    (nn.GRU(3, 5, bidirectional=True), [padded()], 24 * 2 * 120),
    (nn.LSTM(3, 5, 2, bidirectional=True), [padded()], 24 * 2 * (160 + 300)),
    (nn.LSTM(3, 5, proj_size=2), [padded()], 24 * (100 + 10)),
    (nn.LSTM(3, 5, 2, proj_size=2, bidirectional=True), [padded()], 24 * 2 * (110 + 20 * 6 + 10)),
    (nn.LSTM(3, 5), [pack_padded_sequence(padded(), [6, 4, 3, 1])], 14 * 160),
    (nn.GRU(3, 5), [pack_padded_sequence(padded(), [3, 6, 1, 4], enforce_sorted=False)], 14 * 120),
    (nn.RNN(3, 5, bidirectional=True), [pack_padded_sequence(padded(), [6, 4, 3, 1])], 14 * 80),
    (nn.LSTM(3, 5, batch_first=True), [pack_sequence([padded(2, 1)[:, 0], padded(1, 1)[:, 0]])], 3 * 160),
    (nn.LSTM(3, 5), [torch.zeros(6, 3)], 6 * 160),
    (nn.GRU(3, 5, batch_first=True), [torch.zeros(6, 3)], 6 * 120),
    (nn.LSTM(3, 5), [padded(), (torch.ones(1, 4, 5), torch.ones(1, 4, 5))], 24 * 160),
    (nn.RNNCell(3, 5), [torch.zeros(4, 3)], 4 * 40),
    (nn.RNNCell(3, 5, nonlinearity="relu"), [torch.zeros(4, 3)], 4 * 40),
    (nn.GRUCell(3, 5), [torch.zeros(4, 3), torch.ones(4, 5)], 4 * 120),
    (nn.LSTMCell(3, 5), [torch.zeros(4, 3)], 4 * 160),
    (nn.LSTMCell(3, 5, bias=False), [torch.zeros(3)], 160),
    (nn.GRU(3, 5, dtype=torch.float64), [padded(dtype=torch.float64)], 24 * 120),
    (nn.LSTM(3, 5, dtype=torch.float64), [padded(dtype=torch.float64)], 24 * 160),
    (nn.LSTM(3, 5, dtype=torch.bfloat16), [padded(dtype=torch.bfloat16)], 24 * 160),
    (nn.RNN(3, 5, dtype=torch.bfloat16), [padded(dtype=torch.bfloat16)], 24 * 40),
    (nn.LSTM(3, 5, dtype=torch.float16), [padded(dtype=torch.float16)], 24 * 160),
    (nn.LSTM(3, 5, device="meta"), [padded(device="meta")], 24 * 160),
    (nn.Linear(3, 8), [padded()], 24 * 24),
]


@pytest.mark.parametrize(("module", "inputs", "macs"), KINDS)
def test_every_product_is_counted(module, inputs, macs):
    assert measure.macs(module, *inputs) == macs


@pytest.mark.parametrize(
    ("module", "x", "training", "with_input_grad"),
    [
        # 3F - N g H^2 - T N g H D, and T N g H D more with a gradient to the input
        (nn.RNN(3, 5), padded(), 3 * 960 - 100 - 360, 2420 + 360),
        (nn.GRU(3, 5), padded(), 3 * 2880 - 300 - 1080, 7260 + 1080),
        (nn.LSTM(3, 5), padded(), 3 * 3840 - 400 - 1440, 9680 + 1440),
        (nn.LSTM(3, 5, batch_first=True), padded(4, 6), 9680, 11_120),
        (nn.LSTM(3, 5, 2), padded(), 9680 + 14_000, 11_120 + 14_000),
        (nn.LSTM(3, 5), padded(1), 2 * 640, 2 * 640 + 240),
        (nn.LSTMCell(3, 5), torch.zeros(4, 3), 2 * 640, 2 * 640 + 240),
        (nn.LSTM(3, 5, proj_size=2), padded(), 6320, 6320 + 1440),
        # 3F - the first steps of four sequences - 14 tokens of input gradient
        (nn.LSTM(3, 5), pack_padded_sequence(padded(), [6, 4, 3, 1]), 5480, 5480 + 14 * 60),
        # and on top of both directions' 5,480 the three sequences that end before the longest
        (nn.LSTM(3, 5, bidirectional=True), pack_padded_sequence(padded(), [6, 4, 3, 1]), 11_260, 12_940),
        (nn.Linear(3, 8), padded(), 2 * 576, 3 * 576),
    ],
)
def test_training_counts_the_backward_pass_too(module, x, training, with_input_grad):
    assert measure.macs(module, x, training=True) == training
    assert measure.macs(module, x, training=True, input_grad=True) == with_input_grad
    assert measure.macs(module, x, input_grad=True) == measure.macs(module, x)


def test_training_needs_no_gradient_to_an_input_that_happens_to_take_one():
    assert measure.macs(nn.LSTM(3, 5), padded(requires_grad=True), training=True) == 9680


def test_products_are_named_by_the_weight_that_was_multiplied():
    lstm = nn.LSTM(3, 5, proj_size=2, bidirectional=True)
    forward = {"weight_ih_l0": 24 * 60, "weight_hh_l0": 24 * 40, "weight_hr_l0": 24 * 10}
    expected = forward | {f"{name}_reverse": macs for name, macs in forward.items()}
    assert measure.macs_by_parameter(lstm, padded()) == expected


def test_products_of_two_activations_have_no_name():
    module = Calls(lambda linear, x: linear(x) @ x.mT, nn.Linear(3, 3))
    assert measure.macs_by_parameter(module, padded()) == {"parts.0.weight": 216, "": 6 * 4 * 4 * 3}


def test_products_keep_their_names_where_all_weights_lie_in_one_storage():
    lstm = nn.LSTM(3, 5, 2)  # as cuDNN, and torch.nn.utils.vector_to_parameters, lay them out
    vector = nn.utils.parameters_to_vector(lstm.parameters()).detach()
    nn.utils.vector_to_parameters(vector, lstm.parameters())
    macs = measure.macs_by_parameter(lstm, padded())
    assert macs == {"weight_ih_l0": 1440, "weight_hh_l0": 2400, "weight_ih_l1": 2400, "weight_hh_l1": 2400}


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN")
@pytest.mark.parametrize("bias", [True, False])
def test_an_lstm_is_counted_where_torchs_own_counter_sees_nothing(bias):
    lstm = nn.LSTM(3, 5, bias=bias)
    with FlopCounterMode(display=False) as counter:
        lstm(padded())
    assert counter.get_total_flops() == 0
    assert measure.macs(lstm, padded()) == 3840


A, B = torch.ones(4, 5), torch.ones(5, 6)
P, Q = torch.ones(2, 4, 5), torch.ones(2, 5, 6)
V = torch.ones(5)
S = torch.ones(1, 2, 6, 4)  # batch, heads, positions, width
COUNTED = {
    "mm": (lambda: A @ B, 120),
    "mm.out": (lambda: torch.mm(A, B, out=torch.empty(4, 6)), 120),
    "addmm": (lambda: torch.addmm(torch.ones(6), A, B), 120),
    "addmm_": (lambda: torch.ones(4, 6).addmm_(A, B, alpha=0.5), 120),
    "bmm": (lambda: P @ Q, 240),
    "baddbmm": (lambda: torch.baddbmm(torch.ones(4, 6), P, Q), 240),
    "baddbmm_": (lambda: torch.ones(2, 4, 6).baddbmm_(P, Q, beta=0), 240),
    "addbmm": (lambda: torch.addbmm(torch.ones(4, 6), P, Q), 240),
    "addbmm_": (lambda: torch.ones(4, 6).addbmm_(P, Q), 240),
    "mv": (lambda: A @ V, 20),
    "mv.out": (lambda: torch.mv(A, V, out=torch.empty(4)), 20),
    "addmv": (lambda: torch.addmv(torch.ones(4), A, V), 20),
    "addmv_": (lambda: torch.ones(4).addmv_(A, V), 20),
    "dot": (lambda: V @ V, 5),
    "vdot": (lambda: torch.vdot(V, V), 5),
    "inner": (lambda: torch.inner(A, A), 80),
    "einsum": (lambda: torch.einsum("ij,jk->ik", A, B), 120),
    "tensordot": (lambda: torch.tensordot(A, B, 1), 120),
    "attention": (lambda: F.scaled_dot_product_attention(S, S, S), 2 * (2 * 6 * 6 * 4)),
    "bilinear": (lambda: F.bilinear(torch.ones(7, 3), torch.ones(7, 4), torch.ones(5, 3, 4)), 7 * 5 * 3 * 4),
}


@pytest.mark.parametrize("name", COUNTED)
def test_every_operator_that_multiplies_matrices_is_counted(name):
    function, macs = COUNTED[name]
    counted = measure.macs(Calls(lambda x: function()), padded())
    if name == "bilinear":  # two products; either order is a fair count
        assert counted in (macs, macs + 7 * 5 * 4, macs + 7 * 5 * 3)
    else:
        assert counted == macs


def with_onednn(lstm, x):
    with torch.backends.mkldnn.flags(enabled=True):
        return lstm(x)[0]


def test_an_operator_that_hides_a_whole_layer_is_refused_by_name():
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch was built without oneDNN")
    module = Calls(with_onednn, nn.LSTM(3, 5))
    for training in (False, True):
        with pytest.raises(RuntimeError, match="mkldnn_rnn_layer runs a whole layer as one operator"):
            measure.macs(module, padded(), training=training)
    with pytest.raises(RuntimeError, match="mkldnn_rnn_layer"):
        measure.macs_by_parameter(module, padded())


def test_attention_that_runs_as_one_operator_is_refused_by_name():
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval().requires_grad_(False)
    with pytest.raises(RuntimeError, match="_native_multi_head_attention"):
        measure.macs(Calls(lambda attention, x: attention(x, x, x), attention).eval(), S[0])


@pytest.mark.parametrize(
    "product",
    [
        lambda: torch.sparse.mm(A.to_sparse(), B),
        lambda: torch.ops.aten._addmm_activation(torch.ones(6), A, B),
        lambda: torch._int_mm(torch.ones(32, 32, dtype=torch.int8), torch.ones(32, 32, dtype=torch.int8)),
        lambda: torch.cdist(torch.ones(30, 8), torch.ones(30, 8)),
    ],
    ids=["sparse", "addmm with activation", "integer", "distances"],
)
def test_a_product_behind_a_rarer_operator_is_counted_or_refused_but_not_zero(product):
    try:
        macs = measure.macs(Calls(lambda x: product()), padded())
    except RuntimeError:
        return
    assert macs > 0


# --- Bytes kept -------------------------------------------------------------------------------------------

# T N D + (2L - 1) T N H + L N H floats of an RNN, T N D + (8L - 1) T N H of a GRU or an LSTM.
KEPT = [
    (nn.RNN(3, 5), [padded()], 4 * (72 + 120 + 20)),
    (nn.RNN(3, 5, 3), [padded()], 4 * (72 + 5 * 120 + 60)),
    (nn.GRU(3, 5), [padded()], 4 * (72 + 7 * 120)),
    (nn.GRU(3, 5, 2, bias=False), [padded()], 4 * (72 + 15 * 120)),
    (nn.LSTM(3, 5), [padded()], 4 * (72 + 7 * 120)),
    (nn.LSTM(3, 5, 2, batch_first=True), [padded(4, 6)], 4 * (72 + 15 * 120)),
    (nn.LSTM(3, 5, bidirectional=True), [padded()], 4 * (72 + 14 * 120)),
    (nn.LSTM(3, 5, proj_size=2), [padded()], 4 * (72 + 24 * 37)),
    (nn.LSTM(3, 5), [torch.zeros(6, 3)], 4 * (18 + 7 * 30)),
    (nn.LSTM(3, 5, dtype=torch.float64), [padded(dtype=torch.float64)], 2 * 3648),
    (nn.LSTM(3, 5, dtype=torch.bfloat16), [padded(dtype=torch.bfloat16)], 1824),
    (nn.GRU(3, 5, dtype=torch.float16), [padded(dtype=torch.float16)], 1824),
    (nn.GRU(3, 5, device="meta"), [padded(device="meta")], 3648),
    (nn.LSTM(3, 5), [padded(), (torch.ones(1, 4, 5), torch.ones(1, 4, 5))], 3648),
    # One step: an RNN keeps x, h0, h; a GRU and an LSTM x and seven vectors.
    (nn.RNNCell(3, 5), [torch.zeros(4, 3), torch.ones(4, 5)], 4 * (12 + 20 + 20)),
    (nn.GRUCell(3, 5), [torch.zeros(4, 3), torch.ones(4, 5)], 4 * (12 + 7 * 20)),
    (nn.LSTMCell(3, 5), [torch.zeros(4, 3), (torch.ones(4, 5), torch.ones(4, 5))], 4 * (12 + 7 * 20)),
    (nn.Linear(3, 8), [padded()], 4 * 72),
]


@pytest.mark.parametrize(("module", "inputs", "size"), KEPT)
def test_the_bytes_kept_are_those_of_distinct_storages_without_parameters(module, inputs, size):
    assert measure.saved_bytes(module, *inputs) == size


GRID = [
    (cell, options)
    for cell, layers, bidirectional, proj in itertools.product(MODULES, (1, 2, 3), (False, True), (0, 1, 4))
    if (
        options := {"num_layers": layers, "bidirectional": bidirectional}
        | ({"proj_size": proj} if proj else {})
    )
    and (cell == "lstm" or not proj)
]


@pytest.mark.parametrize(("cell", "options"), GRID)
def test_the_closed_form_of_torchs_kernels_is_exact_to_the_byte(cell, options):
    for steps, batch, size, bias, dtype in (
        (1, 1, 1, True, torch.float32),
        (1, 3, 7, False, torch.float64),
        (2, 1, 5, True, torch.bfloat16),
        (6, 4, 3, False, torch.float32),
    ):
        module = MODULES[cell](size, 5, bias=bias, dtype=dtype, **options)
        spec = StackSpec(cell, size, 5, bias=bias, **options)
        terms = spec.storage_terms(steps, batch, scheme="native", dtype=dtype)
        assert sum(terms.values()) == measure.saved_bytes(module, padded(steps, batch, size, dtype=dtype))


def test_a_storage_that_is_kept_twice_counts_once():
    module = Calls(lambda a, b, x: a(x) + b(x), nn.Linear(3, 5), nn.Linear(3, 5))
    assert measure.saved_bytes(module, padded()) == 288


def test_a_buffer_is_no_activation():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(3))

        def forward(self, x):
            return x * self.scale

    x = padded(requires_grad=True)
    module = nn.Sequential(nn.Linear(3, 3), Scaled())
    assert measure.saved_bytes(module, x) == 288


def test_bytes_are_kept_even_where_the_caller_takes_no_gradient():
    with torch.no_grad():
        assert measure.saved_bytes(nn.LSTM(3, 5), padded()) == 3648


def test_under_inference_mode_the_bytes_are_measured_or_refused_but_not_zero():
    lstm, x = nn.LSTM(3, 5), padded()
    with torch.inference_mode():
        try:
            size = measure.saved_bytes(lstm, x)
        except RuntimeError:
            return
    assert size == 3648


def test_a_slice_of_a_data_set_counts_by_itself():
    data = torch.zeros(1000, 4, 3)
    assert measure.saved_bytes(nn.LSTM(3, 5), data[:6]) == 3648


@pytest.mark.parametrize("onednn", [False, True])
def test_onednn_runs_only_when_asked_to(onednn):
    seen = []
    module = Calls(lambda linear, x: seen.append(torch.backends.mkldnn.enabled) or linear(x), nn.Linear(3, 5))
    measure.saved_bytes(module, padded(), onednn=onednn)
    assert seen == [onednn]


@pytest.mark.parametrize("measurement", [measure.macs, measure.macs_by_parameter, measure.saved_bytes])
def test_cudnn_which_runs_a_whole_layer_as_one_operator_never_runs(measurement):
    seen = []
    module = Calls(lambda linear, x: seen.append(torch.backends.cudnn.enabled) or linear(x), nn.Linear(3, 5))
    measurement(module, padded())
    assert seen == [False]


# --- Measuring leaves no trace ----------------------------------------------------------------------------

MEASUREMENTS = {
    "parameters": lambda module, x: measure.parameters(module),
    "macs": measure.macs,
    "macs by parameter": measure.macs_by_parameter,
    "training macs": lambda module, x: measure.macs(module, x, training=True, input_grad=True),
    "saved bytes": measure.saved_bytes,
    "saved bytes with oneDNN": lambda module, x: measure.saved_bytes(module, x, onednn=True),
    "audit": rnnlib.audit,
}


class Stochastic(nn.Module):
    """Draws random numbers in whatever mode it is in, and may fail afterwards."""

    def __init__(self, fails=False):
        super().__init__()
        self.rnn = nn.GRU(3, 5, 2, dropout=0.5)
        self.head = nn.Linear(5, 2)
        self.fails = fails
        self.head.eval()

    def forward(self, x):
        y = self.head(F.dropout(self.rnn(x)[0], training=True))
        if self.fails:
            raise ArithmeticError("on purpose")
        return y


def surroundings():
    return {
        "oneDNN": torch.backends.mkldnn.enabled,
        "oneDNN deterministic": torch.backends.mkldnn.deterministic,
        "cuDNN": torch.backends.cudnn.enabled,
        "cuDNN benchmark": torch.backends.cudnn.benchmark,
        "cuDNN deterministic": torch.backends.cudnn.deterministic,
        "gradients": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "random state": torch.get_rng_state().tolist(),
        "dispatch modes": torch.utils._python_dispatch._len_torch_dispatch_stack(),
    }


@pytest.fixture(params=["usual", "unusual"])
def settings_of_torch(request):
    """The flags as torch starts with them, and every one of them the other way."""
    if request.param == "usual":
        yield
        return
    with (
        torch.backends.mkldnn.flags(enabled=False, deterministic=True),
        torch.backends.cudnn.flags(enabled=False, benchmark=True, deterministic=True),
        torch.no_grad(),
    ):
        yield


def take(measurement, module, x):
    if module.fails and measurement != "parameters":
        with pytest.raises(ArithmeticError, match="on purpose"):
            MEASUREMENTS[measurement](module, x)
    else:
        MEASUREMENTS[measurement](module, x)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("measurement", MEASUREMENTS)
class TestMeasuring:
    def test_leaves_random_state_and_flags_as_they_were(self, measurement, fails, settings_of_torch):
        module = Stochastic(fails)
        before = surroundings()
        take(measurement, module, padded())
        assert surroundings() == before

    def test_leaves_the_module_as_it_was(self, measurement, fails):
        module = Stochastic(fails)
        module.head.weight.grad = torch.ones(2, 5)
        modes = [m.training for m in module.modules()]
        values = {name: value.clone() for name, value in module.state_dict().items()}
        take(measurement, module, padded())
        assert [m.training for m in module.modules()] == modes
        assert [name for name, p in module.named_parameters() if p.grad is not None] == ["head.weight"]
        assert torch.equal(module.head.weight.grad, torch.ones(2, 5))
        assert all(torch.equal(value, values[name]) for name, value in module.state_dict().items())
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in module.modules())

    @pytest.mark.parametrize("requires_grad", [False, True])
    def test_leaves_the_input_as_it_was(self, measurement, fails, requires_grad):
        x = torch.arange(72.0).reshape(6, 4, 3).requires_grad_(requires_grad)
        take(measurement, Stochastic(fails), x)
        assert x.requires_grad is requires_grad
        assert x.grad is None
        assert x.grad_fn is None
        assert torch.equal(x.detach().flatten(), torch.arange(72.0))


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_measuring_leaves_running_statistics_as_they_were(measurement):
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    MEASUREMENTS[measurement](module, torch.randn(8, 3))
    changed = [name for name, value in module.state_dict().items() if not torch.equal(value, before[name])]
    assert changed == []


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_a_module_that_writes_into_its_input_does_not_reach_the_callers(measurement):
    module = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 5))
    x = torch.full((6, 4, 3), -1.0)
    MEASUREMENTS[measurement](module, x)
    assert torch.equal(x, torch.full((6, 4, 3), -1.0))


def test_measuring_prints_no_warning():
    program = (
        "import torch, rnnlib\n"
        "lstm, x = torch.nn.LSTM(3, 5), torch.zeros(6, 4, 3)\n"
        "print(rnnlib.measure.macs(lstm, x), rnnlib.measure.saved_bytes(lstm, x))\n"
        "print(rnnlib.audit(lstm, x).agrees)"
    )
    root = Path(rnnlib.__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("3840 3648\nTrue\n", "")


# --- What a module may take and give ----------------------------------------------------------------------


def test_a_frozen_module_is_measured_too():
    frozen = nn.LSTM(3, 5).requires_grad_(False)
    assert measure.saved_bytes(frozen, padded()) == 0  # nothing is kept, for nothing needs a gradient
    # With the gradient to the input alone: 3,840 forward, 1,440 to the input, 2,000 to the states.
    assert measure.macs(frozen, padded(), training=True, input_grad=True) == 7280
    assert measure.macs(frozen, padded(), training=True) == 3840


def test_inputs_may_come_in_a_dictionary():
    module = Calls(lambda linear, inputs: {"y": linear(inputs["x"])}, nn.Linear(3, 8))
    assert measure.macs(module, {"x": padded()}) == 576
    assert measure.saved_bytes(module, {"x": padded()}) == 288
    assert measure.macs(module, {"x": padded()}, training=True, input_grad=True) == 3 * 576
