"""Backpropagation through time in segments: keep the states between them, run each again when needed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from .cost.checks import integer
from .measure import tensors_in


class Checkpointed(nn.Module):
    """A unidirectional stack whose steps are cut into segments (Gruslys et al. 2016, arXiv:1606.03401).

    Between the forward and the backward pass only the input and the states at the cuts are kept. The backward
    pass runs one segment at a time again, so that at its peak the storage of one segment comes on top.

    Parameters
    ----------
    rnn
        an RNN, GRU or LSTM of ``torch.nn`` or ``rnnlib``, unidirectional and time-major.
    segments
        how many; at most as many as there are steps.

    Raises
    ------
    ValueError
        If the stack is bidirectional or batch-first, or ``segments`` is not positive.

    Examples
    --------
    >>> lstm = nn.LSTM(3, 5)
    >>> x = torch.randn(12, 4, 3)
    >>> torch.allclose(Checkpointed(lstm, segments=3)(x)[0], lstm(x)[0], atol=1e-6)
    True
    """

    def __init__(self, rnn: Any, segments: int) -> None:
        super().__init__()
        for option in ("bidirectional", "batch_first"):
            if getattr(rnn, option):
                raise ValueError(f"rnn.{option}=True: expected False, since the steps are cut along time")
        self.rnn = rnn
        self.segments = integer("segments", segments, 1)

    def forward(self, x: Tensor, hx: Any = None) -> tuple[Tensor, Any]:
        """As the stack's own: x (T, N, input_size) to (T, N, W) and the final states."""
        states = self._initial_states(x) if hx is None else tuple(tensors_in(hx))
        # A reentrant checkpoint is differentiated only if one of its inputs is.
        states = tuple(s if s.requires_grad else s.detach().requires_grad_() for s in states)
        outputs = []
        for piece in x.chunk(self.segments):
            output, *states = checkpoint(self._segment, piece, *states, use_reentrant=True)
            outputs.append(output)
        return torch.cat(outputs), tuple(states) if self._is_lstm else states[0]

    def _segment(self, piece: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        output, final = self.rnn(piece, states if self._is_lstm else states[0])
        return output, *tensors_in(final)

    @property
    def _is_lstm(self) -> bool:
        return self.rnn.mode == "LSTM"

    def _initial_states(self, x: Tensor) -> tuple[Tensor, ...]:
        h = x.new_zeros(self.rnn.num_layers, x.shape[1], self.rnn.proj_size or self.rnn.hidden_size)
        c = x.new_zeros(self.rnn.num_layers, x.shape[1], self.rnn.hidden_size)
        return (h, c) if self._is_lstm else (h,)
