"""The forms in which torch.nn takes sequences and states, checked and brought into one: rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


@dataclass(frozen=True)
class Sequences:
    """A batch of sequences as rows (tokens, width), step by step, and the form it came in.

    ``rows`` and ``sizes`` are as :class:`rnnlib.recurrence.Steps` describes them.
    """

    source: Tensor | PackedSequence
    batch_first: bool

    @property
    def packed(self) -> bool:
        return isinstance(self.source, PackedSequence)

    @property
    def data(self) -> Tensor:
        return self.source.data if self.packed else self.source

    @property
    def batched(self) -> bool:
        return self.packed or self.source.dim() == 3

    @property
    def time_major(self) -> Tensor:
        """(T, N, width) of a padded batch; (T, 1, width) without one."""
        if not self.batched:
            return self.source.unsqueeze(1)
        return self.source.transpose(0, 1) if self.batch_first else self.source

    @property
    def rows(self) -> Tensor:
        return self.source.data if self.packed else self.time_major.flatten(0, 1)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        if self.packed:
            return tuple(self.source.batch_sizes.tolist())
        steps, batch, _ = self.time_major.shape
        return (batch,) * steps

    @property
    def batch(self) -> int:
        return int(self.source.batch_sizes[0]) if self.packed else self.time_major.shape[1]

    def like_source(self, rows: Tensor) -> Tensor | PackedSequence:
        """Rows (tokens, width) in the form of the input."""
        if self.packed:
            return self.source._replace(data=rows)
        output = rows.unflatten(0, self.time_major.shape[:2])
        if not self.batched:
            return output.squeeze(1)
        return output.transpose(0, 1) if self.batch_first else output

    def sorted_state(self, state: Tensor) -> Tensor:
        """A caller's state as (layers, N, width), in the order of the rows."""
        if not self.batched:
            return state.unsqueeze(1)
        if self.packed and self.source.sorted_indices is not None:
            return state.index_select(1, self.source.sorted_indices)
        return state

    def callers_state(self, state: Tensor) -> Tensor:
        """The inverse of :meth:`sorted_state`."""
        if not self.batched:
            return state.squeeze(1)
        if self.packed and self.source.unsorted_indices is not None:
            return state.index_select(1, self.source.unsorted_indices)
        return state


def check_input(name: str, sequences: Sequences, input_size: int, weight: Tensor) -> None:
    """Raise unless a module ``name`` with ``weight`` can run the sequences.

    Raises
    ------
    TypeError
        If the input is neither a tensor nor a packed sequence.
    ValueError
        If it has the wrong rank or dtype, or no time steps.
    RuntimeError
        If it has the wrong width or device.
    """
    source = sequences.source
    if not isinstance(source, Tensor | PackedSequence):
        raise TypeError(f"{name}: expected a Tensor or a PackedSequence as input, got {type(source).__name__}")
    data = sequences.data
    expected = f"(tokens, {input_size})" if sequences.packed else (
        f"({'N, T' if sequences.batch_first else 'T, N'}, {input_size}), or (T, {input_size}) without a batch")
    if data.dim() not in ((2,) if sequences.packed else (2, 3)):
        raise ValueError(f"{name}: expected input of shape {expected}, got {tuple(data.shape)}")
    if data.shape[-1] != input_size:
        raise RuntimeError(f"{name}: input has width {data.shape[-1]}, expected input_size={input_size}: "
                           f"input of shape {expected}, got {tuple(data.shape)}")
    if data.device != weight.device:
        raise RuntimeError(f"{name}: input is on {data.device}, but the weights are on {weight.device}")
    if data.dtype != weight.dtype and not torch.is_autocast_enabled(data.device.type):
        raise ValueError(
            f"RNN input dtype ({data.dtype}) does not match weight dtype ({weight.dtype}). "
            f"Convert input: input.to({weight.dtype}), or convert model: model.to({data.dtype})")
    if sequences.packed:
        if len(source.batch_sizes) == 0 or source.batch_sizes.min() < 1:
            raise ValueError(f"{name}: expected every packed sequence to have at least one step, "
                             f"got batch_sizes={source.batch_sizes.tolist()}")
        if source.batch_sizes.sum() != len(data):
            raise ValueError(f"{name}: batch_sizes={source.batch_sizes.tolist()} of the packed input sum to "
                             f"{source.batch_sizes.sum()}, but it holds {len(data)} rows")
    elif sequences.time_major.shape[0] == 0:
        raise ValueError(f"{name}: expected at least one time step, got an empty sequence: "
                         f"input of shape {tuple(data.shape)}")


def check_states(names: tuple[str, ...], states: tuple[Tensor, ...], expected: tuple[tuple[int, ...], ...],
                 sequences: Sequences) -> None:
    """Raise a RuntimeError unless every initial state has the expected shape, dtype and device."""
    data = sequences.data
    for name, state, shape in zip(names, states, expected, strict=True):
        if not sequences.batched:
            shape = (shape[0], shape[2])
        if tuple(state.shape) != shape:
            raise RuntimeError(f"Expected hidden size {shape} for {name}, got {list(state.shape)}")
        if state.device != data.device:
            raise RuntimeError(f"{name} is on {state.device}, but the input is on {data.device}")
        if state.dtype != data.dtype and not torch.is_autocast_enabled(data.device.type):
            raise RuntimeError(f"{name} has dtype {state.dtype}, expected the input's, {data.dtype}")
