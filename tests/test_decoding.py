"""`rnnlib.decoding`: token by token a transformer gives what it gives for the whole sequence."""

import pytest
import torch
from torch import nn

from rnnlib import measure
from rnnlib.decoding import KeyValueCache

STEPS, BATCH, WIDTH, LAYERS = 9, 3, 16, 3


def encoder(norm_first=True, activation="relu", norm=None, **options):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        WIDTH, 4, 40, norm_first=norm_first, activation=activation, dtype=torch.float64, **options
    )
    stack = nn.TransformerEncoder(layer, LAYERS, norm=norm, enable_nested_tensor=False).eval()
    for parameter in stack.parameters():
        nn.init.normal_(parameter, std=0.3)
    return stack


def x():
    return torch.randn(STEPS, BATCH, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", [None, nn.LayerNorm(WIDTH, dtype=torch.float64)])
def test_steps_equal_the_whole_sequence(norm_first, activation, norm):
    module = encoder(norm_first, activation, norm)
    mask = nn.Transformer.generate_square_subsequent_mask(STEPS, dtype=torch.float64)
    whole = module(x(), mask=mask, is_causal=True)
    cache = KeyValueCache(module, BATCH, STEPS)
    torch.testing.assert_close(torch.stack([cache.step(token) for token in x()]), whole, rtol=0, atol=1e-12)


def test_a_step_reads_all_that_came_before():
    module = encoder()
    last = []
    for first in (0.0, 1.0):
        cache = KeyValueCache(module, BATCH, STEPS)
        sequence = x()
        sequence[0, :, 0] += first
        last.append([cache.step(token) for token in sequence][-1])
    assert not torch.allclose(*last)


def test_the_state_grows_with_the_context_and_is_counted():
    cache = KeyValueCache(encoder(), BATCH, capacity=100)
    for length in range(1, 6):
        cache.step(x()[0])
        assert cache.length == length
        assert cache.bytes == 2 * LAYERS * length * BATCH * WIDTH * 8


def test_a_step_multiplies_each_weight_once_and_each_earlier_token_twice():
    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = encoder()

        def forward(self, x):
            cache = KeyValueCache(self.encoder, BATCH, STEPS)
            cache.length = context
            cache._kept.zero_()
            return cache.step(x)

    weights = LAYERS * (4 * WIDTH**2 + 2 * WIDTH * 40)
    for context in (0, 4, 8):
        attention = LAYERS * 2 * (context + 1) * WIDTH
        assert measure.macs(Step(), x()[0]) == BATCH * (weights + attention)


def test_errors_say_what_was_expected():
    cache = KeyValueCache(encoder(), BATCH, capacity=1)
    cache.step(x()[0])
    with pytest.raises(ValueError, match="capacity=1: expected room"):
        cache.step(x()[0])
    with pytest.raises(ValueError, match="with biases"):
        KeyValueCache(encoder(bias=False), BATCH, 3)
