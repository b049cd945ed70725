"""How deep can a bidirectional acoustic model be, and does growing it help? The table behind its page.

    python -m experiments.acoustic            fills experiments/acoustic.csv; stop and resume it at will
    python -m experiments.acoustic --quick    a small version, into _build/experiments

Japanese vowels of several speakers in one noisy recording: who speaks in each frame, and who speaks in turn.
The README beside this file describes the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from rnnlib import data, matched_width
from rnnlib.measure import parameters
from rnnlib.runs import Row, versions
from rnnlib.systems.acoustic import (
    SILENCE,
    AcousticModel,
    Recordings,
    batches,
    best_path,
    fit,
    frame_error,
    frame_loss,
    label_loss,
    recordings,
    standardised,
)

from .fitting import LOOKS, MARGIN, several
from .grid import Block, Seeds, command
from .problems import edit_distance

FEATURES, SPEAKERS = 12, 9
WIDTH = 24  # of one of two directions
NOISE = 1.0
BATCH, HELD_OUT = 16, 256
STEPS = {"frames": 250, "labels": 500}
GROWTH = 10  # a layer is added after every tenth of the steps
POSITIONS = 10  # frames of an utterance, from its first, whose errors are told apart
TUNED_AS = ("task", "depth", "variant", "directions", "steps")
SHARED = ("task", "depth", "directions", "steps")  # the rate of a block's first variant serves both


def run(
    task: str, cell: str, depth: int, variant: str, directions: int, steps: int, seed: int, lr: float,
    split: str,
) -> dict[str, Any]:  # fmt: skip
    """Train and score one network."""
    torch.set_flush_denormal(True)
    start = perf_counter()
    outputs, loss = {"frames": (SPEAKERS, frame_loss), "labels": (SPEAKERS + 1, label_loss)}[task]
    width = width_of(depth, directions, outputs)
    torch.manual_seed(seed)
    model = AcousticModel(FEATURES, width, 1 if variant == "grown" else depth, outputs, directions == 2)
    training = batches(vowels().train, BATCH, seed, NOISE)
    model, losses = fit(model, depth, training, loss, lr, steps, max(1, steps // GROWTH))
    seconds = perf_counter() - start
    some = held_out(split)
    error = frame_error(model, some) if task == "frames" else label_error(model, some)
    lowest = baseline(task, split)
    return {
        "width": width,
        "parameters": parameters(model),
        "error": round(error, 5),
        "baseline": round(lowest, 5),
        "failed": int(not error <= (1 - MARGIN) * lowest),
        "diverged": int(len(losses) < steps),
        "losses": several([part.mean().item() for part in torch.tensor(losses).chunk(LOOKS)]),
        "by_position": several(by_position(model, some) if task == "frames" else []),
        "seconds": round(seconds, 2),
        "version": versions(),
    }


def width_of(depth: int, directions: int, outputs: int) -> int:
    """Of one direction; a single one has the width at which parameters come nearest to those of two."""
    if directions == 2:
        return WIDTH
    target = parameters(AcousticModel(FEATURES, WIDTH, depth, outputs))
    return matched_width(
        "lstm", FEATURES, target, num_layers=depth, extra=lambda width: outputs * (width + 1)
    )


@cache
def vowels() -> data.Splits[data.Utterances]:
    """The data, read once in a process."""
    return standardised(data.japanese_vowels())


@cache
def held_out(split: str) -> Recordings:
    """The same recordings for every arm and seed."""
    generator = torch.Generator().manual_seed({"valid": -1, "test": -2}[split])
    return recordings(getattr(vowels(), split), HELD_OUT, generator, NOISE)


def spoken(some: Recordings) -> list[list[int]]:
    """The labels of every recording."""
    return [
        labels[:size] for labels, size in zip(some.labels.tolist(), some.label_lengths.tolist(), strict=True)
    ]


@torch.no_grad()
def label_error(model: AcousticModel, some: Recordings) -> float:
    """Edit distance to the labels, per label, of what the likeliest path says."""
    said, right = best_path(model(some.x)), spoken(some)
    return sum(map(edit_distance, said, right)) / sum(map(len, right))


@torch.no_grad()
def by_position(model: AcousticModel, some: Recordings) -> list[float]:
    """Share of wrong frames among all first ones of an utterance, all second ones, and so on."""
    wrong = model(some.x).argmax(-1) != some.speakers
    place = positions(some.speakers)
    return [wrong[place == k].double().mean().item() for k in range(1, POSITIONS + 1)]


def positions(speakers: Tensor) -> Tensor:
    """For every frame how many its speaker has spoken so far, itself included; 0 in silence.

    >>> positions(torch.tensor([[7], [7], [SILENCE], [7], [2], [2]])).T.tolist()
    [[1, 2, 0, 1, 1, 2]]
    """
    times = torch.arange(len(speakers)).unsqueeze(1)
    before = torch.cat([torch.full_like(speakers[:1], SILENCE), speakers[:-1]])
    starts = torch.where(speakers != before, times, 0).cummax(0).values
    return torch.where(speakers != SILENCE, times - starts + 1, 0)


@cache
def baseline(task: str, split: str) -> float:
    """The lowest error of a single speaker: named in every frame, or said a fixed number of times."""
    some = held_out(split)
    if task == "frames":
        named = some.speakers[some.speakers != SILENCE]
        return 1 - named.bincount().max().item() / len(named)
    right = spoken(some)
    constant = ([speaker] * times for speaker, times in product(range(1, SPEAKERS + 1), range(6)))
    return min(sum(edit_distance(said, one) for one in right) for said in constant) / sum(map(len, right))


def arms(
    task: str,
    depths: Sequence[int],
    variants: Sequence[str] = ("plain",),
    directions: int = 2,
    steps: int | None = None,
) -> Iterator[Row]:
    """Depth by depth, shallow first. There is nothing to grow to one layer."""
    for depth, variant in product(depths, variants):
        if depth > 1 or variant == "plain":
            yield {"task": task, "cell": "lstm", "depth": depth, "variant": variant,
                   "directions": directions, "steps": steps or STEPS[task]}  # fmt: skip


def blocks() -> list[Block]:
    """The grid, what matters most first."""
    return [
        Block([*arms("frames", [1, 2, 3, 4, 6], ["plain", "grown"])], TUNED_AS),
        Block([*arms("frames", [1, 3], directions=1)], TUNED_AS),
        Block([*arms("labels", [1, 3], ["plain", "grown"])], TUNED_AS),
        # Each variant at the other's rate; the runs at its own, and all tuning runs, have their rows already.
        Block([*arms("frames", [6], ["grown", "plain"])], SHARED),
        Block([*arms("frames", [6], ["plain", "grown"])], SHARED),
    ]


def quick() -> list[Block]:
    """Every kind of arm, for a few steps."""
    return [
        Block([*arms("frames", [1, 2], ["plain", "grown"], steps=4)], TUNED_AS),
        Block([*arms("frames", [1], directions=1, steps=4), *arms("labels", [1], steps=4)], TUNED_AS),
        Block([*arms("frames", [2], ["grown", "plain"], steps=4)], SHARED),
    ]


RATES = (3e-3, 1e-2, 3e-2, 0.1)
SEEDS = Seeds(rates=RATES)
QUICK_SEEDS = Seeds(rates=RATES[:2], test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "acoustic", __doc__, (blocks(), SEEDS), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
