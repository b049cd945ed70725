"""rnnlib.RNN, GRU and LSTM beside torch.nn: the same function, the same gradients, the same errors."""

import copy
import io
import pickle
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import rnnlib

CELLS = ("RNN", "GRU", "LSTM")
SCHEMES = ("native", "gates", "gates+tanh", "recompute")
D, H = 3, 5


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def double(*shape, grad=True):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def flat(value):
    """The tensors of an output or a state, in order."""
    if isinstance(value, PackedSequence):
        return [value.data]
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in flat(item)]


def pair(cell, *args, storage="native", **kwargs):
    """A torch.nn module and ours with the same weights, in float64."""
    theirs = getattr(nn, cell)(*args, **kwargs).double()
    ours = getattr(rnnlib, cell)(*args, **kwargs, storage=storage).double()
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def states_for(module, batch=None):
    """Random initial states; without a batch dimension if batch is None."""
    layers = module.num_layers * (2 if module.bidirectional else 1)
    middle = () if batch is None else (batch,)
    h = double(layers, *middle, module.proj_size or module.hidden_size)
    return (h, double(layers, *middle, module.hidden_size)) if module.mode == "LSTM" else h


def results(module, make_input, leaves, hx):
    """Outputs, final states and all gradients of a random linear function of them."""
    outputs = flat(module(make_input(), hx))
    generator = torch.Generator().manual_seed(1)
    loss = sum((t * torch.randn(t.shape, dtype=t.dtype, generator=generator)).sum() for t in outputs)
    leaves = [*leaves, *(flat(hx) if hx is not None else []), *module.parameters()]
    return [*outputs, *torch.autograd.grad(loss, leaves)]


def assert_same(ours, theirs, **tolerances):
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, **tolerances)


