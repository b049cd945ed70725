"""Words of Shakespeare's tragedies as codes, and the windows in which a language model reads them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ...cost.checks import integer
from ...data import Splits, shakespeare
from ...data.text import BETWEEN_PLAYS

Window = tuple[tuple[Tensor, bool], Tensor]

UNKNOWN = "<unk>"
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*|[^\sa-z]|\n")


class Corpus(NamedTuple):
    """Texts as codes of words."""

    words: list[str]
    """Word i stands at place i; place 0 is what all rare words become."""
    splits: Splits[Tensor]
    """Each part (tokens,) integers, in reading order."""


def split_words(text: str) -> list[str]:
    r"""Words in lower case, punctuation marks and ends of lines; empty lines are left out.

    >>> split_words("O, 'tis true!\n\n  Exeunt.")
    ['o', ',', "'", 'tis', 'true', '!', '\n', 'exeunt', '.']
    """
    return WORD.findall(re.sub(r"\n\s*", "\n", text.lower()))


def corpus(train: int = 1500, held_out: int = 600, least: int = 2) -> Corpus:
    """A few words of each of Shakespeare's seven tragedies, and whole pieces to test on.

    Parameters
    ----------
    train
        words from the end of each play's training piece.
    held_out
        words from the beginning of each play's validation piece. Test pieces stay whole.
    least
        how often a word must occur in the training part to have a code of its own.

    Raises
    ------
    ValueError
        If a number is not positive.

    Examples
    --------
    >>> text = corpus()
    >>> len(text.words), [len(part) for part in (text.splits.train, text.splits.valid, text.splits.test)]
    (691, [10500, 4200, 13695])
    """
    train, held_out = integer("train", train, 1), integer("held_out", held_out, 1)
    least = integer("least", least, 1)
    text = shakespeare()

    def pieces(codes: Tensor) -> Iterable[list[str]]:
        return map(split_words, text.decode(codes).split(BETWEEN_PLAYS))

    parts = (
        [word for piece in pieces(text.splits.train) for word in piece[-train:]],
        [word for piece in pieces(text.splits.valid) for word in piece[:held_out]],
        [word for piece in pieces(text.splits.test) for word in piece],
    )
    counts = Counter(parts[0])
    words = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= least)]
    code = {word: i for i, word in enumerate(words)}
    return Corpus(words, Splits(*(torch.tensor([code.get(word, 0) for word in part]) for part in parts)))


def columns(codes: Tensor, batch: int) -> Tensor:
    """The text cut into pieces of one length that are read side by side, (T, N); what is left over is lost.

    >>> columns(torch.arange(7), 2)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])
    """
    batch = integer("batch", batch, 1)
    if len(codes) < 2 * batch:
        raise ValueError(f"batch={batch}: expected at most {len(codes) // 2} columns of two words or more")
    return codes[: len(codes) // batch * batch].view(batch, -1).T.contiguous()


def windows(codes: Tensor, batch: int, steps: int) -> Iterator[Window]:
    """Once through the text: ((x, fresh), y), x and y (T, N); ``fresh`` where nothing comes before.

    A window goes on where the last one ended, so that its initial states may be the last one's final ones.
    """
    whole, steps = columns(codes, batch), integer("steps", steps, 1)
    for start in range(0, len(whole) - 1, steps):
        y = whole[start + 1 : start + 1 + steps]
        yield (whole[start : start + len(y)], start == 0), y
