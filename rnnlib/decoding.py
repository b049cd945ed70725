"""A causal transformer run one token at a time, for comparison with a recurrent stack.

torch's own ``TransformerEncoder`` reads a whole sequence. To generate, it has to go on from what it has read,
so keys and values of all earlier tokens are kept: they are its state, and it grows.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention


class KeyValueCache:
    """The state of a causal ``nn.TransformerEncoder``, and the step from one token to the next.

    A step gives what the encoder gives for the last token under a causal mask. It works without gradients
    and without dropout.

    Parameters
    ----------
    encoder
        the module; its weights are used in place.
    batch
        N, the number of sequences.
    capacity
        T, the number of tokens for which there is room. It is allocated at once.

    Raises
    ------
    ValueError
        If the layers attend without biases, are normalised across something else than a token, or a step
        finds no room.

    Examples
    --------
    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    >>> encoder = nn.TransformerEncoder(layer, num_layers=3, enable_nested_tensor=False)
    >>> cache = KeyValueCache(encoder, batch=5, capacity=10)
    >>> cache.step(torch.randn(5, 8)).shape
    torch.Size([5, 8])
    >>> cache.length, cache.bytes  # of 3 layers' keys and values, 8 wide, for 5 sequences
    (1, 960)
    """

    def __init__(self, encoder: nn.TransformerEncoder, batch: int, capacity: int) -> None:
        first = encoder.layers[0].self_attn
        if first.in_proj_weight is None or first.in_proj_bias is None:
            raise ValueError("encoder: expected layers with equally wide keys and values, and with biases")
        shape = (len(encoder.layers), 2, batch, first.num_heads, capacity, first.head_dim)
        self.encoder, self.capacity, self.length = encoder, capacity, 0
        self._kept = first.in_proj_weight.new_empty(shape)

    @property
    def bytes(self) -> int:
        """What the tokens read so far occupy, 2 · layers · tokens · N · width numbers."""
        return self._kept[..., : self.length, :].numel() * self._kept.element_size()

    @torch.no_grad()
    def step(self, x: Tensor) -> Tensor:
        """The encoder's output for the next token: (N, width) to (N, width)."""
        if self.length == self.capacity:
            raise ValueError(f"capacity={self.capacity}: expected room for one token more")
        self.length += 1
        for layer, kept in zip(self.encoder.layers, self._kept, strict=True):
            if layer.norm_first:
                x = x + self._attend(layer.self_attn, kept, layer.norm1(x))
                x = x + _feed_forward(layer, layer.norm2(x))
            else:
                x = layer.norm1(x + self._attend(layer.self_attn, kept, x))
                x = layer.norm2(x + _feed_forward(layer, x))
        return x if self.encoder.norm is None else self.encoder.norm(x)

    def _attend(self, attention: nn.MultiheadAttention, kept: Tensor, x: Tensor) -> Tensor:
        sums = linear(x, attention.in_proj_weight, attention.in_proj_bias)
        query, key, value = sums.view(len(x), 3, attention.num_heads, 1, attention.head_dim).unbind(1)
        keys, values = kept[..., : self.length, :]
        keys[..., -1:, :], values[..., -1:, :] = key, value
        return attention.out_proj(scaled_dot_product_attention(query, keys, values).flatten(1))


def _feed_forward(layer: nn.TransformerEncoderLayer, x: Tensor) -> Tensor:
    return layer.linear2(layer.activation(layer.linear1(x)))
