"""Shakespeare's tragedies."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .reading import content
from .splits import Splits

BETWEEN_PLAYS = "\f"
TRAIN, VALID = 90, 5  # per cent of every play, from its beginning; the rest is test


@dataclass(frozen=True)
class Text:
    """A text as integers."""

    characters: str
    """All distinct characters of the text, sorted. Character i stands at place i."""
    splits: Splits[Tensor]
    """Each part (characters,) integers, in reading order."""

    def decode(self, codes: Tensor) -> str:
        """The characters that the integers stand for."""
        return "".join(self.characters[code] for code in codes.tolist())


def shakespeare() -> Text:
    """Seven tragedies, character by character: Hamlet, Macbeth, Othello, Lear, Romeo and Juliet, Julius
    Caesar, Antony and Cleopatra.

    Of every play the first 90% is train, the next 5% valid and the last 5% test, cut at a character. In each
    part a form feed stands between one play's piece and the next. 74 distinct characters.

    Source: texts of Project Gutenberg as packaged by Open Shakespeare, Open Knowledge Foundation. Licence:
    the plays are in the public domain; the package is CC BY 2.5.

    Returns
    -------
    Text

    Examples
    --------
    >>> text = shakespeare()
    >>> len(text.characters), [len(part) for part in (text.splits.train, text.splits.valid, text.splits.test)]
    (74, [893557, 49648, 49651])
    >>> text.decode(text.splits.train[:26])
    'HAMLET, PRINCE OF DENMARK\\n'
    """
    stored = content("shakespeare_tragedies.txt").decode("ascii")
    characters = "".join(sorted(set(stored)))
    code = {character: i for i, character in enumerate(characters)}
    pieces: tuple[list[str], ...] = ([], [], [])
    for play in stored.split(BETWEEN_PLAYS):
        first, second = len(play) * TRAIN // 100, len(play) * (TRAIN + VALID) // 100
        for part, piece in zip(pieces, (play[:first], play[first:second], play[second:]), strict=True):
            part.append(piece)
    return Text(
        characters, Splits(*(torch.tensor([code[c] for c in BETWEEN_PLAYS.join(part)]) for part in pieces))
    )
