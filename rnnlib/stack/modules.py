"""RNN, GRU and LSTM: each a torch.nn module with the recurrence of its cell."""

from __future__ import annotations

import torch
from torch import nn

from ..recurrence import (
    GRURecurrence,
    LayerNormLSTMRecurrence,
    LSTMRecurrence,
    RNNRecurrence,
    layer_norm_gru,
    layer_norm_rnn,
)
from .base import Stack


class RNN(Stack, nn.RNN):
    """A stack of Elman RNNs, a drop-in replacement for :class:`torch.nn.RNN`; see :mod:`rnnlib.stack`.

    >>> rnn = RNN(3, 5, num_layers=2, residual=True)
    >>> output, h_n = rnn(torch.zeros(6, 4, 3))
    >>> output.shape, h_n.shape
    (torch.Size([6, 4, 5]), torch.Size([2, 4, 5]))
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
        *,
        residual=False,
        layer_norm=None,
        dropout_mask="step",
        weight_dropout=0.0,
        storage="native",
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            nonlinearity,
            False if layer_norm == "gates" else bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
        self._extend(residual, layer_norm, dropout_mask, weight_dropout, storage)

    def _recurrence(self, x, states, weight, steps):
        if self.layer_norm == "gates":
            h, h_n = layer_norm_rnn(
                x,
                *states,
                weight("weight_ih"),
                weight("weight_hh"),
                weight("gain_ih"),
                weight("gain_hh"),
                weight("shift"),
                steps,
                getattr(torch, self.nonlinearity),
            )
        else:
            h, h_n = RNNRecurrence.run(
                x,
                *states,
                weight("weight_ih"),
                weight("weight_hh"),
                weight("bias_ih"),
                weight("bias_hh"),
                steps,
                self.nonlinearity,
            )
        return h, (h_n,)


class GRU(Stack, nn.GRU):
    """A stack of GRUs, a drop-in replacement for :class:`torch.nn.GRU`; see :mod:`rnnlib.stack`.

    >>> gru = GRU(3, 5, batch_first=True, storage="recompute")
    >>> output, h_n = gru(torch.zeros(4, 6, 3))
    >>> output.shape, h_n.shape
    (torch.Size([4, 6, 5]), torch.Size([1, 4, 5]))
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
        *,
        residual=False,
        layer_norm=None,
        dropout_mask="step",
        weight_dropout=0.0,
        storage="native",
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            False if layer_norm == "gates" else bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
        self._extend(residual, layer_norm, dropout_mask, weight_dropout, storage)

    def _gate_norm_sizes(self):
        return {**super()._gate_norm_sizes(), "shift_hn": self.hidden_size}

    def _recurrence(self, x, states, weight, steps):
        if self.layer_norm == "gates":
            h, h_n = layer_norm_gru(
                x,
                *states,
                weight("weight_ih"),
                weight("weight_hh"),
                weight("gain_ih"),
                weight("gain_hh"),
                weight("shift"),
                weight("shift_hn"),
                steps,
            )
        else:
            h, h_n, *_ = GRURecurrence.run(
                x,
                *states,
                weight("weight_ih"),
                weight("weight_hh"),
                weight("bias_ih"),
                weight("bias_hh"),
                steps,
                self.storage,
            )
        return h, (h_n,)


class LSTM(Stack, nn.LSTM):
    """A stack of LSTMs, a drop-in replacement for :class:`torch.nn.LSTM`; see :mod:`rnnlib.stack`.

    >>> lstm = LSTM(3, 5, bidirectional=True, layer_norm="gates")
    >>> output, (h_n, c_n) = lstm(torch.zeros(6, 4, 3))
    >>> output.shape, h_n.shape, c_n.shape
    (torch.Size([6, 4, 10]), torch.Size([2, 4, 5]), torch.Size([2, 4, 5]))
    """

    schemes_with_gate_norm = ("native", "gates", "recompute")

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
        *,
        residual=False,
        layer_norm=None,
        dropout_mask="step",
        weight_dropout=0.0,
        storage="native",
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            False if layer_norm == "gates" else bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device=device,
            dtype=dtype,
        )
        self._extend(residual, layer_norm, dropout_mask, weight_dropout, storage)

    def _gate_norm_sizes(self):
        return {**super()._gate_norm_sizes(), "gain_c": self.hidden_size, "shift_c": self.hidden_size}

    def _recurrence(self, x, states, weight, steps):
        if self.layer_norm == "gates":
            names = (
                "weight_ih",
                "weight_hh",
                "gain_ih",
                "gain_hh",
                "shift",
                "gain_c",
                "shift_c",
                "weight_hr",
            )
            h, *finals = LayerNormLSTMRecurrence.run(x, *states, *map(weight, names), steps, self.storage)
        else:
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
            h, *finals = LSTMRecurrence.run(x, *states, *map(weight, names), steps, self.storage)
        return h, tuple(finals[:2])
