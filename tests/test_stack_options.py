"""Residuals, LayerNorm and dropout of rnnlib's stacks."""

import warnings
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import rnnlib
from rnnlib.cells import layer_norm_gru_cell, layer_norm_lstm_cell, layer_norm_rnn_cell

CELLS = ("RNN", "GRU", "LSTM")
SCHEMES = ("native", "gates", "gates+tanh", "recompute")
T, N, H = 5, 3, 4


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def double(*shape, grad=False):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def stack(cell, *args, **options):
    return getattr(rnnlib, cell)(*args, **options).double()


def layers_of(module):
    """The stack's layers as plain torch.nn modules of one layer, with its weights."""
    directions = 2 if module.bidirectional else 1
    width = directions * (module.proj_size or module.hidden_size)
    for layer in range(module.num_layers):
        options = {"proj_size": module.proj_size} if module.mode == "LSTM" else {}
        single = getattr(nn, type(module).__name__)(
            width if layer else module.input_size,
            module.hidden_size,
            bidirectional=module.bidirectional,
            **options,
        )
        names = {name: name.replace("_l0", f"_l{layer}") for name in single.state_dict()}
        single.load_state_dict({name: getattr(module, ours) for name, ours in names.items()})
        yield single.double()


def h_of(state):
    return state[0] if isinstance(state, tuple) else state


# Residual -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_zero_weights_make_a_residual_stack_the_identity(cell, storage):  # case C22
    for bidirectional, layers in product((False, True), (1, 3)):
        width = 2 * H if bidirectional else H
        module = stack(cell, width, H, layers, residual=True, bidirectional=bidirectional, storage=storage)
        for parameter in module.parameters():
            nn.init.zeros_(parameter)
        x = double(T, N, width, grad=True)
        torch.testing.assert_close(module(x)[0], x, rtol=0, atol=0)
        row = double(2, 1, width)
        jacobian = torch.autograd.functional.jacobian(lambda row, m=module: m(row)[0], row)
        torch.testing.assert_close(jacobian.view(row.numel(), row.numel()), torch.eye(row.numel()).double())


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_hand_on_is_x_plus_dropout_of_norm_of_h(data):
    """The layer loop, written out with torch.nn's layers and torch.nn.LayerNorm."""
    cell = data.draw(st.sampled_from(CELLS))
    options = {
        "num_layers": data.draw(st.integers(1, 4)),
        "bidirectional": data.draw(st.booleans()),
        "residual": data.draw(st.sampled_from([False, True, 1, 2, 3, 9])),
        "layer_norm": data.draw(st.sampled_from([None, "output"])),
        "storage": data.draw(st.sampled_from(SCHEMES)),
    }
    if cell == "LSTM":
        options["proj_size"] = data.draw(st.sampled_from([0, 2]))
    width = (1 + options["bidirectional"]) * (options.get("proj_size") or H)
    input_size = data.draw(st.sampled_from([1, width]))
    module = stack(cell, input_size, H, **options)
    for name, parameter in module.named_parameters():
        if "_out_" in name:
            nn.init.normal_(parameter)

    x = double(T, N, input_size)
    lengths = data.draw(st.none() | st.lists(st.integers(1, T), min_size=N, max_size=N))
    if lengths is not None:
        x = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False)
    output, state = module(x)

    expected, h_n = x, []
    for layer, single in enumerate(layers_of(module), start=1):
        handed_on, final = single(expected)
        before, after = (t.data if lengths is not None else t for t in (expected, handed_on))
        if module.layer_norm:
            norm = nn.LayerNorm(width).double()
            norm.weight, norm.bias = (
                getattr(module, f"gain_out_l{layer - 1}"),
                getattr(module, f"shift_out_l{layer - 1}"),
            )
            after = norm(after)
        if options["residual"] and layer >= int(options["residual"]) and (layer > 1 or input_size == width):
            after = before + after
        expected = expected._replace(data=after) if lengths is not None else after
        h_n.append(h_of(final))
    got, wanted = (t.data if isinstance(t, PackedSequence) else t for t in (output, expected))
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(h_of(state), torch.cat(h_n))  # the raw states


