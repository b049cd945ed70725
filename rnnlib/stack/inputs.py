"""The forms in which torch.nn takes sequences and states, checked and brought into one: rows.

``rows`` (tokens, width) and ``sizes`` are as :class:`rnnlib.recurrence.Steps` describes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


@dataclass(frozen=True)
class Padded:
    """A batch of equally long sequences, (T, N, width) or (N, T, width), or one sequence (T, width)."""

    data: Tensor
    batch_first: bool

    @property
    def time_major(self) -> Tensor:
        """(T, N, width), with N = 1 without a batch."""
        if self.data.dim() == 2:
            return self.data.unsqueeze(1)
        return self.data.transpose(0, 1) if self.batch_first else self.data

    @property
    def rows(self) -> Tensor:
        return self.time_major.flatten(0, 1)

    @property
    def batch(self) -> int:
        return self.time_major.shape[1]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return (self.batch,) * len(self.time_major)

    def like_input(self, rows: Tensor) -> Tensor:
        """Rows in the form of the input."""
        output = rows.unflatten(0, self.time_major.shape[:2])
        if self.data.dim() == 2:
            return output.squeeze(1)
        return output.transpose(0, 1) if self.batch_first else output

    def state_shape(self, layers: int, width: int) -> tuple[int, ...]:
        """The shape of a caller's state."""
        return (layers, width) if self.data.dim() == 2 else (layers, self.batch, width)

    def from_caller(self, state: Tensor) -> Tensor:
        """A caller's state as (layers, N, width), in the order of the rows."""
        return state.unsqueeze(1) if self.data.dim() == 2 else state

    def to_caller(self, state: Tensor) -> Tensor:
        """The inverse of :meth:`from_caller`."""
        return state.squeeze(1) if self.data.dim() == 2 else state

    def check_form(self, name: str, input_size: int) -> None:
        shape = "(N, T, {0})" if self.batch_first else "(T, N, {0})"
        expected = f"{shape.format(input_size)}, or (T, {input_size}) without a batch"
        if self.data.dim() not in (2, 3):
            raise ValueError(f"{name}: expected input of shape {expected}, got {tuple(self.data.shape)}")
        if len(self.time_major) == 0:
            raise ValueError(
                f"{name}: expected at least one time step, got an empty sequence: "
                f"input of shape {tuple(self.data.shape)}"
            )


@dataclass(frozen=True)
class Packed:
    """A batch of sequences of different lengths, the longest first, with the caller's order beside it."""

    source: PackedSequence

    @property
    def data(self) -> Tensor:
        return self.source.data

    @property
    def rows(self) -> Tensor:
        return self.source.data

    @property
    def batch(self) -> int:
        return self.sizes[0]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.source.batch_sizes.tolist())

    def like_input(self, rows: Tensor) -> PackedSequence:
        """Rows in the form of the input."""
        return self.source._replace(data=rows)

    def state_shape(self, layers: int, width: int) -> tuple[int, ...]:
        """The shape of a caller's state."""
        return (layers, self.batch, width)

    def from_caller(self, state: Tensor) -> Tensor:
        """A caller's state (layers, N, width) in the order of the rows."""
        order = self.source.sorted_indices
        return state if order is None else state.index_select(1, order)

    def to_caller(self, state: Tensor) -> Tensor:
        """The inverse of :meth:`from_caller`."""
        order = self.source.unsorted_indices
        return state if order is None else state.index_select(1, order)

    def check_form(self, name: str, input_size: int) -> None:
        if self.data.dim() != 2:
            raise ValueError(
                f"{name}: expected packed input of shape (tokens, {input_size}), got {tuple(self.data.shape)}"
            )
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(
                f"{name}: expected at least one time step in every packed sequence, "
                f"got batch_sizes={list(self.sizes)}"
            )
        if sum(self.sizes) != len(self.data):
            raise ValueError(
                f"{name}: expected as many packed rows as batch_sizes={list(self.sizes)} sum to, "
                f"{sum(self.sizes)}, got {len(self.data)}"
            )


Sequences = Padded | Packed


def checked_sequences(name: str, input, batch_first: bool, input_size: int, weight: Tensor) -> Sequences:
    """The input of a module called ``name`` that has ``weight`` for it.

    Raises
    ------
    TypeError
        If it is neither a tensor nor a packed sequence.
    ValueError
        If it has the wrong rank or dtype, or a sequence without time steps.
    RuntimeError
        If it has the wrong width or device.
    """
    sequences: Sequences
    if isinstance(input, PackedSequence):
        sequences = Packed(input)
    elif isinstance(input, Tensor):
        sequences = Padded(input, batch_first)
    else:
        raise TypeError(f"{name}: expected a Tensor or a PackedSequence as input, got {type(input).__name__}")
    sequences.check_form(name, input_size)
    data = sequences.data
    if data.shape[-1] != input_size:
        raise RuntimeError(
            f"{name}: expected input of width input_size={input_size}, got width {data.shape[-1]}: "
            f"input of shape {tuple(data.shape)}"
        )
    if data.device != weight.device:
        raise RuntimeError(
            f"{name}: expected input on {weight.device}, where the weights are, got {data.device}"
        )
    if data.dtype != weight.dtype and not torch.is_autocast_enabled(data.device.type):
        raise ValueError(  # torch.nn's words
            f"RNN input dtype ({data.dtype}) does not match weight dtype ({weight.dtype}). "
            f"Convert input: input.to({weight.dtype}), or convert model: model.to({data.dtype})"
        )
    return sequences


def check_state(name: str, state: Tensor, layers: int, width: int, sequences: Sequences) -> None:
    """Raise a RuntimeError unless an initial state fits the sequences."""
    data, shape = sequences.data, sequences.state_shape(layers, width)
    if tuple(state.shape) != shape:
        raise RuntimeError(f"Expected hidden size {shape} for {name}, got {list(state.shape)}")
    if state.device != data.device:
        raise RuntimeError(
            f"{name}: expected a state on {data.device}, where the input is, got {state.device}"
        )
    if state.dtype != data.dtype and not torch.is_autocast_enabled(data.device.type):
        raise RuntimeError(f"{name}: expected a state of the input's dtype, {data.dtype}, got {state.dtype}")
