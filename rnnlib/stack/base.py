"""The layer loop, and everything else that the three modules share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..cells import normalise
from ..cost.block import SCHEMES
from ..cost.checks import choice, probability
from ..cost.spec import LAYER_NORMS
from ..recurrence import Steps
from .inputs import Packed, Sequences, check_state, checked_sequences

DROPOUT_MASKS = ("step", "sequence")

KERNELS: dict[str, Callable] = {
    "LSTM": torch.lstm,
    "GRU": torch.gru,
    "RNN_TANH": torch.rnn_tanh,
    "RNN_RELU": torch.rnn_relu,
}

Weights = Callable[[str], Tensor | None]  # the parameter of one layer and direction by its name


class Stack(nn.RNNBase):
    """What RNN, GRU and LSTM share. It stands before the torch.nn module that each of them extends.

    That module makes the parameters and runs the plain stack; the layer loop here does everything else.
    """

    weight_ih_l0: nn.Parameter
    weight_hh_l0: nn.Parameter
    nonlinearity: str
    schemes_with_gate_norm: tuple[str, ...] = ("native",)

    def _extend(self, residual, layer_norm, dropout_mask, weight_dropout, storage) -> None:
        """Check and set the options that torch.nn does not have, and make the parameters that they need."""
        choice("layer_norm", layer_norm, LAYER_NORMS)
        choice("dropout_mask", dropout_mask, DROPOUT_MASKS)
        choice("storage", storage, SCHEMES)
        probability("weight_dropout", weight_dropout)
        if not isinstance(residual, bool) and (not isinstance(residual, int) or residual < 1):
            raise ValueError(
                f"residual={residual!r}: expected True, False or the first layer that has one, counted from 1"
            )
        if layer_norm == "gates" and storage not in self.schemes_with_gate_norm:
            raise ValueError(
                f"storage={storage!r}: expected one of "
                f"{', '.join(map(repr, self.schemes_with_gate_norm))} with layer_norm='gates'"
            )
        self.residual = residual
        self.layer_norm = layer_norm
        self.dropout_mask = dropout_mask
        self.weight_dropout = weight_dropout
        self.storage = storage

        for name, size in self._norm_parameters():
            self.register_parameter(name, nn.Parameter(self.weight_ih_l0.detach().new_empty(size)))
        self._reset_norms()

    def _gate_norm_sizes(self) -> dict[str, int]:
        """Sizes of the parameters of ``layer_norm="gates"`` in one layer and direction."""
        gates = len(self.weight_hh_l0)
        return {"gain_ih": gates, "gain_hh": gates, "shift": gates}

    def _norm_parameters(self) -> Iterator[tuple[str, int]]:
        for layer in range(self.num_layers):
            if self.layer_norm == "output":
                yield f"gain_out_l{layer}", self._output_width
                yield f"shift_out_l{layer}", self._output_width
            if self.layer_norm == "gates":
                for suffix in self._suffixes:
                    for name, size in self._gate_norm_sizes().items():
                        yield f"{name}_l{layer}{suffix}", size

    def _reset_norms(self) -> None:
        for name, parameter in self.named_parameters():
            if name.startswith("gain_"):
                nn.init.ones_(parameter)
            elif name.startswith("shift_"):
                nn.init.zeros_(parameter)

    def reset_parameters(self) -> None:
        """Draw the weights and biases as torch.nn does; gains become 1 and shifts 0."""
        super().reset_parameters()
        self._reset_norms()

    @property
    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    @property
    def _output_width(self) -> int:
        return len(self._suffixes) * (self.proj_size or self.hidden_size)

    def _has_residual(self, layer: int) -> bool:
        width = self._output_width if layer else self.input_size
        return 0 < self.residual <= layer + 1 and width == self._output_width

    def extra_repr(self) -> str:
        defaults = {
            "residual": False,
            "layer_norm": None,
            "dropout_mask": "step",
            "weight_dropout": 0.0,
            "storage": "native",
        }
        chosen = [
            f"{name}={getattr(self, name)!r}"
            for name, default in defaults.items()
            if getattr(self, name) != default
        ]
        return ", ".join([super().extra_repr(), *chosen])

    # Forward ------------------------------------------------------------------------------------------------

    def forward(self, input, hx=None):
        """Run the stack on sequences in any of torch.nn's forms.

        Parameters
        ----------
        input
            (T, N, input_size), or (N, T, input_size) with ``batch_first``, or (T, input_size) without a
            batch, or a PackedSequence.
        hx
            initial states, zero if absent: h (num_layers*directions, N, W), where W is ``proj_size`` or else
            ``hidden_size``, and for the LSTM (h, c) with c (num_layers*directions, N, hidden_size). N is the
            second dimension with ``batch_first`` too, and missing without a batch. For packed input the
            sequences are in the caller's order.

        Returns
        -------
        The outputs in the form of the input, (..., directions*W), and the final states in the form of hx.

        Raises
        ------
        ValueError, RuntimeError, TypeError
            For a wrong rank, width, dtype, device or state and for an empty sequence; the message names what
            came and what was expected.
        """
        sequences, states = self._checked(input, hx)
        if self._is_plain:
            return super().forward(input, hx)
        with torch.autocast(sequences.data.device.type, enabled=False):
            rows, finals = self._run_layers(sequences, states)
        return self._in_callers_form(sequences, rows, finals)

    def _checked(self, input, hx) -> tuple[Sequences, tuple[Tensor, ...]]:
        """The sequences, and their initial states (num_layers*directions, N, width) in the rows' order."""
        name = type(self).__name__
        sequences = checked_sequences(name, input, self.batch_first, self.input_size, self.weight_ih_l0)
        layers = self.num_layers * len(self._suffixes)
        widths = {"h_0": self.proj_size or self.hidden_size}
        if self.mode == "LSTM":
            widths["c_0"] = self.hidden_size
        if hx is None:
            like = self.weight_ih_l0.detach()
            return sequences, tuple(like.new_zeros(layers, sequences.batch, w) for w in widths.values())
        states = hx if self.mode == "LSTM" else (hx,)
        if not isinstance(states, tuple | list) or [isinstance(s, Tensor) for s in states] != [True] * len(
            widths
        ):
            form = "a pair of tensors (h_0, c_0)" if self.mode == "LSTM" else "a tensor h_0"
            raise RuntimeError(f"{name}: expected hx to be {form}, got {type(hx).__name__}")
        for (state_name, width), state in zip(widths.items(), states, strict=True):
            check_state(state_name, state, layers, width, sequences)
        return sequences, tuple(sequences.from_caller(state) for state in states)

    def _in_callers_form(self, sequences: Sequences, rows: Tensor, finals: tuple[Tensor, ...]):
        finals = tuple(sequences.to_caller(state) for state in finals)
        return sequences.like_input(rows), finals if self.mode == "LSTM" else finals[0]

    @property
    def _is_plain(self) -> bool:
        """Whether torch.nn itself can run the whole stack."""
        shared_mask = self.dropout_mask == "sequence" and self.dropout > 0 and self.num_layers > 1
        return (
            self.storage == "native"
            and not self.residual
            and self.layer_norm is None
            and not (self.training and (shared_mask or self.weight_dropout > 0))
        )

    def _run_layers(self, sequences: Sequences, states: tuple[Tensor, ...]):
        """Outputs as rows (tokens, directions*W), and the final states in the shape of the initial ones."""
        dtype = self.weight_ih_l0.dtype
        x, states = sequences.rows.to(dtype), tuple(state.to(dtype) for state in states)
        directions = len(self._suffixes)
        run_layer = self._torch_layer if self._runs_torch_kernels else self._recurrent_layer
        finals = []
        for layer in range(self.num_layers):
            here = slice(layer * directions, (layer + 1) * directions)
            h, final = run_layer(layer, x, tuple(state[here] for state in states), sequences)
            finals.append(final)
            x = self._hand_on(layer, x, h, sequences)
        return x, tuple(map(torch.cat, zip(*finals, strict=True)))

    def _hand_on(self, layer: int, x: Tensor, h: Tensor, sequences: Sequences) -> Tensor:
        """y = x + dropout(LN(h)), every part where it is asked for."""
        y = h
        if self.layer_norm == "output":
            y = normalise(y, getattr(self, f"gain_out_l{layer}"), getattr(self, f"shift_out_l{layer}"))
        if layer + 1 < self.num_layers and self.training and self.dropout > 0:
            if self.dropout_mask == "step":
                y = functional.dropout(y, self.dropout)
            else:
                mask = functional.dropout(y.new_ones(sequences.batch, y.shape[1]), self.dropout)
                y = y * torch.cat([mask[:n] for n in sequences.sizes])
        return x + y if self._has_residual(layer) else y

    def _weights(self, layer: int, suffix: str) -> Weights:
        def weight(name: str) -> Tensor | None:
            parameter = getattr(self, f"{name}_l{layer}{suffix}", None)
            if name == "weight_hh" and self.training and self.weight_dropout > 0:
                return functional.dropout(self.get_parameter(f"{name}_l{layer}{suffix}"), self.weight_dropout)
            return parameter

        return weight

    # One layer ----------------------------------------------------------------------------------------------

    @property
    def _runs_torch_kernels(self) -> bool:
        return self.storage == "native" and self.layer_norm != "gates"

    def _torch_layer(self, layer: int, x: Tensor, states: tuple[Tensor, ...], sequences: Sequences):
        """One layer by torch's own kernel: rows, and initial states (directions, N, width), to the same."""
        kernel = KERNELS[self.mode]
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        weights = [
            w for suffix in self._suffixes for w in map(self._weights(layer, suffix), names) if w is not None
        ]
        hx = states if self.mode == "LSTM" else states[0]
        options = (weights, self.bias, 1, 0.0, self.training, self.bidirectional)
        if isinstance(sequences, Packed):
            h, *finals = kernel(x, sequences.source.batch_sizes, hx, *options)
            return h, finals
        h, *finals = kernel(x.unflatten(0, sequences.time_major.shape[:2]), hx, *options, False)
        return h.flatten(0, 1), finals

    def _recurrent_layer(self, layer: int, x: Tensor, states: tuple[Tensor, ...], sequences: Sequences):
        """One layer by rnnlib's recurrences: rows, and initial states (directions, N, width), to the same."""
        outputs, finals = [], []
        for direction, suffix in enumerate(self._suffixes):
            steps = Steps(sequences.sizes, reverse=suffix == "_reverse")
            initial = tuple(state[direction] for state in states)
            h, final = self._recurrence(x, initial, self._weights(layer, suffix), steps)
            outputs.append(h)
            finals.append(final)
        h = torch.cat(outputs, 1) if len(outputs) > 1 else outputs[0]
        return h, tuple(map(torch.stack, zip(*finals, strict=True)))

    def _recurrence(self, x: Tensor, states: tuple[Tensor, ...], weight: Weights, steps: Steps):
        """One direction: rows (tokens, width) and states (N, width) to rows and final states."""
        raise NotImplementedError