def test_nothing_is_broadcast_where_the_first_layers_widths_differ():  # case C22
    x = double(4, 2, 1)
    plain, residual = (stack("LSTM", 1, 5, residual=r) for r in (False, True))
    residual.load_state_dict(plain.state_dict())
    torch.testing.assert_close(residual(x)[0], plain(x)[0], rtol=0, atol=0)
    assert stack("GRU", 5, 5, bidirectional=True, residual=True)(double(4, 2, 5))[0].shape == (4, 2, 10)


@pytest.mark.parametrize("first", [0, -1, 1.0, "2", None])
def test_a_residual_begins_at_a_layer_that_can_be_counted(first):
    with pytest.raises(ValueError, match="first layer that has one, counted from 1"):
        stack("LSTM", 3, 5, 2, residual=first)
    with pytest.raises(ValueError, match="residual"):
        rnnlib.StackSpec("lstm", 3, 5, 2, residual=first)


def test_residual_from_a_layer_on():
    x = double(T, N, H)
    outputs = []
    modules = [stack("GRU", H, H, 3, residual=r) for r in (False, True, 1, 2, 3, 4)]
    for module in modules:
        module.load_state_dict(modules[0].state_dict())
        outputs.append(module(x)[0])
    none, true, one, two, three, four = outputs
    assert torch.equal(true, one) and torch.equal(none, four)
    assert len({round(t.sum().item(), 9) for t in (none, one, two, three)}) == 4


# LayerNorm ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell, count", [("RNN", 55), ("GRU", 170), ("LSTM", 230)])
def test_parameters_of_gate_norms(cell, count):  # case C24
    for bias in (True, False):
        module = getattr(rnnlib, cell)(3, 5, bias=bias, layer_norm="gates")
        assert rnnlib.measure.parameters(module) == count
        assert not [name for name, _ in module.named_parameters() if name.startswith("bias")]
        assert rnnlib.StackSpec.of(module).parameters() == count
    module = getattr(rnnlib, cell)(3, 5, 2, bidirectional=True, layer_norm="gates")
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert shapes == rnnlib.StackSpec.of(module).parameter_shapes()


@pytest.mark.parametrize("cell", CELLS)
def test_parameters_of_output_norms(cell):
    module = getattr(rnnlib, cell)(3, 5, 2, bidirectional=True, layer_norm="output")
    plain = getattr(rnnlib, cell)(3, 5, 2, bidirectional=True)
    assert rnnlib.measure.parameters(module) == rnnlib.measure.parameters(plain) + 2 * 2 * 10
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert shapes == rnnlib.StackSpec.of(module).parameter_shapes()


@pytest.mark.parametrize("cell", CELLS)
def test_gains_start_at_one_and_shifts_at_zero_and_come_back_to_it(cell):
    for norm in ("output", "gates"):
        module = getattr(rnnlib, cell)(3, 5, layer_norm=norm)
        for _ in range(2):
            for name, parameter in module.named_parameters():
                if name.startswith("gain"):
                    assert (parameter == 1).all()
                elif name.startswith("shift"):
                    assert (parameter == 0).all()
                else:
                    assert 0.1 < parameter.abs().max() <= 5**-0.5
                nn.init.normal_(parameter)
            module.reset_parameters()


def gate_norm_schemes(cell):
    return getattr(rnnlib, cell).schemes_with_gate_norm


