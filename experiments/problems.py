"""What the networks are trained on: data, loss, error, and the error of whoever ignores the input.

Every error is the smaller the better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from rnnlib import data
from rnnlib.data import Utterances
from rnnlib.systems.acoustic import standardised
from rnnlib.systems.transduction import teacher_forcing
from rnnlib.tasks import composed_lookup
from rnnlib.training import accuracy, mean_loss

from .models import Classifier, LanguageModel, Network, Transducer

Batch = tuple[Any, Tensor]
HELD_OUT_BATCH = 256


class Problem:
    """A data set with a task. Batches depend on the seed alone, so arms with the same seed share them."""

    name: str
    budget: int
    """Parameters of every network in the sweep over shapes."""
    steps: int
    batch: int

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        """A fresh network."""
        raise NotImplementedError

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        """Batches without end, of so many training examples (characters: the first of the text) or of all."""
        raise NotImplementedError

    def held_out(self, split: str) -> list[Batch]:
        """All of "valid" or "test"."""
        raise NotImplementedError

    def error(self, model: nn.Module, batches: Sequence[Batch]) -> float:
        """What is reported."""
        return 1 - accuracy(model, batches)

    @cached_property
    def baseline(self) -> float:
        """Test error of the best that can be said without looking at the input."""
        raise NotImplementedError


class Digits(Problem):
    """Name the digit after its 64 pixels, one a step. Error: share of wrong answers."""

    name, budget, steps, batch = "digits", 56_250, 1000, 32

    def __init__(self) -> None:
        self.data = data.digits()

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        return Classifier(cell, width, depth, variant, features=1, classes=10)

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        x, y = self.data.train
        for places in shuffled(len(y), self.batch, seed, examples):
            yield as_steps(x[places]), y[places]

    def held_out(self, split: str) -> list[Batch]:
        x, y = getattr(self.data, split)
        return [
            (as_steps(a), b) for a, b in zip(x.split(HELD_OUT_BATCH), y.split(HELD_OUT_BATCH), strict=True)
        ]

    @cached_property
    def baseline(self) -> float:
        return (self.data.test.y != self.data.train.y.mode().values).double().mean().item()


class Speakers(Problem):
    """Name the man who says a diphthong, 7 to 29 frames of speech. Error: share of wrong answers."""

    name, budget, steps, batch = "speakers", 45_960, 400, 16

    def __init__(self) -> None:
        self.data = standardised(data.japanese_vowels())

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        return Classifier(cell, width, depth, variant, features=self.data.train.x.shape[2], classes=9)

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        train = self.data.train
        for places in shuffled(len(train.y), self.batch, seed, examples):
            yield packed(train.at(places))

    def held_out(self, split: str) -> list[Batch]:
        part = getattr(self.data, split)
        return [packed(part.at(places)) for places in torch.arange(len(part.y)).split(HELD_OUT_BATCH)]

    @cached_property
    def baseline(self) -> float:
        """That of always naming the test part's commonest speaker; in training all are equally common."""
        return 1 - self.data.test.y.bincount().max().item() / len(self.data.test.y)


class Characters(Problem):
    """Name the next of Shakespeare's characters. Error: bits a character, from zero states, 64 at a time."""

    name, budget, steps, batch = "characters", 90_710, 600, 16
    window = 64

    def __init__(self) -> None:
        self.data = data.shakespeare()

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        return LanguageModel(cell, width, depth, variant, len(self.data.characters))

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        text = self.data.splits.train[:examples]
        generator = torch.Generator().manual_seed(seed)
        while True:
            starts = torch.randint(len(text) - self.window, (self.batch,), generator=generator)
            yield self._windows(text, starts)

    def held_out(self, split: str) -> list[Batch]:
        text = getattr(self.data.splits, split)
        starts = torch.arange(0, len(text) - self.window, self.window)
        return [self._windows(text, some) for some in starts.split(HELD_OUT_BATCH)]

    def _windows(self, text: Tensor, starts: Tensor) -> Batch:
        places = starts + torch.arange(self.window + 1)[:, None]
        return text[places[:-1]], text[places[1:]]

    def error(self, model: nn.Module, batches: Sequence[Batch]) -> float:
        return mean_loss(model, batches) / math.log(2)

    @cached_property
    def baseline(self) -> float:
        counts = self.data.splits.train.bincount(minlength=len(self.data.characters)) + 1.0
        bits = -(counts / counts.sum()).log2()
        return bits[self.data.splits.test].mean().item()


