"""The networks of the sweeps over depth, and the width at which one of them has a budget's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from rnnlib import StackSpec, match
from rnnlib.init import forget_bias_
from rnnlib.measure import parameters
from rnnlib.systems.seq2seq import Seq2Seq

from .recall import CELLS

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "residual": {"residual": True},
    "output norm": {"layer_norm": "output"},
    "gate norm": {"layer_norm": "gates"},
    "residual + output norm": {"residual": True, "layer_norm": "output"},
    "residual + gate norm": {"residual": True, "layer_norm": "gates"},
}
EMBEDDING = 32
MISMATCH = 1.0  # per cent of a budget


def make_stack(cell: str, input_size: int, width: int, depth: int, variant: str) -> nn.RNNBase:
    """A stack in torch's initialisation, the forget bias of every LSTM layer at 1.

    >>> make_stack("lstm", 3, 5, 2, "residual")
    LSTM(3, 5, num_layers=2, residual=True)
    """
    module, storage = CELLS[cell]
    stack: nn.RNNBase = module(input_size, width, depth, storage=storage, **VARIANTS[variant])
    return forget_bias_(stack) if cell == "lstm" else stack


class Network(nn.Module):
    """What the networks of the sweeps have in common."""

    @property
    def stacks(self) -> tuple[nn.RNNBase, ...]:
        """From input to output."""
        raise NotImplementedError


class Classifier(Network):
    """A stack, and a linear layer that reads its output at the last step of every sequence."""

    def __init__(self, cell: str, width: int, depth: int, variant: str, features: int, classes: int) -> None:
        super().__init__()
        self.stack = make_stack(cell, features, width, depth, variant)
        self.output = nn.Linear(width, classes)

    @property
    def stacks(self) -> tuple[nn.RNNBase, ...]:
        return (self.stack,)

    def forward(self, x: Tensor | PackedSequence) -> Tensor:
        """(T, N, features), or packed, to (N, classes)."""
        return self.output(last(self.stack(x)[0]))


def last(output: Tensor | PackedSequence) -> Tensor:
    """What stands at every sequence's last step, (N, width)."""
    if isinstance(output, Tensor):
        return output[-1]
    padded, lengths = pad_packed_sequence(output)
    return padded[lengths - 1, torch.arange(len(lengths))]


class LanguageModel(Network):
    """Embedding, stack and a linear layer that scores the symbol that follows each one."""

    def __init__(self, cell: str, width: int, depth: int, variant: str, symbols: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, EMBEDDING)
        self.stack = make_stack(cell, EMBEDDING, width, depth, variant)
        self.output = nn.Linear(width, symbols)

    @property
    def stacks(self) -> tuple[nn.RNNBase, ...]:
        return (self.stack,)

    def forward(self, x: Tensor) -> Tensor:
        """(T, N) codes to (T, N, symbols)."""
        return self.output(self.stack(self.embedding(x))[0])


class Transducer(Seq2Seq, Network):
    """Encoder and decoder of equal depth; the last states of the one are the first of the other."""

    def __init__(
        self,
        cell: str,
        width: int,
        depth: int,
        variant: str,
        source_symbols: int,
        target_symbols: int,
        *,
        reverse_source: bool = True,
    ) -> None:
        super().__init__(
            lambda size: make_stack(cell, size, width, depth, variant),
            EMBEDDING,
            source_symbols,
            target_symbols,
            reverse_source=reverse_source,
        )

    @property
    def stacks(self) -> tuple[nn.RNNBase, ...]:
        return self.encoder, self.decoder


def matched_to(budget: int, build: Callable[[int], Network]) -> int:
    """The width at which ``build(width)`` has as many parameters as the budget, as a whole, to within 1%.

    Raises
    ------
    ValueError
        If no width comes that near.

    Examples
    --------
    >>> matched_to(33_770, lambda width: Classifier("lstm", width, 4, "plain", 1, 10))
    34
    """

    def first_stack_and_rest(width: int) -> tuple[StackSpec, int]:
        with torch.random.fork_rng([]):
            model = build(width)
        spec = StackSpec.of(model.stacks[0])
        return spec, parameters(model) - spec.parameters()

    spec, _ = first_stack_and_rest(1)
    found = match(
        spec.cell,
        spec.input_size,
        budget,
        extra=lambda width: first_stack_and_rest(width)[1],
        num_layers=spec.num_layers,
        layer_norm=spec.layer_norm,
        residual=spec.residual,
    )
    if not abs(found.mismatch) < MISMATCH:
        raise ValueError(
            f"budget={budget}: the nearest width {found.hidden_size} has {found.parameters} parameters, "
            f"{found.mismatch:+.2f}%; expected less than {MISMATCH:g}%"
        )
    return found.hidden_size
