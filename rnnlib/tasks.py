"""Tasks whose difficulty has a dial, made in code.

Every function draws one batch. With a ``torch.Generator`` of its own, a stream of batches is the same in
every run, whatever else draws random numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from .cost.checks import integer


def delayed_recall(
    lag: int,
    batch: int,
    symbols: int = 8,
    *,
    distractors: bool = True,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Name the symbol that was shown ``lag`` steps ago.

    A symbol is shown at step 1, then ``lag - 1`` symbols of a second alphabet of the same size, which mean
    nothing, then a cue, the same in every sequence. At the cue the first symbol is to be named. So exactly
    ``lag`` steps of the recurrence lie between the symbol and its use, and guessing is right once in
    ``symbols`` times.

    Parameters
    ----------
    lag
        steps from the symbol to the cue, at least 1.
    batch
        N, the number of sequences.
    symbols
        size of each of the two alphabets, at least 2.
    distractors
        draw the symbols in between at random. Without it they are all the same one: blanks.
    generator
        where the random numbers come from; by default torch's global generator.

    Returns
    -------
    x
        (T, N, 2 · symbols + 1) with T = lag + 1, one-hot: the symbols, the distractors, the cue.
    y
        (N,) integers, the first symbols.

    Raises
    ------
    ValueError
        If an argument is not an integer, or too small.

    Examples
    --------
    >>> x, y = delayed_recall(lag=5, batch=3, symbols=4, generator=torch.Generator().manual_seed(0))
    >>> x.shape, y.shape
    (torch.Size([6, 3, 9]), torch.Size([3]))
    >>> bool((x[0].argmax(1) == y).all()), x[-1].argmax(1)
    (True, tensor([8, 8, 8]))
    """
    lag, batch, symbols = integer("lag", lag, 1), integer("batch", batch, 1), integer("symbols", symbols, 2)
    first = torch.randint(symbols, (1, batch), generator=generator)
    kinds = symbols if distractors else 1
    between = symbols + torch.randint(kinds, (lag - 1, batch), generator=generator)
    cue = torch.full((1, batch), 2 * symbols)
    x = functional.one_hot(torch.cat([first, between, cue]), 2 * symbols + 1)
    return x.to(torch.get_default_dtype()), first[0]
