"""Handwritten digits."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .reading import rows
from .splits import Splits

SEED = 0
VALID, TEST = 300, 400


class Images(NamedTuple):
    """Small grey pictures and what they show."""

    x: Tensor
    """(N, 64) in [0, 1], the 8 rows of a picture one after the other. Reshape to (N, 8, 8) to see it."""
    y: Tensor
    """(N,) integers, 0 to 9."""


def digits() -> Splits[Images]:
    """1,797 handwritten digits of 8 by 8 pixels: 1,097 train, 300 valid, 400 test.

    The source lists them by writer, so they are shuffled, by a fixed seed, before they are split. Every part
    therefore holds digits of every writer: scores say nothing about writers never seen. The commonest digit
    makes up 10.2%.

    Source: E. Alpaydin and C. Kaynak 1998, Optical Recognition of Handwritten Digits (test part), UCI
    archive, doi:10.24432/C50P49, as scikit-learn distributes it. Licence: CC BY 4.0.

    Returns
    -------
    Splits[Images]

    Examples
    --------
    >>> train = digits().train
    >>> train.x.shape, train.y.bincount().tolist()
    (torch.Size([1097, 64]), [117, 113, 117, 111, 101, 110, 105, 111, 107, 105])
    """
    table = torch.tensor([list(map(int, row.values())) for row in rows("digits.csv.gz")])
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(SEED))]
    parts = table.split([len(table) - VALID - TEST, VALID, TEST])
    return Splits(*(Images(part[:, :-1] / 16, part[:, -1]) for part in parts))
