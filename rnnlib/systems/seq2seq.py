"""Encoder and decoder, the last states of one the first of the other: Sutskever, Vinyals and Le 2014.

arXiv:1409.3215. There is no attention: all that the decoder knows of the source are those states.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, one_hot

from ..cost.checks import integer
from .transduction import greedy

States = tuple[Tensor, ...] | Tensor


class Seq2Seq(nn.Module):
    """A stack that reads a source, and one that goes on from its states and says a target.

    Code 0 is that of `rnnlib.systems.transduction`. The encoder reads the padding of a source first and its
    last symbol last, so its states are taken right after the word, whichever way round that is read.

    Parameters
    ----------
    make_stack
        called with an input size, once for the encoder and once for the decoder; returns an RNN, GRU or LSTM
        in one direction that takes (T, N, input size).
    embedding_size
        width of both embeddings.
    source_symbols, target_symbols
        sizes of the vocabularies, code 0 included.
    reverse_source
        read the source from its end, as in the paper.

    Raises
    ------
    ValueError
        If a size is not positive, or a stack runs in both directions or wants the batch first.

    Examples
    --------
    >>> model = Seq2Seq(lambda size: nn.LSTM(size, 16, num_layers=4), 8, source_symbols=27, target_symbols=40)
    >>> source = torch.tensor([[3, 1, 20], [2, 15, 0]]).T  # two words, (S, N) = (3, 2)
    >>> model((source, torch.zeros(1, 2, dtype=torch.int64))).shape
    torch.Size([1, 2, 40])
    >>> said, scores = model.beam_search(source, steps=5, beam=3)
    >>> said.shape, scores.shape
    (torch.Size([5, 3, 2]), torch.Size([3, 2]))
    """

    def __init__(
        self,
        make_stack: Callable[[int], nn.RNNBase],
        embedding_size: int,
        source_symbols: int,
        target_symbols: int,
        *,
        reverse_source: bool = True,
    ) -> None:
        super().__init__()
        self.reverse_source = reverse_source
        embedding_size = integer("embedding_size", embedding_size, 1)
        self.source = nn.Embedding(integer("source_symbols", source_symbols, 1), embedding_size)
        self.target = nn.Embedding(integer("target_symbols", target_symbols, 1), embedding_size)
        self.encoder, self.decoder = make_stack(embedding_size), make_stack(embedding_size)
        for switch in ("bidirectional", "batch_first"):
            if getattr(self.decoder, switch):
                raise ValueError(f"make_stack: {switch}=True; expected a stack in one direction, time first")
        self.output = nn.Linear(self.decoder.proj_size or self.decoder.hidden_size, target_symbols)

    def encode(self, source: Tensor) -> States:
        """The encoder's last states, as its cell has them, after codes (S, N)."""
        if source.dim() != 2:
            raise ValueError(f"source: shape {tuple(source.shape)}; expected (steps, batch)")
        return self.encoder(self.source(source.flip(0) if self.reverse_source else padding_first(source)))[1]

    def run_decoder(self, so_far: Tensor, states: States) -> tuple[Tensor, States]:
        """Codes (T, N) and states to scores of what follows, (T, N, symbols), and the states after them."""
        output, states = self.decoder(self.target(so_far), states)
        return self.output(output), states

    def forward(self, x: tuple[Tensor, Tensor]) -> Tensor:
        """Codes of sources (S, N) and of targets so far (T, N) to scores of what follows, (T, N, symbols)."""
        source, so_far = x
        return self.run_decoder(so_far, self.encode(source))[0]

    @torch.no_grad()
    def decode(self, source: Tensor, steps: int) -> Tensor:
        """The likeliest symbol, step by step: (S, N) codes to (steps, N); zeros after the first zero."""
        return greedy(self.run_decoder, self.encode(source), source.new_zeros(1, source.shape[1]), steps)

    @torch.no_grad()
    def beam_search(self, source: Tensor, steps: int, beam: int) -> tuple[Tensor, Tensor]:
        """The likeliest targets that a beam finds, best first.

        At every step each hypothesis is continued by every symbol and the ``beam`` likeliest of all are kept.
        One that has ended keeps its place and its score for as long as no ``beam`` others are likelier. A
        score is the log probability of all symbols, the end included, and is not divided by their number.
        With a beam of 1 this is `decode`; with one as large as the number of targets it is exact.

        Parameters
        ----------
        source
            codes (S, N).
        steps
            symbols of a target at most. One that has not ended by then counts with the score it has.
        beam
            B, how many hypotheses are kept for every source.

        Returns
        -------
        said, scores
            (steps, B, N) codes, zeros after the first zero, and (B, N). Where fewer than B targets exist the
            last scores are minus infinity, and their codes mean nothing.

        Raises
        ------
        ValueError
            If ``steps`` or ``beam`` is not positive, or ``source`` has not two dimensions.
        """
        steps, beam = integer("steps", steps, 1), integer("beam", beam, 1)
        batch, symbols = source.shape[-1], self.output.out_features
        states = _select(self.encode(source), torch.arange(batch, device=source.device).repeat(beam))
        said = source.new_zeros(0, beam, batch)
        symbol = source.new_zeros(1, beam * batch)
        ended = torch.zeros(beam, batch, dtype=torch.bool, device=source.device)
        scores = self.output.weight.new_full((beam, batch), -torch.inf)
        scores[0] = 0  # one hypothesis, the empty one
        only_zero = one_hot(symbol.new_zeros(()), symbols).log().to(scores.dtype)
        for _ in range(steps):
            following, states = self.run_decoder(symbol, states)
            after = log_softmax(following, -1).view(beam, batch, symbols)
            after = torch.where(ended[..., None], only_zero, after)
            grown = (scores[..., None] + after).transpose(0, 1).flatten(1)  # (N, B * symbols)
            best, place = grown.topk(beam)
            scores, parent, symbol = best.T, place.T // symbols, place.T % symbols
            states = _select(states, (parent * batch + torch.arange(batch, device=source.device)).flatten())
            said = torch.cat([said.gather(1, parent.expand_as(said)), symbol[None]])
            ended = ended.gather(0, parent) | (symbol == 0)
            symbol = symbol.reshape(1, -1)
        return said, scores


def padding_first(source: Tensor) -> Tensor:
    """Codes (S, N) with the zeros behind every word moved in front of it.

    >>> padding_first(torch.tensor([[3, 1, 20], [2, 15, 0]]).T).T.tolist()
    [[3, 1, 20], [0, 2, 15]]
    """
    return source.gather(0, (source > 0).argsort(dim=0, stable=True))


def _select(states: States, places: Tensor) -> States:
    """The sequences at these places of a batch's states, (layers, N, width) each."""
    if isinstance(states, Tensor):
        return states[:, places]
    return tuple(state[:, places] for state in states)
