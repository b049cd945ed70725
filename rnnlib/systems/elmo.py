"""ELMo: two language models that read a text from either end, and word vectors from all of their layers.

Peters et al. (2018), *Deep contextualized word representations*, https://arxiv.org/abs/1802.05365.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from .. import LSTM
from ..cost.checks import integer
from ..init import forget_bias_


class BiLM(nn.Module):
    """A forward and a backward language model that share their embedding and their output layer.

    Each direction is a stack of its own: two LSTM layers with projections, a residual around the second. The
    directions never read each other, so neither sees the token that it is to name.

    Parameters
    ----------
    symbols
        size of the vocabulary.
    width
        of the embedding and of the projected states, P.
    hidden_size
        units of every LSTM layer, more than ``width``.

    Raises
    ------
    ValueError
        If ``hidden_size`` is not larger than ``width``: there would be nothing to project.

    Examples
    --------
    >>> model = BiLM(symbols=50, width=4, hidden_size=8)
    >>> tokens = torch.zeros(6, 3, dtype=torch.long)
    >>> model(tokens).shape, model.layers(tokens).shape
    (torch.Size([2, 5, 3, 50]), torch.Size([3, 6, 3, 8]))
    """

    def __init__(self, symbols: int, width: int, hidden_size: int) -> None:
        super().__init__()
        if not 0 < width < hidden_size:
            raise ValueError(
                f"width={width!r}: expected a positive number less than hidden_size={hidden_size!r}"
            )

        def stack() -> nn.ModuleList:
            return nn.ModuleList(
                forget_bias_(LSTM(width, hidden_size, proj_size=width, residual=residual))
                for residual in (False, True)
            )

        self.embedding = nn.Embedding(symbols, width)
        self.left_to_right, self.right_to_left = stack(), stack()
        self.output = nn.Linear(width, symbols)

    def layers(self, tokens: Tensor) -> Tensor:
        """Three vectors for every token, both directions side by side.

        Parameters
        ----------
        tokens
            (T, N) codes.

        Returns
        -------
        Tensor
            (3, T, N, 2P): the embedding, twice; the states of the first layer; those of the second. At
            token k stand the forward state that has read tokens up to k, and the backward state that has read
            tokens from the end down to k.

        Raises
        ------
        ValueError
            If ``tokens`` is not (T, N).
        """
        if tokens.dim() != 2:
            raise ValueError(f"tokens of shape {tuple(tokens.shape)}: expected (T, N)")
        x = self.embedding(tokens)
        ahead = _heights(self.left_to_right, x)
        back = _heights(self.right_to_left, x.flip(0)).flip(1)
        return torch.cat([ahead, back], -1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of every token from one side: (T, N) codes to (2, T-1, N, symbols).

        First what the forward model says of tokens 1 to T-1, then what the backward model says of tokens 0 to
        T-2; `targets` has the tokens themselves in the same order.
        """
        ahead, back = self.layers(tokens)[-1].chunk(2, -1)
        return self.output(torch.stack([ahead[:-1], back[1:]]))


def _heights(stack: nn.ModuleList, x: Tensor) -> Tensor:
    """What comes into a stack and what each of its layers hands on: (T, N, P) to (layers + 1, T, N, P)."""
    heights = [x]
    for layer in stack:
        heights.append(layer(heights[-1])[0])
    return torch.stack(heights)


def targets(tokens: Tensor) -> Tensor:
    """What `BiLM` is to name: (T, N) codes to (2, T-1, N).

    >>> targets(torch.tensor([[1], [2], [3]])).squeeze(-1)
    tensor([[2, 3],
            [1, 2]])
    """
    return torch.stack([tokens[1:], tokens[:-1]])


def windows(codes: Tensor, steps: int, batch: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches without end: pieces of a text (steps, batch) from random places, and their `targets`.

    Raises
    ------
    ValueError
        If the text (n,) is shorter than a piece.
    """
    if len(codes) < steps:
        raise ValueError(f"steps={steps!r}: expected at most the {len(codes)} tokens of the text")
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(codes) - steps + 1, (batch,), generator=generator)
        tokens = codes[starts + torch.arange(steps)[:, None]]
        yield tokens, targets(tokens)


class WeightedSum(nn.Module):
    """One vector from several layers: their sum under softmax weights, times a scale, all learned.

    Parameters
    ----------
    layers
        how many. The scalars start at zero and the scale at one, which gives the mean.

    Examples
    --------
    >>> WeightedSum(3)(torch.tensor([[1.0], [2.0], [6.0]]))
    tensor([3.], grad_fn=<MulBackward0>)
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scalars = nn.Parameter(torch.zeros(integer("layers", layers, 1)))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def weights(self) -> Tensor:
        """Of the layers, (layers,); positive, and one in sum."""
        return self.scalars.softmax(0)

    def forward(self, layers: Tensor) -> Tensor:
        """(layers, ..., width) to (..., width)."""
        if len(layers) != len(self.scalars):
            raise ValueError(f"layers of shape {tuple(layers.shape)}: expected {len(self.scalars)} of them")
        return self.scale * torch.tensordot(self.weights, layers, 1)
