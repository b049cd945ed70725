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


def lookup_tables(symbols: int = 8, tables: int = 8) -> Tensor:
    """The tables of `composed_lookup`, always the same: (tables, symbols), each row a permutation.

    >>> lookup_tables(symbols=4, tables=2).sort().values
    tensor([[0, 1, 2, 3],
            [0, 1, 2, 3]])
    """
    symbols, tables = integer("symbols", symbols, 2), integer("tables", tables, 1)
    generator = torch.Generator().manual_seed(0)
    return torch.stack([torch.randperm(symbols, generator=generator) for _ in range(tables)])


def composed_lookup(
    depth: int,
    batch: int,
    symbols: int = 8,
    tables: int = 8,
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Apply ``depth`` lookup tables, one after the other, to a symbol, and name the result.

    A symbol is shown at step 1, then the names of the tables in the order in which they apply. Every table
    is a permutation of the symbols (`lookup_tables`), so no step can be skipped: whoever misses one table
    guesses, and guessing is right once in ``symbols`` times. After Liska, Kruszewski and Baroni 2018,
    arXiv:1802.06467.

    Parameters
    ----------
    depth
        of the composition: how many tables apply, at least 1.
    batch
        N, the number of sequences.
    symbols
        size of the alphabet, at least 2.
    tables
        how many different tables there are.
    generator
        where the random numbers come from; by default torch's global generator.

    Returns
    -------
    x
        (T, N, symbols + tables) with T = depth + 1, one-hot: the symbol, then the tables.
    y
        (N,) integers, the results.

    Raises
    ------
    ValueError
        If an argument is not an integer, or too small.

    Examples
    --------
    >>> x, y = composed_lookup(depth=2, batch=1, symbols=4, tables=3)
    >>> symbol, first, second = x[:, 0].argmax(1).tolist()
    >>> table = lookup_tables(symbols=4, tables=3)
    >>> bool(y == table[second - 4][table[first - 4][symbol]])
    True
    """
    depth, batch = integer("depth", depth, 1), integer("batch", batch, 1)
    table = lookup_tables(symbols, tables)
    symbol = torch.randint(symbols, (1, batch), generator=generator)
    chain = torch.randint(tables, (depth, batch), generator=generator)
    result = symbol[0]
    for applied in chain:
        result = table[applied, result]
    x = functional.one_hot(torch.cat([symbol, symbols + chain]), symbols + tables)
    return x.to(torch.get_default_dtype()), result
