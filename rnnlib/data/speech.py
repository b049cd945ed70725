"""Japanese vowels."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .reading import arrays
from .splits import Splits

SPEAKERS, VALID = 9, 6


class Utterances(NamedTuple):
    """Sequences of speech frames and who speaks."""

    x: Tensor
    """(N, 29, 12), 12 LPC cepstrum coefficients a frame; zeros after the last frame."""
    lengths: Tensor
    """(N,) frames, 7 to 29."""
    y: Tensor
    """(N,) integers, 0 to 8, the speaker."""

    def at(self, places: Tensor) -> Utterances:
        """Those that stand at the places, in their order."""
        return Utterances(self.x[places], self.lengths[places], self.y[places])


def japanese_vowels() -> Splits[Utterances]:
    """640 utterances of the vowels /ae/ by nine men: 216 train, 54 valid, 370 test.

    The source splits into 270 for training, 30 a speaker, and 370 for testing. Of each speaker's 30, in the
    order of the source, the last 6 are valid here and the 24 before them train. The test part is uneven:
    always naming its commonest speaker is right for 88 of 370. Small and nearly solved: a difference of a
    hundredth is fewer than four utterances.

    Source: M. Kudo, J. Toyama and M. Shimbo 1999, Multidimensional curve classification using passing-through
    regions, Pattern Recognition Letters 20; UCI archive, doi:10.24432/C5NS47. Licence: CC BY 4.0.

    Returns
    -------
    Splits[Utterances]

    Examples
    --------
    >>> vowels = japanese_vowels()
    >>> vowels.train.x.shape, vowels.valid.y.bincount().tolist()
    (torch.Size([216, 29, 12]), [6, 6, 6, 6, 6, 6, 6, 6, 6])
    """
    stored = arrays("japanese_vowels.npz")
    source, test = (
        Utterances(stored[f"x_{part}"], stored[f"len_{part}"], stored[f"y_{part}"])
        for part in ("train", "test")
    )
    speakers = [(source.y == speaker).nonzero()[:, 0] for speaker in range(SPEAKERS)]
    train = torch.cat([places[:-VALID] for places in speakers])
    valid = torch.cat([places[-VALID:] for places in speakers])
    return Splits(source.at(train), source.at(valid), test)
