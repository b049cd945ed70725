"""A stacked LSTM beside a transformer of the same size, measured: the table behind chapter 5.

    python -m benchmarks.transformer        writes benchmarks/transformer.csv, in about three minutes

Every row compares the two alternately in one process, on two threads: the median ratio, its quartiles, and
the seconds of one call of the first that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from rnnlib import measure
from rnnlib.decoding import KeyValueCache

from .sweeps import write

RESULTS = Path(__file__).with_name("transformer.csv")
COLUMNS = ("sweep", "what", "x", "median", "lower", "upper", "seconds")
WIDTH, LAYERS, HEADS = 256, 4, 4


def lstm() -> nn.LSTM:
    """A layer has 8 WIDTH² weights."""
    return nn.LSTM(WIDTH, WIDTH, LAYERS)


def transformer() -> nn.TransformerEncoder:
    """A layer has 8 WIDTH² weights: four in attention, two each way in the feed-forward part."""
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout=0.0, norm_first=True)
    return nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)


def training(module: nn.Module, x: Tensor) -> Callable[[], None]:
    """A forward and a backward pass over a sequence in which no step sees a later one."""
    causal = {}
    if isinstance(module, nn.TransformerEncoder):
        causal = {"mask": nn.Transformer.generate_square_subsequent_mask(len(x)), "is_causal": True}

    def run() -> None:
        module.zero_grad()
        y = module(x, **causal)
        (y[0] if isinstance(y, tuple) else y).sum().backward()

    return run


def sequence_lengths() -> Iterator[tuple]:
    """Training time of the LSTM over that of the transformer as the sequence grows."""
    modules = {"LSTM": lstm(), "transformer": transformer()}
    for batch, longest in ((1, 4096), (16, 1024)):
        for steps in (2**k for k in range(4, longest.bit_length())):
            x = torch.randn(steps, batch, WIDTH)
            calls = {name: training(module, x) for name, module in modules.items()}
            repeats = 15 if steps * batch <= 1024 else 7
            ratio = measure.time_ratios(calls, "transformer", repeats)["LSTM"]
            yield "training", f"LSTM / transformer, N = {batch}", steps, ratio


def generation() -> Iterator[tuple]:
    """Time of the next token of one sequence, given a context, over that of the LSTM.

    The LSTM is a stack of cells: ``nn.LSTM`` would arrange its weights for oneDNN again at every step.
    """
    cells = nn.ModuleList(nn.LSTMCell(WIDTH, WIDTH) for _ in range(LAYERS))
    encoder = transformer().eval()
    x, state = torch.randn(1, WIDTH), (torch.zeros(1, WIDTH), torch.zeros(1, WIDTH))

    @torch.no_grad()
    def lstm_step() -> None:
        output = x
        for cell in cells:
            output, _ = cell(output, state)

    for context in (16, 64, 256, 1024, 4096):
        cache = KeyValueCache(encoder, batch=1, capacity=context + 1)
        for token in torch.randn(context, 1, WIDTH):
            cache.step(token)

        def transformer_step(cache=cache, context=context) -> None:
            cache.length = context
            cache.step(x)

        calls = {"LSTM": lstm_step, "transformer": transformer_step}
        ratio = measure.time_ratios(calls, "LSTM", 31)["transformer"]
        yield "generation", "transformer / LSTM", context, ratio


def main() -> None:
    """Run every sweep and write the table."""
    write(RESULTS, COLUMNS, (generation, sequence_lengths))


if __name__ == "__main__":
    main()