class Phones(Problem):
    """Pronounce a word. Error: edit distance to the phones of the dictionary, per phone."""

    name, budget, steps, batch = "letters to phones", 111_420, 800, 32

    def __init__(self) -> None:
        self.data = data.pronunciations()

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        return Transducer(cell, width, depth, variant, len(self.data.letters), len(self.data.phones))

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        words = self.data.splits.train
        for places in shuffled(len(words.letters), self.batch, seed, examples):
            yield teacher_forcing(*(codes[places] for codes in words))

    def held_out(self, split: str) -> list[Batch]:
        letters, phones = (codes.split(HELD_OUT_BATCH) for codes in getattr(self.data.splits, split))
        return [teacher_forcing(*pair) for pair in zip(letters, phones, strict=True)]

    def error(self, model: nn.Module, batches: Sequence[Batch]) -> float:
        edits = phones = 0
        for (letters, _), y in batches:
            said = cast(Transducer, model).decode(letters, len(y))
            edits += sum(self.edits(said, y))
            phones += int((y > 0).sum())
        return edits / phones

    @staticmethod
    def edits(said: Tensor, y: Tensor) -> list[int]:
        """Edit distance of every word: codes of what is said and of what is right, (T, N) both."""
        both = zip(said.T.tolist(), y.T.tolist(), strict=True)
        return [
            edit_distance(*([phone for phone in phones if phone > 0] for phones in pair)) for pair in both
        ]

    @cached_property
    def baseline(self) -> float:
        """That of the phone which most words have, said once for every word."""
        train, test = self.data.splits.train.phones, self.data.splits.test.phones
        candidates = range(1, len(self.data.phones))
        phone = max(candidates, key=lambda phone: int((train == phone).any(1).sum()))
        return 1 - int((test == phone).any(1).sum()) / int((test > 0).sum())


class Composition(Problem):
    """Name the symbol that a chain of lookup tables leads to. Error: share of wrong answers at full length.

    Chains to learn from have 1 to ``depth`` tables, all sequences of a batch equally many: from full ones
    alone nothing is learned that a few thousand steps could find.
    """

    name, budget, steps, batch = "composition", 45_400, 1500, 32
    depth, symbols, tables = 8, 5, 4

    def build(self, cell: str, width: int, depth: int, variant: str) -> Network:
        return Classifier(cell, width, depth, variant, self.symbols + self.tables, self.symbols)

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(seed)
        while True:
            depth = int(torch.randint(1, self.depth + 1, (), generator=generator))
            yield composed_lookup(depth, self.batch, self.symbols, self.tables, generator=generator)

    def held_out(self, split: str) -> list[Batch]:
        generator = torch.Generator().manual_seed({"valid": -1, "test": -2}[split])
        return [
            composed_lookup(self.depth, HELD_OUT_BATCH, self.symbols, self.tables, generator=generator)
            for _ in range(8)
        ]

    @cached_property
    def baseline(self) -> float:
        return 1 - 1 / self.symbols


class InsideOut(Composition):
    """The same chains read from their end, the symbol last: what is read has to be composed as it comes.

    With the symbol first a network need only keep the symbol that the tables so far lead to, one of 4. Here
    it has to keep what the tables so far do to each of them.
    """

    name, budget, steps = "composition, symbol last", 45_200, 2000
    symbols = 4

    def training(self, seed: int, examples: int | None = None) -> Iterator[Batch]:
        return ((x.flip(0), y) for x, y in super().training(seed, examples))

    def held_out(self, split: str) -> list[Batch]:
        return [(x.flip(0), y) for x, y in super().held_out(split)]


def as_steps(pictures: Tensor) -> Tensor:
    """(N, pixels) to (pixels, N, 1)."""
    return pictures.T.unsqueeze(-1)


def packed(utterances: Utterances) -> Batch:
    """The frames of the utterances, packed, and who speaks."""
    frames, lengths, speakers = utterances
    return pack_padded_sequence(frames.transpose(0, 1), lengths, enforce_sorted=False), speakers


def shuffled(count: int, batch: int, seed: int, examples: int | None = None) -> Iterator[Tensor]:
    """Places of examples, so many at a time, each once before any comes again; no batch is short.

    With ``examples`` only so many of the places are used, and the seed chooses which.
    """
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(count, generator=generator)[:examples]
    left = chosen
    while True:
        while len(left) < batch:
            left = torch.cat([left, chosen[torch.randperm(len(chosen), generator=generator)]])
        yield left[:batch]
        left = left[batch:]


def edit_distance(one: Sequence[int], other: Sequence[int]) -> int:
    """Fewest insertions, deletions and replacements that turn one into the other.

    >>> edit_distance([1, 2, 3], [2, 3, 4, 5])
    3
    """
    previous = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (a != b)))
        previous = row
    return previous[-1]


@cache
def problem(name: str) -> Problem:
    """The one of this name, its data read once in a process."""
    kinds = (Digits, Speakers, Characters, Phones, Composition, InsideOut)
    return next(kind() for kind in kinds if kind.name == name)