@pytest.mark.parametrize("cell", CELLS)
def test_gate_norm_equals_the_cells_and_runs_packed_in_both_directions(cell):
    """Two layers, both directions, unsorted packed input: every sequence comes out as if it were alone."""
    step = {"RNN": layer_norm_rnn_cell, "GRU": layer_norm_gru_cell, "LSTM": layer_norm_lstm_cell}[cell]
    names = {"RNN": (), "GRU": ("shift_hn",), "LSTM": ("gain_c", "shift_c")}[cell]
    for storage in gate_norm_schemes(cell):
        module = stack(cell, 3, H, 2, bidirectional=True, layer_norm="gates", storage=storage)
        for parameter in module.parameters():
            nn.init.normal_(parameter)
        lengths = [2, 5, 3]
        x = double(max(lengths), 3, 3)
        packed, _ = module(pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False))
        padded, _ = nn.utils.rnn.pad_packed_sequence(packed)
        for n, length in enumerate(lengths):
            rows = x[:length, n : n + 1]
            for layer in range(2):
                directions = []
                for suffix in (f"_l{layer}", f"_l{layer}_reverse"):
                    weights = [
                        getattr(module, name + suffix)
                        for name in ("weight_ih", "weight_hh", "gain_ih", "gain_hh", "shift", *names)
                    ]
                    h = torch.zeros(1, H).double()
                    c = h
                    seen = []
                    for row in rows.flip(0) if suffix.endswith("reverse") else rows:
                        h, c = step(row, (h, c), *weights) if cell == "LSTM" else (step(row, h, *weights), c)
                        seen.append(h)
                    directions.append(torch.stack(seen[::-1] if suffix.endswith("reverse") else seen))
                rows = torch.cat(directions, -1)
            torch.testing.assert_close(padded[:length, n : n + 1], rows)


def test_gate_norm_uses_the_population_variance_with_eps_inside_the_root():
    sums = torch.tensor([[1.0, 2.0, 4.0, 9.0]]).double()
    variance = ((sums - 4) ** 2).mean()
    module = stack("RNN", 1, 4, layer_norm="gates")
    with torch.no_grad():
        module.weight_ih_l0.copy_(sums.t())
    output, _ = module(torch.ones(1, 1, 1).double())
    torch.testing.assert_close(output[0], torch.tanh((sums - 4) / torch.sqrt(variance + 1e-5)))


@pytest.mark.parametrize("cell", CELLS)
def test_scaling_the_input_weights_leaves_a_gate_norm_unchanged(cell):  # case C24
    for storage in gate_norm_schemes(cell):
        x = double(T, N, 3)
        normed = stack(cell, 3, 16, layer_norm="gates", storage=storage)
        plain = stack(cell, 3, 16, bias=False, storage=storage)
        changes = []
        for module in (normed, plain):
            nn.init.normal_(module.weight_ih_l0)  # sums whose variance is far above eps
            before = module(x)[0].detach()
            with torch.no_grad():
                module.weight_ih_l0 *= 10
            changes.append((module(x)[0] - before).abs().max().item())
        assert changes[0] < 1e-4 < 1e-2 < changes[1]


@pytest.mark.parametrize("norm", ["output", "gates"])
@pytest.mark.parametrize("cell", CELLS)
def test_constant_input_to_a_norm_gives_finite_gradients(cell, norm):
    for storage in gate_norm_schemes(cell):
        module = stack(cell, 3, H, 2, layer_norm=norm, storage=storage)
        for name, parameter in module.named_parameters():
            if name.startswith("weight"):
                nn.init.constant_(parameter, 0.1)  # every row of every sum is the same
        x = torch.ones(T, N, 3, dtype=torch.float64, requires_grad=True)
        module(x)[0].sum().backward()
        assert all(t.grad.isfinite().all() for t in (x, *module.parameters()))


@pytest.mark.parametrize("cell, storage", [("RNN", "gates"), ("GRU", "recompute"), ("LSTM", "gates+tanh")])
def test_gate_norm_names_the_schemes_that_it_has(cell, storage):
    with pytest.raises(
        ValueError,
        match=rf"storage='{storage}'.*: expected one of 'native'.*layer_norm='gates'".replace("+", r"\+"),
    ):
        getattr(rnnlib, cell)(3, 5, layer_norm="gates", storage=storage)


# Dropout ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_dropout_between_layers_draws_what_torch_draws(cell, storage):
    theirs = getattr(nn, cell)(3, H, 3, dropout=0.5, bidirectional=True).double()
    ours = stack(cell, 3, H, 3, dropout=0.5, bidirectional=True, storage=storage)
    ours.load_state_dict(theirs.state_dict())
    x = double(T, N, 3)
    outputs = []
    for module in (ours, theirs):
        torch.manual_seed(7)
        outputs.append(module(x)[0])
    torch.testing.assert_close(*outputs)
    assert torch.equal(ours.eval()(x)[0], ours(x)[0])
    torch.testing.assert_close(ours(x)[0], theirs.eval()(x)[0])


