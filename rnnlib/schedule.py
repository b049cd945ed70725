"""In which order the cells of a stack can run: layer by layer, along the wavefront, on P workers.

Cell (l, t) of a unidirectional stack needs the state of (l, t-1) and the output of (l-1, t), nothing else.
All cells on an anti-diagonal l + t are therefore independent: a stack of L layers over T steps, T*L cells,
can be done in T + L - 1 ticks by L workers (Appleyard, Kocisky and Blunsom 2016, arXiv:1604.01946).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence

from .cells import gru_update, lstm_update, rnn_update
from .stack.base import Stack
from .stack.inputs import Sequences


class Slot(NamedTuple):
    """One line of a timetable: which cell runs at which tick, on which lane (worker). All count from 0."""

    tick: int
    lane: int
    layer: int
    step: int


def layerwise(steps: int, layers: int) -> list[Slot]:
    """One cell a tick, each layer from its first step to its last before the next layer begins.

    >>> [tuple(slot) for slot in layerwise(steps=2, layers=2)]
    [(0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 1, 0), (3, 0, 1, 1)]
    """
    _check_size(steps, layers)
    return [Slot(layer * steps + step, 0, layer, step) for layer in range(layers) for step in range(steps)]


def wavefront(steps: int, layers: int, workers: int | None = None) -> list[Slot]:
    """Every cell as soon as a worker is free and its two predecessors are done, at most ``workers`` a tick.

    Among the cells that are ready, the one with the longest way to go is first, the lower layer if they are
    equal. Without a limit a layer is a lane, and a tick is an anti-diagonal.

    >>> [tuple(slot) for slot in wavefront(steps=2, layers=2)]
    [(0, 0, 0, 0), (1, 0, 0, 1), (1, 1, 1, 0), (2, 1, 1, 1)]
    >>> [makespan(wavefront(steps=512, layers=4, workers=p)) for p in (1, 2, 3, 4, 5)]
    [2048, 1025, 685, 515, 515]
    """
    _check_size(steps, layers)
    if workers is None:
        return [
            Slot(tick, layer, layer, tick - layer)
            for tick in range(steps + layers - 1)
            for layer in range(max(0, tick - steps + 1), min(layers, tick + 1))
        ]
    _check_workers(workers)
    slots: list[Slot] = []
    done = [0] * layers  # how many steps of each layer are done
    tick = 0
    while done[-1] < steps:
        ready = [layer for layer in range(layers) if done[layer] < (done[layer - 1] if layer else steps)]
        ready.sort(key=lambda layer: done[layer] + layer)
        for lane, layer in enumerate(ready[:workers]):
            slots.append(Slot(tick, lane, layer, done[layer]))
        for layer in ready[:workers]:
            done[layer] += 1
        tick += 1
    return slots


def independent(steps: int, layers: int, workers: int | None = None) -> list[Slot]:
    """All steps of a layer side by side, one layer after the other: what a stack without recurrence allows.

    So a layer of a transformer runs when the whole sequence is known. Without a limit a step is a lane.

    >>> [tuple(slot) for slot in independent(steps=2, layers=2)]
    [(0, 0, 0, 0), (0, 1, 0, 1), (1, 0, 1, 0), (1, 1, 1, 1)]
    >>> [makespan(independent(steps=512, layers=4, workers=p)) for p in (1, 4, 512)]
    [2048, 512, 4]
    """
    _check_size(steps, layers)
    lanes = steps if workers is None else workers
    _check_workers(lanes)
    ticks = -(-steps // lanes)
    return [
        Slot(layer * ticks + step // lanes, step % lanes, layer, step)
        for layer in range(layers)
        for step in range(steps)
    ]


def makespan(schedule: Sequence[Slot]) -> int:
    """How many ticks a timetable takes.

    >>> makespan(layerwise(steps=512, layers=4)), makespan(wavefront(steps=512, layers=4))
    (2048, 515)
    """
    return 1 + max((slot.tick for slot in schedule), default=-1)


def run(module: Stack, input: Tensor, hx=None, schedule: str = "wavefront"):
    """Run a stack under a schedule; outputs and gradients are those of ``module(input, hx)``.

    Parameters
    ----------
    module
        a unidirectional ``rnnlib.RNN``, ``GRU`` or ``LSTM``, with residuals and ``layer_norm="output"``
        if wanted.
    input, hx
        as for the module; a tensor, not a packed sequence.
    schedule
        ``"layerwise"``, or ``"wavefront"``: all cells of a tick share a batched matrix product, with
        the layers' weights side by side. Autograd sees every tick.

    Raises
    ------
    ValueError
        For another schedule, and for what the wavefront does not run: two directions, packed input, dropout
        in training and ``layer_norm="gates"``.

    Examples
    --------
    >>> import rnnlib
    >>> lstm, x = rnnlib.LSTM(3, 5, num_layers=4), torch.randn(6, 2, 3)
    >>> torch.allclose(run(lstm, x)[0], lstm(x)[0], atol=1e-6)
    True
    """
    if schedule not in ("layerwise", "wavefront"):
        raise ValueError(f"schedule={schedule!r}: expected 'layerwise' or 'wavefront'")
    if schedule == "layerwise":
        return module(input, hx)
    drops = module.weight_dropout > 0 or (module.dropout > 0 and module.num_layers > 1)
    for option, refused in (
        ("bidirectional=True", module.bidirectional),
        ("packed input", isinstance(input, PackedSequence)),
        ("dropout in training mode", module.training and drops),
        ("layer_norm='gates'", module.layer_norm == "gates"),
    ):
        if refused:
            raise ValueError(f"schedule='wavefront' does not run {option}")
    sequences, states = module._checked(input, hx)
    return module._in_callers_form(sequences, *_run_wavefront(module, sequences, states))


def _run_wavefront(module: Stack, sequences: Sequences, initial: tuple[Tensor, ...]):
    layers = module.num_layers

    def of_layers(name: str, first: int = 0) -> Tensor:
        return torch.stack([module.get_parameter(f"{name}_l{layer}") for layer in range(first, layers)])

    weight_hh = of_layers("weight_hh")
    weight_ih = of_layers("weight_ih", first=1) if layers > 1 else weight_hh[1:]
    weight_hr = of_layers("weight_hr") if module.proj_size else None
    no_bias = weight_hh.new_zeros(weight_hh.shape[:2])
    bias_ih, bias_hh = (of_layers("bias_ih"), of_layers("bias_hh")) if module.bias else (no_bias, no_bias)

    x = sequences.rows.split(sequences.batch)
    sums_of_first = linear(sequences.rows, module.weight_ih_l0, bias_ih[0]).split(sequences.batch)
    states = [tuple(state[layer] for state in initial) for layer in range(layers)]
    handed_on = [x[0]] * layers  # what each layer handed on last
    outputs: list[Tensor] = []
    for tick, slots in groupby(wavefront(len(x), layers), key=lambda slot: slot.tick):
        active = [slot.layer for slot in slots]
        inputs = [handed_on[layer - 1] if layer else x[tick] for layer in active]
        low, high = active[0], active[-1] + 1
        deeper = slice(max(low, 1), high)
        input_sums = [sums_of_first[tick].unsqueeze(0)] if low == 0 else []
        if high > 1:
            weights = weight_ih[deeper.start - 1 : high - 1]
            input_sums.append(_products(inputs[deeper.start - low :], weights, bias_ih[deeper]))
        state_sums = _products([states[layer][0] for layer in active], weight_hh[low:high], bias_hh[low:high])
        reached = _update(module, torch.cat(input_sums), state_sums, [states[layer] for layer in active])
        if weight_hr is not None:
            reached = torch.bmm(reached[0], weight_hr[low:high].transpose(1, 2)), reached[1]
        for layer, entering, *state in zip(active, inputs, *reached, strict=True):
            states[layer] = tuple(state)
            handed_on[layer] = module._hand_on(layer, entering, state[0], sequences)
        if high == layers:
            outputs.append(handed_on[-1])
    return torch.cat(outputs), tuple(map(torch.stack, zip(*states, strict=True)))


def _products(rows: list[Tensor], weights: Tensor, biases: Tensor) -> Tensor:
    """rows[k] W_k^T + b_k for every cell k of a tick, in one batched product: (cells, N, gates*H)."""
    return torch.baddbmm(biases.unsqueeze(1), torch.stack(rows), weights.transpose(1, 2))


def _update(module: Stack, input_sums: Tensor, state_sums: Tensor, states) -> tuple[Tensor, ...]:
    """The cells of a tick: sums (cells, N, gates*H) and states to the new states, each (cells, N, H)."""
    if module.mode == "LSTM":
        return lstm_update(input_sums, state_sums, torch.stack([c for _, c in states]))
    if module.mode == "GRU":
        return (gru_update(input_sums, state_sums, torch.stack([h for (h,) in states])),)
    return (rnn_update(input_sums, state_sums, getattr(torch, module.nonlinearity)),)


def _check_size(steps: int, layers: int) -> None:
    for name, value in (("steps", steps), ("layers", layers)):
        if value < 1:
            raise ValueError(f"{name}={value}: expected at least 1")


def _check_workers(workers: int) -> None:
    if workers < 1:
        raise ValueError(f"workers={workers}: expected at least 1")
