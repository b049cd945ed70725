"""The wavefront: the same numbers in another order."""

import math
from itertools import product

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence

import rnnlib
from rnnlib import StackSpec, plotting
from rnnlib.schedule import Slot, independent, layerwise, makespan, run, wavefront

CELLS = ("RNN", "GRU", "LSTM")


@settings(max_examples=200, deadline=None)
@given(steps=st.integers(1, 12), layers=st.integers(1, 7), workers=st.none() | st.integers(1, 8))
def test_a_timetable_runs_every_cell_once_after_its_predecessors(steps, layers, workers):
    for slots in (layerwise(steps, layers), wavefront(steps, layers, workers)):
        tick_of = {(slot.layer, slot.step): slot.tick for slot in slots}
        assert len(tick_of) == len(slots) == steps * layers
        assert len({(slot.tick, slot.lane) for slot in slots}) == len(slots)
        for (layer, step), tick in tick_of.items():
            assert tick_of.get((layer - 1, step), -1) < tick and tick_of.get((layer, step - 1), -1) < tick
        lanes = 1 + max(slot.lane for slot in slots)
        assert lanes <= (workers or layers)


@settings(max_examples=200, deadline=None)
@given(steps=st.integers(1, 12), layers=st.integers(1, 7), workers=st.none() | st.integers(1, 8))
def test_independent_steps_wait_for_the_whole_layer_below(steps, layers, workers):
    slots = independent(steps, layers, workers)
    cells = {(slot.layer, slot.step) for slot in slots}
    assert len(cells) == len({(slot.tick, slot.lane) for slot in slots}) == len(slots) == steps * layers
    assert 1 + max(slot.lane for slot in slots) <= (workers or steps)
    for layer in range(1, layers):
        below = [slot.tick for slot in slots if slot.layer == layer - 1]
        assert max(below) < min(slot.tick for slot in slots if slot.layer == layer)
    assert makespan(slots) == layers * math.ceil(steps / (workers or steps))


def shortest(steps, layers, workers):
    """The fewest ticks in which the cells can run, by searching all sets of cells that are done."""
    frontier, ticks = {(0,) * layers}, 0
    while (steps,) * layers not in frontier:
        ticks += 1
        following = set()
        for done in frontier:
            ready = [k for k in range(layers) if done[k] < (done[k - 1] if k else steps)]
            for chosen in range(1, 2 ** len(ready)):
                picked = [k for i, k in enumerate(ready) if chosen >> i & 1]
                if len(picked) <= workers:
                    following.add(tuple(d + (k in picked) for k, d in enumerate(done)))
        frontier = following
    return ticks


@pytest.mark.parametrize("steps, layers, workers", [*product((1, 2, 5, 7), (1, 2, 3, 4), (1, 2, 3, 4))])
def test_no_order_is_shorter_than_the_simulated_one(steps, layers, workers):
    assert makespan(wavefront(steps, layers, workers)) == shortest(steps, layers, workers)


@pytest.mark.parametrize("steps, layers", [(1, 1), (1, 4), (6, 4), (4, 6), (512, 4)])
def test_makespans_are_the_critical_paths_of_the_cost_model(steps, layers):
    spec = StackSpec("lstm", 8, 8, num_layers=layers)
    assert makespan(layerwise(steps, layers)) == spec.critical_path(steps) == steps * layers
    assert makespan(wavefront(steps, layers)) == spec.critical_path(steps, "wavefront") == steps + layers - 1
    assert makespan(wavefront(steps, layers, workers=1)) == steps * layers
    assert makespan(wavefront(steps, layers, workers=layers)) == steps + layers - 1


def results(function, x, hx, module):
    output, state = function(x, hx)
    states = state if isinstance(state, tuple) else (state,)
    torch.manual_seed(2)
    loss = sum((t * torch.randn_like(t)).sum() for t in (output, *states))
    given_states = () if hx is None else (hx if isinstance(hx, tuple) else (hx,))
    return output, *states, *torch.autograd.grad(loss, (x, *given_states, *module.parameters()))


