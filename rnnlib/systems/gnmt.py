"""Google's neural machine translation system at any size (Wu et al. 2016, arXiv:1609.08144).

What is simplified stands in the docstring of `GNMT`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..cost.checks import integer
from ..init import forget_bias_
from ..stack import LSTM
from .transduction import greedy

FIRST_RESIDUAL = 3  # layers count from 1

State = tuple[Tensor, Tensor]


class AdditiveAttention(nn.Module):
    r"""Which places of a memory each query looks at: a network with one hidden layer scores every pair.

    The score of query q and place m is :math:`v^\top\tanh(Wq + Um)` (Bahdanau, Cho and Bengio 2015,
    arXiv:1409.0473); a softmax over the places makes weights of the scores.

    Examples
    --------
    >>> attention = AdditiveAttention(3, 4, 5)
    >>> present = torch.tensor([[True, True], [True, False]])  # the second sequence has one place
    >>> context, weights = attention(torch.zeros(6, 2, 3), torch.ones(2, 2, 4), present)
    >>> context.shape, weights[0].tolist()
    (torch.Size([6, 2, 4]), [[0.5, 0.5], [1.0, 0.0]])
    """

    def __init__(self, query_size: int, memory_size: int, hidden_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(query_size, hidden_size, bias=False)
        self.memory = nn.Linear(memory_size, hidden_size, bias=False)
        self.score = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, queries: Tensor, memory: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Look at the memory once for every query.

        Parameters
        ----------
        queries
            (T, N, query_size).
        memory
            (S, N, memory_size).
        present
            (S, N), true where the memory holds something; what it holds elsewhere has no influence.

        Returns
        -------
        The weighted means of the memory (T, N, memory_size), and the weights (T, N, S).
        """
        pairs = self.query(queries).unsqueeze(1) + self.memory(memory)  # (T, S, N, hidden_size)
        scores = self.score(pairs.tanh()).squeeze(-1).masked_fill(~present, -torch.inf)
        weights = scores.softmax(1).transpose(1, 2)
        return torch.einsum("tns,snm->tnm", weights, memory), weights