def assert_parity(cell, *, storage, lengths=None, given=False, batch=4, steps=5, unsorted=False, **kwargs):
    theirs, ours = pair(cell, D, H, storage=storage, **kwargs)
    if lengths is not None:
        batch, steps = len(lengths), max(lengths)
    x = double(*((batch, steps) if kwargs.get("batch_first") else (steps, batch)), D)

    def make_input():
        if lengths is None:
            return x
        return pack_padded_sequence(x, torch.tensor(lengths), kwargs.get("batch_first", False), not unsorted)

    hx = states_for(ours, batch) if given else None
    assert_same(
        results(ours, make_input, [x], hx), results(theirs, make_input, [x], hx), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("num_layers", [1, 2, 3, 4])
@pytest.mark.parametrize("cell", [*CELLS, "projected LSTM"])
def test_equals_torch_over_the_whole_grid(cell, num_layers, storage):
    proj = {"proj_size": 2} if cell.startswith("projected") else {}
    binary = (False, True)
    for bidirectional, batch_first, bias, given_states, lengths in product(
        binary, binary, binary, binary, (None, [1, 3, 2, 3])
    ):
        assert_parity(
            cell.split()[-1],
            num_layers=num_layers,
            storage=storage,
            bidirectional=bidirectional,
            batch_first=batch_first,
            bias=bias,
            given=given_states,
            lengths=lengths,
            unsorted=True,
            steps=3,
            **proj,
        )


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_equals_torch_for_drawn_options(data):
    cell = data.draw(st.sampled_from(CELLS))
    options = {
        "bidirectional": data.draw(st.booleans()),
        "batch_first": data.draw(st.booleans()),
        "bias": data.draw(st.booleans()),
        "num_layers": data.draw(st.integers(1, 4)),
    }
    if cell == "LSTM":
        options["proj_size"] = data.draw(st.sampled_from([0, 1, 4]))
    if cell == "RNN":
        options["nonlinearity"] = data.draw(st.sampled_from(["tanh", "relu"]))
    lengths = data.draw(st.none() | st.lists(st.integers(1, 7), min_size=1, max_size=5))
    is_unsorted = lengths is not None and lengths != sorted(lengths, reverse=True)
    assert_parity(
        cell,
        storage=data.draw(st.sampled_from(SCHEMES)),
        given=data.draw(st.booleans()),
        lengths=lengths,
        unsorted=is_unsorted,
        batch=data.draw(st.integers(1, 3)),
        steps=data.draw(st.integers(1, 6)),
        **options,
    )


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_unbatched_input(cell, storage):
    for bidirectional, batch_first in product((False, True), repeat=2):
        theirs, ours = pair(
            cell, D, H, 2, bidirectional=bidirectional, batch_first=batch_first, storage=storage
        )
        x = double(4, D)
        for hx in (None, states_for(ours)):
            assert_same(results(ours, lambda x=x: x, [x], hx), results(theirs, lambda x=x: x, [x], hx))


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_a_loss_on_the_final_states_or_on_the_outputs_alone(cell, storage):
    theirs, ours = pair(cell, D, H, 2, storage=storage)
    x = double(4, 2, D)
    for k in range(len(flat(ours(x)))):
        grads = [torch.autograd.grad(flat(m(x))[k].sum(), [x, m.weight_hh_l0]) for m in (ours, theirs)]
        assert_same(*grads)


def test_h_n_has_the_layers_first_with_batch_first_too():
    x = torch.randn(60, 8, 256)
    for storage in SCHEMES:  # case X01
        output, h_n = rnnlib.GRU(256, 512, batch_first=True, storage=storage)(x)
        assert (output.shape, h_n.shape) == ((60, 8, 512), (1, 60, 512))


@pytest.mark.parametrize("storage", SCHEMES)
def test_the_output_of_a_bidirectional_relu_rnn(storage):  # case C18
    rnn = rnnlib.RNN(1, 1, nonlinearity="relu", bidirectional=True, bias=False, storage=storage)
    for weight in rnn.parameters():
        nn.init.ones_(weight)
    output, h_n = rnn(torch.tensor([0.0, 0.0, 1.0, 1.0]).view(4, 1, 1))
    assert output.squeeze(1).tolist() == [[0, 2], [0, 2], [1, 2], [2, 1]]
    assert h_n.flatten().tolist() == [2, 2]


@pytest.mark.parametrize("storage", SCHEMES)
def test_initial_states_of_an_unsorted_pack_are_in_the_callers_order(storage):  # case X07
    rnn = rnnlib.RNN(1, 1, bias=False, storage=storage)
    nn.init.zeros_(rnn.weight_ih_l0)
    nn.init.ones_(rnn.weight_hh_l0)
    packed = pack_padded_sequence(torch.zeros(3, 3, 1), torch.tensor([1, 3, 2]), enforce_sorted=False)
    _, h_n = rnn(packed, torch.tensor([0.1, 0.2, 0.3]).view(1, 3, 1))
    torch.testing.assert_close(h_n.flatten(), torch.tensor([0.0996680, 0.1924225, 0.2833425]))


@pytest.mark.parametrize("storage", SCHEMES)
def test_a_state_carried_between_chunks_must_be_detached(storage):  # case X03
    rnn = rnnlib.RNN(1, 1, bias=False, storage=storage).double()
    nn.init.ones_(rnn.weight_ih_l0)
    nn.init.constant_(rnn.weight_hh_l0, 0.5)
    x = torch.ones(3, 1, 1, dtype=torch.float64)

    def gradient_of_last_state(cut):
        _, h = rnn(x[:2])
        _, h = rnn(x[2:], h.detach() if cut else h)
        (grad,) = torch.autograd.grad(h.sum(), rnn.weight_hh_l0)
        return h.item(), grad.item()

    assert gradient_of_last_state(cut=False) == pytest.approx((0.8938114, 0.1943201), abs=1e-7)
    assert gradient_of_last_state(cut=True) == pytest.approx((0.8938114, 0.1771963), abs=1e-7)


def test_second_derivative():  # case X04
    rnn = rnnlib.RNN(1, 1, bias=False).double()
    nn.init.ones_(rnn.weight_ih_l0)
    nn.init.zeros_(rnn.weight_hh_l0)
    x = torch.full((1, 1, 1), 0.5, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(rnn(x)[0].sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.item() == pytest.approx(-0.7268620, abs=1e-7)
    assert second.item() == pytest.approx(-2 * torch.tanh(x).item() * (1 - torch.tanh(x).item() ** 2))


@pytest.mark.parametrize("cell", CELLS)
def test_native_differentiates_twice_and_the_schemes_say_that_they_do_not(cell):
    x = double(2, 2, D)
    native = getattr(rnnlib, cell)(D, 2).double()
    assert torch.autograd.gradgradcheck(lambda x: native(x)[0], x)
    for storage in SCHEMES[1:]:
        module = getattr(rnnlib, cell)(D, 2, storage=storage).double()
        (first,) = torch.autograd.grad(module(x)[0].sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate once; for a second derivative"):
            first.sum().backward()


@pytest.mark.parametrize("storage", SCHEMES)
def test_a_two_bias_step_moves_their_sum_twice_as_far(storage):  # case X12
    torch.set_default_dtype(torch.float64)
    try:
        lstm = rnnlib.LSTM(D, H, storage=storage)
    finally:
        torch.set_default_dtype(torch.float32)
    before = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach()
    lstm(double(4, 2, D))[0].sum().backward()
    torch.testing.assert_close(lstm.bias_ih_l0.grad, lstm.bias_hh_l0.grad)
    torch.optim.SGD(lstm.parameters(), lr=0.1).step()
    moved = lstm.bias_ih_l0 + lstm.bias_hh_l0 - before
    torch.testing.assert_close(moved, -2 * 0.1 * lstm.bias_ih_l0.grad)


def test_clipping_before_the_optimiser_step_bounds_the_change():  # case X08
    lstm = rnnlib.LSTM(D, H, storage="gates").double()
    before = [p.detach().clone() for p in lstm.parameters()]
    (1000 * lstm(double(4, 2, D))[0].sum()).backward()
    assert nn.utils.clip_grad_norm_(lstm.parameters(), 1.0) > 10
    torch.optim.SGD(lstm.parameters(), lr=1.0).step()
    change = torch.cat([(p.detach() - q).flatten() for p, q in zip(lstm.parameters(), before, strict=True)])
    assert change.norm().item() == pytest.approx(1.0, abs=1e-5)


# What a module is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
def test_the_same_seed_gives_torchs_weights_and_state_dicts_go_both_ways(cell):
    options = {"num_layers": 2, "bidirectional": True, **({"proj_size": 2} if cell == "LSTM" else {})}
    torch.manual_seed(3)
    theirs = getattr(nn, cell)(D, H, **options)
    torch.manual_seed(3)
    ours = getattr(rnnlib, cell)(D, H, **options)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert_same(ours.state_dict().values(), theirs.state_dict().values(), rtol=0, atol=0)
    theirs.load_state_dict(ours.state_dict())
    for attribute in (
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
        "mode",
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute)


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_copies_and_pickles_compute_the_same(cell, storage):
    module = getattr(rnnlib, cell)(D, H, 2, residual=True, layer_norm="output", storage=storage)
    x = torch.randn(4, 2, D)
    expected = flat(module(x))
    saved = io.BytesIO()
    torch.save(module, saved)
    saved.seek(0)
    for other in (
        copy.deepcopy(module),
        pickle.loads(pickle.dumps(module)),
        torch.load(saved, weights_only=False),
    ):
        assert repr(other) == repr(module)
        assert_same(flat(other(x)), expected)
    with torch.no_grad():
        other.weight_ih_l0.zero_()
    assert_same(flat(module(x)), expected)


def test_the_representation_names_what_was_chosen():
    assert repr(rnnlib.LSTM(3, 5)) == "LSTM(3, 5)"
    assert (
        repr(rnnlib.GRU(3, 5, 2, residual=2, storage="gates"))
        == "GRU(3, 5, num_layers=2, residual=2, storage='gates')"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_half_precision_runs_forward_and_backward(cell, storage, dtype):  # case X06
    exact = getattr(rnnlib, cell)(D, H, 2, bidirectional=True, storage=storage).double()
    low = copy.deepcopy(exact).to(dtype)
    x = torch.randn(4, 2, D)
    outputs = flat(low(x.to(dtype)))
    assert_same([t.double() for t in outputs], flat(exact(x.double())), rtol=0, atol=0.03)
    outputs[0].sum().backward()
    exact(x.double())[0].sum().backward()
    assert_same(
        [p.grad.double() for p in low.parameters()], [p.grad for p in exact.parameters()], rtol=0.05, atol=0.2
    )


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_export(cell, storage):  # case X05
    module = getattr(rnnlib, cell)(D, H, 2, storage=storage).eval()
    x = torch.randn(3, 2, D)
    with torch.no_grad():
        exported = torch.export.export(module, (x,)).module()
        assert_same(flat(exported(x)), flat(module(x)))


OPTIONS = [*({"storage": scheme} for scheme in SCHEMES), {"layer_norm": "gates"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_export_with_gradients_records_them_or_says_that_it_cannot(cell, options):
    module = getattr(rnnlib, cell)(D, H, **options)
    x = torch.randn(3, 2, D)
    if options.get("storage", "native") != "native" or (cell == "LSTM" and "layer_norm" in options):
        said = r"of \w+Recurrence; .* under torch.no_grad\(\), for both choose .* the RNN or the GRU"
        with pytest.raises(Exception, match=said):
            torch.export.export(module, (x,))
        module.requires_grad_(False)
        assert_same(flat(torch.export.export(module, (x,)).module()(x)), flat(module(x)))
        return
    exported = torch.export.export(module, (x,)).module()
    for run in (exported, module):
        run(x)[0].square().sum().backward()
    theirs = dict(exported.named_parameters())
    assert_same(
        [theirs[name].grad for name, _ in module.named_parameters()], [p.grad for p in module.parameters()]
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_torch_compile_changes_no_result(cell, options):
    """It leaves recurrent modules as they are, torch's too, and compiles pieces of what they call."""
    module = getattr(rnnlib, cell)(D, H, 2, bidirectional=True, **options).double()
    x = double(4, 2, D, grad=False)
    results = []
    torch.compiler.reset()
    for run in (torch.compile(module, backend="aot_eager"), module):
        module.zero_grad()
        outputs = flat(run(x))
        outputs[0].square().sum().backward()
        results.append([*outputs, *(p.grad for p in module.parameters())])
    assert_same(*results)


@pytest.mark.parametrize("storage", SCHEMES)
def test_functional_call_and_func_grad(storage):
    module = rnnlib.LSTM(D, H, storage=storage).double()
    x = double(4, 2, D, grad=False)
    parameters = {name: p.detach() for name, p in module.named_parameters()}

    def loss(parameters):
        return torch.func.functional_call(module, parameters, (x,))[0].sum()

    grads = torch.func.grad(loss)(parameters)
    loss({name: p for name, p in module.named_parameters()}).backward()
    assert_same([grads[name] for name, _ in module.named_parameters()], [p.grad for p in module.parameters()])


@pytest.mark.parametrize("storage", SCHEMES)
def test_autocast_runs(storage):
    module = rnnlib.GRU(D, H, 2, storage=storage)
    x = torch.randn(4, 2, D)
    with torch.autocast("cpu", torch.bfloat16):
        output, _ = module(x)
        module(x.bfloat16())
    torch.testing.assert_close(output.float(), module(x)[0], rtol=0, atol=0.02)
    output.float().sum().backward()
    assert all(p.grad.isfinite().all() for p in module.parameters())


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["native", "gates"])
@pytest.mark.parametrize("cell", CELLS)
def test_bad_input_is_named(cell, storage):
    module = getattr(rnnlib, cell)(D, H, storage=storage)
    good = torch.randn(4, 2, D)
    for bad, error, message in (
        (torch.randn(4, 2, 1, D), ValueError, r"shape \(T, N, 3\).*got \(4, 2, 1, 3\)"),
        (torch.randn(4, 2, 4), RuntimeError, r"width input_size=3, got width 4"),
        (good.double(), ValueError, r"float64.*does not match weight dtype.*float32"),
        (good.to("meta"), RuntimeError, r"input on cpu, where the weights are, got meta"),
        (torch.randn(0, 2, D), ValueError, r"at least one time step"),
        ([good], TypeError, r"expected a Tensor or a PackedSequence.*got list"),
        (PackedSequence(torch.randn(2, 2, D), torch.tensor([2])), ValueError, r"shape \(tokens, 3\)"),
        (
            PackedSequence(torch.randn(2, D), torch.tensor([2, 0])),
            ValueError,
            r"at least one time step.*\[2, 0\]",
        ),
        (
            PackedSequence(torch.randn(2, D), torch.tensor([2, 1])),
            ValueError,
            r"sum to, 3, got 2",
        ),
    ):
        with pytest.raises(error, match=message):
            module(bad)


@pytest.mark.parametrize("storage", ["native", "gates"])
@pytest.mark.parametrize("cell", CELLS)
def test_bad_states_are_named(cell, storage):
    module = getattr(rnnlib, cell)(D, H, 2, storage=storage)
    x = torch.randn(4, 2, D)

    def run(h, c=None, x=x):
        return module(x, (h, torch.zeros(2, 2, H) if c is None else c) if cell == "LSTM" else h)

    for bad, message in (
        (torch.zeros(1, 2, H), r"size \(2, 2, 5\) for h_0, got \[1, 2, 5\]"),
        (torch.zeros(2, H), r"size \(2, 2, 5\) for h_0, got \[2, 5\]"),
        (torch.zeros(2, 2, H).double(), r"h_0: expected a state of.*torch.float32, got torch.float64"),
        (torch.zeros(2, 2, H, device="meta"), r"h_0: expected a state on cpu.*got meta"),
    ):
        with pytest.raises(RuntimeError, match=message):
            run(bad)
    with pytest.raises(RuntimeError, match=r"size \(2, 5\) for h_0, got \[2, 1, 5\]"):
        run(torch.zeros(2, 1, H), x=torch.randn(4, D))
    if cell == "LSTM":
        with pytest.raises(RuntimeError, match="for c_0"):
            run(torch.zeros(2, 2, H), torch.zeros(2, 2, H + 1))
        with pytest.raises(RuntimeError, match=r"a pair of tensors \(h_0, c_0\), got Tensor"):
            module(x, torch.zeros(2, 2, H))
    else:
        with pytest.raises(RuntimeError, match=r"a tensor h_0, got tuple"):
            module(x, (torch.zeros(2, 2, H),))


def test_zero_lengths_and_empty_batches():  # case C25
    with pytest.raises(RuntimeError, match="greater than 0"):
        pack_padded_sequence(torch.randn(5, 3, D), torch.tensor([5, 0, 2]), enforce_sorted=False)
    for cell, storage in product(CELLS, SCHEMES):
        module = getattr(rnnlib, cell)(D, H, storage=storage)
        outputs = flat(module(torch.randn(4, 0, D)))
        assert [tuple(t.shape) for t in outputs[:2]] == [(4, 0, H), (1, 0, H)]


@pytest.mark.parametrize(
    "option, value",
    [
        ("residual", -1),
        ("residual", 0.5),
        ("residual", "yes"),
        ("layer_norm", "input"),
        ("dropout_mask", "word"),
        ("weight_dropout", 1.5),
        ("weight_dropout", "half"),
        ("storage", "none"),
    ],
)
@pytest.mark.parametrize("cell", CELLS)
def test_bad_options_are_named(cell, option, value):
    with pytest.raises(ValueError, match=f"{option}={value!r}: expected"):
        getattr(rnnlib, cell)(D, H, 2, **{option: value})


def test_a_packed_batch_of_residual_layers_unpacks_to_the_padded_result():
    lengths = torch.tensor([2, 4, 1])
    x = double(4, 3, 2 * H, grad=False)
    for storage in SCHEMES:
        lstm = rnnlib.LSTM(
            2 * H, H, 3, bidirectional=True, residual=True, layer_norm="output", storage=storage
        ).double()
        packed, _ = lstm(pack_padded_sequence(x, lengths, enforce_sorted=False))
        output, _ = pad_packed_sequence(packed)
        for n, length in enumerate(lengths):
            torch.testing.assert_close(output[:length, n], lstm(x[:length, n])[0])
            assert not output[length:, n].any()
