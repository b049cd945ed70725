"""The network: what it drops, and its tied tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...cost.checks import choice, integer, probability
from ...init import forget_bias_
from ...stack import LSTM
from ...stack.base import DROPOUT_MASKS

States = Sequence[tuple[Tensor, Tensor]]

SCALE = 0.3  # bound of the uniform initial weights


@dataclass(frozen=True)
class Dropouts:
    """What is dropped while training, as shares.

    The original's rates for Penn Treebank are those of ``Dropouts(0.5, 0.1, 0.4, 0.25, 0.4)``.
    """

    weight: float = 0.0
    """Of the recurrent weights of every layer, drawn once a window."""
    word: float = 0.0
    """Of the words of the vocabulary, whose embeddings are then zero at every place in the window."""
    input: float = 0.0
    """Of the embeddings' units."""
    hidden: float = 0.0
    """Of the units between two layers."""
    output: float = 0.0
    """Of the units of the last layer."""
    mask: str = "sequence"
    """Whether the last three draw one mask for all steps of a window, or one for each ("step")."""

    def __post_init__(self) -> None:
        for name in ("weight", "word", "input", "hidden", "output"):
            probability(name, getattr(self, name))
        choice("mask", self.mask, DROPOUT_MASKS)


class AWDLSTM(nn.Module):
    """Embedding, LSTM layers and softmax, with everything dropped that can be.

    Parameters
    ----------
    words
        size of the vocabulary.
    embedding_size, hidden_size, num_layers
        widths of embeddings and layers. The last layer is as wide as an embedding.
    dropouts
        what is dropped in training mode; nothing by default.
    tied
        score a word by its own embedding, instead of a second table.

    Raises
    ------
    ValueError
        If a size is not positive.

    Examples
    --------
    >>> model = AWDLSTM(words=10, embedding_size=4, hidden_size=6)
    >>> scores, states = model(torch.zeros(5, 2, dtype=torch.long))
    >>> scores.shape, [tuple(h.shape) for h, c in states]
    (torch.Size([5, 2, 10]), [(1, 2, 6), (1, 2, 6), (1, 2, 4)])
    """

    def __init__(
        self,
        words: int,
        embedding_size: int,
        hidden_size: int,
        num_layers: int = 3,
        *,
        dropouts: Dropouts = Dropouts(),
        tied: bool = True,
    ) -> None:
        super().__init__()
        words, embedding_size = integer("words", words, 1), integer("embedding_size", embedding_size, 1)
        hidden_size = integer("hidden_size", hidden_size, 1)
        num_layers = integer("num_layers", num_layers, 1)
        self.dropouts = dropouts
        self.embedding = nn.Embedding(words, embedding_size)
        widths = [embedding_size, *[hidden_size] * (num_layers - 1), embedding_size]
        self.layers = nn.ModuleList(
            LSTM(below, width, weight_dropout=dropouts.weight) for below, width in pairwise(widths)
        )
        self.output = nn.Linear(embedding_size, words)
        self.reset_parameters()
        if tied:
            self.output.weight = self.embedding.weight

    def reset_parameters(self) -> None:
        """Draw every matrix from the same uniform distribution; biases are 0, those of forget gates 1."""
        for name, parameter in self.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.uniform_(parameter, -SCALE, SCALE)
        for module in self.modules():
            if isinstance(module, LSTM):
                forget_bias_(module)

    def forward(self, x: Tensor, states: States | None = None) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Codes (T, N) and the layers' states, zero if absent, to scores (T, N, words) and final states."""
        rates, table = self.dropouts, self.embedding.weight
        kept = functional.dropout(table.new_ones(len(table), 1), rates.word, self.training)
        y = self._masked(functional.embedding(x, kept * table), rates.input)
        finals = []
        for k, layer in enumerate(self.layers):
            y, final = layer(y, None if states is None else states[k])
            finals.append(final)
            y = self._masked(y, rates.hidden if layer is not self.layers[-1] else rates.output)
        return self.output(y), finals

    def _masked(self, y: Tensor, rate: float) -> Tensor:
        """Units of (T, N, width) dropped, the same ones at all steps of a sequence or others at each."""
        like = y[0] if self.dropouts.mask == "sequence" else y
        return y * functional.dropout(torch.ones_like(like), rate, self.training)

    @torch.no_grad()
    def write(self, start: Tensor, words: int, *, seed: int, never: Sequence[int] = ()) -> Tensor:
        """Words drawn one after another from what the model expects, (words,); in evaluation mode.

        Parameters
        ----------
        start
            (T,) codes to go on from.
        words
            how many to draw.
        seed
            of the draws.
        never
            codes that are not drawn.
        """
        was_training = self.training
        self.eval()
        generator = torch.Generator().manual_seed(seed)
        x, states, drawn = start[:, None], None, []
        for _ in range(integer("words", words, 1)):
            scores, states = self(x, states)
            chances = scores[-1, 0].softmax(-1)
            chances[list(never)] = 0
            x = torch.multinomial(chances, 1, generator=generator)[None]
            drawn.append(x[0, 0])
        self.train(was_training)
        return torch.stack(drawn)