class GNMT(nn.Module):
    """Encoder, attention and decoder of Wu et al. (2016), for symbols coded as integers.

    The bottom layer of the encoder runs in both directions, the others in one. The output of the bottom
    layer of the decoder asks the attention network, whose context goes to every decoder layer above it,
    beside what the layer below hands on. From the third layer on, in encoder and decoder, a layer's output
    is added to that of the layer below.

    Code 0 pads sources at their end. In targets it is the symbol that starts them and ends them.

    Three things are simpler than in the paper. The attention is asked by the bottom layer's output of the
    same step, not of the step before, and its context does not return to the bottom layer; so, given the
    target, a layer can run over all steps before the next begins. Decoding is greedy. There is no dropout.

    Parameters
    ----------
    source_symbols, target_symbols
        sizes of the vocabularies, code 0 included.
    embedding_size
        width of both embeddings.
    hidden_size
        width of every layer, of each direction of the bottom one, and of the attention network.
    num_layers
        layers of the encoder, and of the decoder; at least 2.
    residual
        whether there are shortcuts. Nothing else depends on it.

    Raises
    ------
    ValueError
        If a size is too small; it names the argument, its value and what was expected.

    Examples
    --------
    >>> model = GNMT(27, 40, embedding_size=4, hidden_size=5, num_layers=3)
    >>> source = torch.tensor([[3, 1], [1, 2], [20, 0]])  # (S, N): a word of three letters, one of two
    >>> so_far = torch.tensor([[0, 0], [7, 9]])
    >>> model((source, so_far)).shape
    torch.Size([2, 2, 40])
    >>> model.decode(source, steps=6).shape
    torch.Size([6, 2])
    """

    def __init__(
        self,
        source_symbols: int,
        target_symbols: int,
        embedding_size: int,
        hidden_size: int,
        num_layers: int = 8,
        residual: bool = True,
    ) -> None:
        super().__init__()
        for name, size, least in (
            ("source_symbols", source_symbols, 2),
            ("target_symbols", target_symbols, 2),
            ("embedding_size", embedding_size, 1),
            ("hidden_size", hidden_size, 1),
            ("num_layers", num_layers, 2),
        ):
            integer(name, size, least)
        self.residual = residual
        self.source = nn.Embedding(source_symbols, embedding_size)
        self.target = nn.Embedding(target_symbols, embedding_size)
        self.encoder_bottom = LSTM(embedding_size, hidden_size, bidirectional=True)
        # Counted from the bottom of the encoder this stack begins with layer 2.
        shortcuts = FIRST_RESIDUAL - 1 if residual else False
        self.encoder_upper = LSTM(2 * hidden_size, hidden_size, num_layers - 1, residual=shortcuts)
        self.attention = AdditiveAttention(hidden_size, hidden_size, hidden_size)
        self.decoder_bottom = LSTM(embedding_size, hidden_size)
        self.decoder_upper = nn.ModuleList(LSTM(2 * hidden_size, hidden_size) for _ in range(num_layers - 1))
        self.output = nn.Linear(hidden_size, target_symbols)
        for stack in self.stacks:
            forget_bias_(stack)

    @property
    def stacks(self) -> tuple[nn.RNNBase, ...]:
        """All recurrent layers, from input to output."""
        return self.encoder_bottom, self.encoder_upper, self.decoder_bottom, *self.decoder_upper

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Codes (S, N) to a memory (S, N, hidden_size), and where it holds something (S, N).

        Raises
        ------
        ValueError
            If a source has no symbol, or one after its padding.
        """
        present = source > 0
        lengths = present.sum(0)
        if (present != (torch.arange(len(source), device=source.device)[:, None] < lengths)).any():
            raise ValueError(f"source={source.tolist()}: expected zeros at the end of a column only")
        if not lengths.all():
            raise ValueError(f"source={source.tolist()}: expected a symbol in every column")
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), enforce_sorted=False)
        bottom, _ = pad_packed_sequence(self.encoder_bottom(packed)[0], total_length=len(source))
        return self.encoder_upper(bottom)[0], present

    def run_decoder(
        self, so_far: Tensor, memory: Tensor, present: Tensor, states: Sequence[State | None] | None = None
    ) -> tuple[Tensor, Tensor, list[State]]:
        """Run the decoder from the last states of its layers, or from zero.

        Codes (T, N) to scores (T, N, target_symbols), attention weights (T, N, S), last states by layer.
        """
        states = states or [None] * (1 + len(self.decoder_upper))
        x, last = self.decoder_bottom(self.target(so_far), states[0])
        context, weights = self.attention(x, memory, present)
        reached = [last]
        for layer, lstm in enumerate(self.decoder_upper, start=2):
            h, last = lstm(torch.cat([x, context], -1), states[layer - 1])
            x = x + h if self.residual and layer >= FIRST_RESIDUAL else h
            reached.append(last)
        return self.output(x), weights, reached

    def forward(self, x: tuple[Tensor, Tensor]) -> Tensor:
        """Codes of sources (S, N) and of targets so far (T, N) to scores of what follows, (T, N, symbols)."""
        source, so_far = x
        return self.run_decoder(so_far, *self.encode(source))[0]

    @torch.no_grad()
    def decode(self, source: Tensor, steps: int) -> Tensor:
        """The likeliest symbol, step by step: (S, N) codes to (steps, N); zeros after the first zero."""
        memory, present = self.encode(source)

        def step(symbol: Tensor, states: list[State] | None) -> tuple[Tensor, list[State] | None]:
            scores, _, states = self.run_decoder(symbol, memory, present, states)
            return scores, states

        return greedy(step, None, source.new_zeros(1, source.shape[1]), steps)
