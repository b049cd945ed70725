"""Words with two senses, made from a text, and what vectors tell of them.

Two words are merged into one, a *pseudoword*; which of the two it was is its sense, known without anybody
having labelled it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from ..data import Splits, shakespeare

UNKNOWN = 0
"""The code of every word that is not in the vocabulary."""
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*|\S")
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class Part:
    """A part of the text."""

    codes: Tensor
    """(n,) places in the vocabulary; the two words of a pair have the same."""
    senses: Tensor
    """(n,) which of its two words a pseudoword was, 0 or 1; -1 for all other words."""


@dataclass(frozen=True)
class Pseudowords:
    """A text in which pairs of words were merged into one."""

    words: tuple[str, ...]
    """The vocabulary, the commonest first; "<unk>" at place 0 is all others. A pair is "one/other"."""
    pairs: tuple[tuple[str, str], ...]
    splits: Splits[Part]

    def code(self, pair: tuple[str, str]) -> int:
        """The code of a pair."""
        return self.words.index("/".join(pair))


def split_words(text: str) -> list[str]:
    """Words, as they are written, and single marks.

    >>> split_words("Ham.\\nO, that this too too solid flesh")
    ['Ham', '.', 'O', ',', 'that', 'this', 'too', 'too', 'solid', 'flesh']
    """
    return WORD.findall(text)


@cache
def pseudowords(symbols: int = 1000, pairs: int = 12, most: int = 550) -> Pseudowords:
    """Shakespeare's tragedies in words, some pairs of which are told apart no longer.

    Words are written small. The pairs are neighbours in a list of words by how often they stand in the
    training part, from the first that stands there at most ``most`` times; words that are mostly written with
    a capital, such as names, and marks are not in the list. Vocabulary and pairs come from the training part.

    Parameters
    ----------
    symbols
        size of the vocabulary.
    pairs
        how many.
    most
        how often the commonest word of a pair may stand in the training part.

    Raises
    ------
    ValueError
        If the pairs are not among the words of so small a vocabulary.

    Examples
    --------
    >>> text = pseudowords()
    >>> text.pairs[:2], len(text.words)
    ((('thee', 'good'), ('now', 'come')), 1000)
    """
    stored = shakespeare()
    parts = stored.splits.train, stored.splits.valid, stored.splits.test
    written = [split_words(stored.decode(part)) for part in parts]
    train = written[0]
    counts = Counter(word.lower() for word in train)
    small = Counter(word for word in train if word == word.lower())
    listed = [
        word
        for word, n in counts.most_common()
        if word.isalpha() and n <= most and 2 * small[word] > n
    ][: 2 * pairs]  # fmt: skip
    paired = tuple(zip(listed[::2], listed[1::2], strict=True))
    merged = {word: "/".join(pair) for pair in paired for word in pair}
    sense = {word: k for pair in paired for k, word in enumerate(pair)}
    by_count = Counter(merged.get(word.lower(), word.lower()) for word in train).most_common(symbols - 1)
    words = ("<unk>", *(word for word, _ in by_count))
    if not set(merged.values()) <= set(words):
        raise ValueError(f"symbols={symbols!r}: expected a vocabulary that holds all {pairs} pairs")
    code = {word: k for k, word in enumerate(words)}

    def part(spelled: list[str]) -> Part:
        lower = [word.lower() for word in spelled]
        return Part(
            torch.tensor([code.get(merged.get(word, word), UNKNOWN) for word in lower]),
            torch.tensor([sense.get(word, -1) for word in lower]),
        )

    return Pseudowords(words, paired, Splits(*map(part, written)))


def occurrences(part: Part, code: int, around: int, most: int | None = None) -> tuple[Tensor, Tensor]:
    """Where a pseudoword stands, each time with as many tokens on either side.

    Parameters
    ----------
    part
        of the text.
    code
        of the pseudoword.
    around
        tokens on either side; places nearer to an end of the part are left out.
    most
        the first so many only.

    Returns
    -------
    windows, senses
        (2*around + 1, n) codes, the pseudoword in the middle, and (n,) senses.

    Raises
    ------
    ValueError
        If it stands nowhere.
    """
    here = (part.codes == code).nonzero().squeeze(1)
    here = here[(here >= around) & (here < len(part.codes) - around)][:most]
    if not len(here):
        raise ValueError(f"code={code!r}: expected a token that stands in the part")
    return part.codes[here + torch.arange(-around, around + 1)[:, None]], part.senses[here]


class Probe:
    """A linear classifier of two senses: ridge regression on signs, in closed form.

    Parameters
    ----------
    x
        (n, features).
    senses
        (n,) zeros and ones.
    strength
        of the penalty on squared weights, per example.

    Examples
    --------
    >>> probe = Probe(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([0, 1, 1]), strength=1e-3)
    >>> probe(torch.tensor([[-1.0], [3.0]]))
    tensor([0, 1])
    """

    def __init__(self, x: Tensor, senses: Tensor, strength: float) -> None:
        x, sign = x.double(), 2.0 * senses.double() - 1
        self.middle, self.bias = x.mean(0), sign.mean()
        x = x - self.middle
        gram = x.T @ x / len(x) + strength * torch.eye(x.shape[1], dtype=x.dtype)
        self.weights = torch.linalg.solve(gram, x.T @ (sign - self.bias) / len(x))

    def __call__(self, x: Tensor) -> Tensor:
        """(n, features) to senses (n,)."""
        return ((x.double() - self.middle) @ self.weights + self.bias > 0).long()

    def accuracy(self, x: Tensor, senses: Tensor) -> float:
        """Share of senses that are named rightly."""
        return (self(x) == senses).double().mean().item()


def best_probe(
    train: tuple[Tensor, Tensor], valid: tuple[Tensor, Tensor], strengths: Sequence[float] = STRENGTHS
) -> Probe:
    """The probe fitted to the first pair (x, senses) that is best on the second; of equal ones the stronger
    penalty."""
    probes = [Probe(*train, strength) for strength in sorted(strengths, reverse=True)]
    return max(probes, key=lambda probe: probe.accuracy(*valid))


def cosine_distances(x: Tensor, senses: Tensor) -> tuple[float, float]:
    """Mean cosine distance of two vectors of the same sense, and of two of different senses.

    Parameters
    ----------
    x
        (n, features), at least two of each sense.
    senses
        (n,) zeros and ones.

    Examples
    --------
    >>> x = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    >>> cosine_distances(x, torch.tensor([0, 0, 1, 1]))
    (0.0, 1.0)
    """
    unit = nn.functional.normalize(x.double(), dim=1)
    distance = 1 - unit @ unit.T
    same = senses[:, None] == senses
    other = ~torch.eye(len(x), dtype=torch.bool)
    return distance[same & other].mean().item(), distance[~same].mean().item()
