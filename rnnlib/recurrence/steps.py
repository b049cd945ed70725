"""Which sequences of a batch run at which step, and in which order a direction visits the steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor


@dataclass(frozen=True)
class Block:
    """Consecutive steps at which equally many sequences run: the rows start .. start + steps*sequences."""

    start: int
    steps: int
    sequences: int
    continued: int  # how many of the sequences have already made a step when the block is entered
    reverse: bool

    def rows(self, tensor: Tensor) -> Tensor:
        """The block's part of a tensor (..., tokens, width)."""
        return tensor.narrow(-2, self.start, self.steps * self.sequences)

    def visits(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """(..., tokens, width) as one view (..., sequences, width) per step, in the order of the visits."""
        views = self.rows(tensor).unflatten(-2, (self.steps, self.sequences)).unbind(-3)
        return views[::-1] if self.reverse else views


@dataclass(frozen=True)
class Steps:
    """The time steps of one direction.

    A batch is held as *rows*: a tensor (tokens, width) with the rows of the first step, then those of the
    second, and so on, as ``PackedSequence.data`` has them; a padded (T, N, width) is T*N rows. ``sizes[t]``
    sequences run at step t, the longest first, so ``sizes`` never grows.

    A *state* (N, width) has a row for every sequence. Where n sequences run, its first n rows change and the
    others rest: they hold final states of sequences that have ended (forward) or initial states of sequences
    that have not begun (reverse). A padded batch is one block; a packed one has a block per distinct length.

    >>> Steps((2, 2, 1)).blocks
    (Block(start=0, steps=2, sequences=2, continued=0, reverse=False), \
Block(start=4, steps=1, sequences=1, continued=1, reverse=False))
    >>> [rows.tolist() for rows in Steps((2, 2)).blocks[0].visits(torch.arange(4).view(4, 1))]
    [[[0], [1]], [[2], [3]]]
    """

    sizes: tuple[int, ...]
    reverse: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in the order of the visits."""
        spans, start = [], 0
        for n, equal in groupby(self.sizes):
            steps = len(list(equal))
            spans.append((start, steps, n))
            start += steps * n
        blocks, running = [], 0
        for start, steps, n in reversed(spans) if self.reverse else spans:
            blocks.append(Block(start, steps, n, min(running, n), self.reverse))
            running = n
        return tuple(blocks)

    def starts(self, reached: Tensor, initial: Tensor) -> list[tuple[slice, Tensor]]:
        """From which states the steps start: rows, and the states that the steps at these rows start from.

        The states that the steps reach are rows already, so most steps need no copy: they start from rows
        that lie one step before theirs. Only the steps that enter a block start from a state.
        """
        pairs = []
        state = initial
        for block in self.blocks:
            n, rows = block.sequences, block.rows(reached)
            start, end = block.start, block.start + len(rows)
            if self.reverse:
                pairs += [(slice(end - n, end), state[:n]), (slice(start, end - n), rows[n:])]
                last = rows[:n]
            else:
                pairs += [(slice(start, start + n), state[:n]), (slice(start + n, end), rows[:-n])]
                last = rows[-n:]
            state = torch.cat([last, state[n:]])
        return pairs

    def before(self, reached: Tensor, initial: Tensor) -> Tensor:
        """The state from which every step starts, as rows."""
        pieces = [states for _, states in self.starts(reached, initial)]
        return torch.cat(pieces[::-1] if self.reverse else pieces)


def or_zeros(gradient: Tensor | None, like: Tensor) -> Tensor:
    """The gradient of an output, zeros where the loss does not depend on it."""
    return torch.zeros_like(like) if gradient is None else gradient
