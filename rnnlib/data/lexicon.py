"""English words and how they are pronounced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .reading import rows
from .splits import Splits

NOTHING = ""


class Words(NamedTuple):
    """Spellings and pronunciations, each a row of codes that ends in zeros where it is short."""

    letters: Tensor
    """(N, 8) integers, codes of `Lexicon.letters`."""
    phones: Tensor
    """(N, 10) integers, codes of `Lexicon.phones`."""


@dataclass(frozen=True)
class Lexicon:
    """Words in three parts, and what their codes stand for. Code 0 is nothing, in both vocabularies."""

    letters: tuple[str, ...]
    """Nothing, then a to z."""
    phones: tuple[str, ...]
    """Nothing, then the 39 phones of ARPAbet without stress, in alphabetical order, from AA to ZH."""
    splits: Splits[Words]
    """Of 21,997, 1,257 and 2,549 words."""


def pronunciations() -> Lexicon:
    """25,803 English words of 3 to 8 letters with their phones: 21,997 train, 1,257 valid, 2,549 test.

    The part of a word is decided by a hash of its spelling, so forms of one stem fall on both sides: scores
    measure spelling rules and shared stems together. Words are sorted within each part. A word has at most
    10 phones.

    Source: CMU Pronouncing Dictionary, first pronunciations, stress removed; words that the SCOWL list of
    American English holds. Licence: BSD 2-Clause, Copyright (C) 1993-2015 Carnegie Mellon University.

    Returns
    -------
    Lexicon

    Examples
    --------
    >>> lexicon = pronunciations()
    >>> lexicon.splits.test.letters.shape, lexicon.splits.test.phones.shape
    (torch.Size([2549, 8]), torch.Size([2549, 10]))
    >>> len(lexicon.letters), len(lexicon.phones), lexicon.phones[:3]
    (27, 40, ('', 'AA', 'AE'))
    """
    entries = [
        (row["split"], list(row["word"]), row["phonemes"].split()) for row in rows("g2p_cmudict.csv.gz")
    ]
    letters = _vocabulary([word for _, word, _ in entries])
    phones = _vocabulary([pronunciation for _, _, pronunciation in entries])
    spelled = _encoded([word for _, word, _ in entries], letters)
    spoken = _encoded([pronunciation for _, _, pronunciation in entries], phones)
    parts = torch.tensor([("train", "valid", "test").index(split) for split, _, _ in entries])
    return Lexicon(
        letters, phones, Splits(*(Words(spelled[parts == part], spoken[parts == part]) for part in range(3)))
    )


def _vocabulary(sequences: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return (NOTHING, *sorted({symbol for sequence in sequences for symbol in sequence}))


def _encoded(sequences: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> Tensor:
    """(N, longest) codes; NOTHING has code 0 and fills up."""
    code = {symbol: i for i, symbol in enumerate(vocabulary)}
    return pad_sequence([torch.tensor([code[s] for s in sequence]) for sequence in sequences], True)