@pytest.mark.parametrize("mask", ["step", "sequence"])
@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_dropping_everything_feeds_the_next_layer_zeros(cell, storage, mask):  # case C26
    module = stack(cell, H, H, 2, dropout=1.0, dropout_mask=mask, storage=storage)
    _, second = layers_of(module)
    x = double(T, N, H)
    torch.testing.assert_close(module(x)[0], second(torch.zeros_like(x))[0])
    module.residual = True  # the shortcut is not dropped
    torch.testing.assert_close(module(x)[0], x + second(x)[0])


@pytest.mark.parametrize("cell", CELLS)
def test_one_layer_drops_nothing_and_warns(cell):  # case C26
    with pytest.warns(UserWarning, match="num_layers greater than 1") as caught:
        module = stack(cell, 3, H, dropout=0.5)
    assert len(caught) == 1
    x = double(T, N, 3)
    trained = module(x)[0]
    torch.testing.assert_close(trained, module.eval()(x)[0], rtol=0, atol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(rnnlib, cell)(3, H, 2, dropout=0.5)


@pytest.mark.parametrize("storage", SCHEMES)
def test_a_sequence_mask_is_the_same_at_every_step_and_differs_between_sequences(storage):
    module = stack(
        "RNN", H, H, 2, nonlinearity="relu", bias=False, dropout=0.5, dropout_mask="sequence", storage=storage
    )
    with torch.no_grad():  # both layers hand on what they receive
        for layer in range(2):
            getattr(module, f"weight_ih_l{layer}").copy_(torch.eye(H))
            getattr(module, f"weight_hh_l{layer}").zero_()
    lengths = torch.tensor([2, 50, 7] * 4)
    x = torch.ones(50, len(lengths), H).double()
    for batch in (x, pack_padded_sequence(x, lengths, enforce_sorted=False)):
        output, _ = module(batch)
        if batch is not x:
            output, _ = nn.utils.rnn.pad_packed_sequence(output)
        masks = output[0]
        assert set(masks.flatten().tolist()) == {0.0, 2.0}  # kept values are scaled by 1 / (1 - p)
        for n, length in enumerate(lengths if batch is not x else [50] * len(lengths)):
            assert torch.equal(output[:length, n], masks[n].expand(length, H))
        assert len({tuple(mask.tolist()) for mask in masks}) > 4
    assert torch.equal(module.eval()(x)[0], x)


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", CELLS)
def test_weight_dropout_drops_recurrent_weights_once_per_call(cell, storage):
    module = stack(cell, 3, H, weight_dropout=0.5, storage=storage)
    plain = next(layers_of(module))
    x = double(T, N, 3)
    torch.manual_seed(5)
    output, _ = module(x)
    torch.manual_seed(5)
    with torch.no_grad():
        plain.weight_hh_l0.copy_(nn.functional.dropout(plain.weight_hh_l0, 0.5))
    torch.testing.assert_close(output, plain(x)[0])
    output.sum().backward()
    dropped = plain.weight_hh_l0 == 0
    assert 0 < dropped.sum() < dropped.numel()
    assert (module.weight_hh_l0.grad[dropped] == 0).all() and (module.weight_hh_l0.grad[~dropped] != 0).any()
    assert not torch.equal(module(x)[0], module(x)[0])
    torch.testing.assert_close(module.eval()(x)[0], next(layers_of(module))(x)[0])


@pytest.mark.parametrize("storage", SCHEMES)
def test_dropout_is_deterministic_under_the_generator(storage):
    module = stack(
        "LSTM",
        H,
        H,
        3,
        dropout=0.3,
        dropout_mask="sequence",
        weight_dropout=0.3,
        residual=True,
        layer_norm="output",
        storage=storage,
    )
    x = double(T, N, H)
    torch.manual_seed(1)
    first = module(x)[0]
    second = module(x)[0]
    torch.manual_seed(1)
    assert torch.equal(module(x)[0], first) and not torch.equal(first, second)