COMMON = (
    {},
    {"bias": False},
    {"residual": True},
    {"residual": 3, "layer_norm": "output"},
    {"layer_norm": "output"},
    {"batch_first": True},
)
OWN = {
    "RNN": ({"nonlinearity": "relu"},),
    "GRU": (),
    "LSTM": ({"proj_size": 2}, {"proj_size": 2, "residual": True}),
}


@pytest.mark.parametrize(
    "cell, options", [(cell, options) for cell in CELLS for options in (*COMMON, *OWN[cell])], ids=str
)
def test_the_wavefront_equals_layer_by_layer(cell, options):
    torch.manual_seed(0)
    for layers, steps, given_states in product((1, 2, 4), (1, 3, 6), (False, True)):
        width = options.get("proj_size", 5)
        module = getattr(rnnlib, cell)(width if "residual" in options else 3, 5, layers, **options).double()
        x = torch.randn(steps, 2, module.input_size, dtype=torch.float64, requires_grad=True)
        hx = None
        if given_states:
            batch = x.shape[0] if module.batch_first else 2
            hx = torch.randn(layers, batch, width, dtype=torch.float64, requires_grad=True)
            if cell == "LSTM":
                hx = hx, torch.randn(layers, batch, 5, dtype=torch.float64, requires_grad=True)
        ours = results(lambda x, hx, m=module: run(m, x, hx), x, hx, module)
        for schedule_result, expected in zip(ours, results(module, x, hx, module), strict=True):
            torch.testing.assert_close(schedule_result, expected, rtol=0, atol=1e-12)


def test_the_wavefront_runs_a_sequence_without_a_batch_and_layerwise_is_the_module():
    module, x = rnnlib.GRU(3, 5, 3).double(), torch.randn(4, 3).double()
    for schedule in ("wavefront", "layerwise"):
        output, h_n = run(module, x, schedule=schedule)
        torch.testing.assert_close(output, module(x)[0])
        torch.testing.assert_close(h_n, module(x)[1])


def test_what_the_wavefront_refuses():
    x = torch.randn(4, 2, 3)
    for options, message in (
        ({"bidirectional": True}, "bidirectional"),
        ({"dropout": 0.5}, "dropout"),
        ({"weight_dropout": 0.5}, "dropout"),
        ({"layer_norm": "gates"}, "gates"),
    ):
        module = rnnlib.LSTM(3, 5, 2, **options)
        with pytest.raises(ValueError, match=message):
            run(module, x)
        if "dropout" in message:
            torch.testing.assert_close(run(module.eval(), x)[0], module(x)[0])
    module = rnnlib.LSTM(3, 5)
    with pytest.raises(ValueError, match="packed"):
        run(module, pack_padded_sequence(x, torch.tensor([4, 2])))
    with pytest.raises(ValueError, match="schedule='diagonal': expected"):
        run(module, x, schedule="diagonal")
    with pytest.raises(RuntimeError, match="width 4"):
        run(module, torch.randn(4, 2, 4))
    for bad in (
        lambda: wavefront(0, 2),
        lambda: layerwise(2, 0),
        lambda: wavefront(2, 2, workers=0),
        lambda: independent(0, 2),
        lambda: independent(2, 2, workers=0),
    ):
        with pytest.raises(ValueError, match="expected at least 1"):
            bad()


def test_the_drawn_timetable_has_a_labelled_cell_for_every_slot():
    slots = wavefront(steps=3, layers=2)
    plt.figure()
    ax = plotting.timetable(slots)
    assert [patch.get_xy() for patch in ax.patches] == [(slot.tick, slot.lane) for slot in slots]
    assert [text.get_text() for text in ax.texts] == ["1, 1", "1, 2", "2, 1", "1, 3", "2, 2", "2, 3"]
    assert ax.get_xlim() == (0, 4) and ax.get_ylim() == (2, 0)
    assert ax is plt.gca()
    _, own = plt.subplots()
    assert plotting.timetable([Slot(0, 0, 0, 0)], own) is own
    plt.close("all")
