"""What does each regulariser of AWD-LSTM do for a small one? The table behind its page among the systems.

    python -m experiments.awd_lstm            fills experiments/awd_lstm.csv; stop and resume it at will
    python -m experiments.awd_lstm --quick    a small version, into _build/experiments

One language model, all of it and with one part removed at a time. The README beside this file describes the
tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import torch

from rnnlib.measure import parameters
from rnnlib.runs import Row, versions
from rnnlib.systems.awd_lstm import AWDLSTM, Corpus, Dropouts, corpus, fit, mean_loss

from .grid import Block, Seeds, command

TASK = "Shakespeare's words"
EMBEDDING, WIDTH, DEPTH = 48, 80, 3
STEPS = 1200
FULL = Dropouts(weight=0.3, word=0.1, input=0.2, hidden=0.1, output=0.3)


class Variant(NamedTuple):
    """What an arm has of the whole."""

    dropouts: Dropouts = FULL
    tied: bool = True
    average: bool = True


VARIANTS = {
    "full": Variant(),
    "no weight dropout": Variant(replace(FULL, weight=0.0)),
    "no unit dropout": Variant(replace(FULL, input=0.0, hidden=0.0, output=0.0)),
    "a mask per step": Variant(replace(FULL, mask="step")),
    "no word dropout": Variant(replace(FULL, word=0.0)),
    "not tied": Variant(tied=False),
    "not averaged": Variant(average=False),
    "none": Variant(Dropouts(), tied=False, average=False),
}
TUNED_AS = ("task", "rate_of")
SEEDS = Seeds(rates=(3e-3, 6e-3, 1e-2, 2e-2))


@cache
def text() -> Corpus:
    """The words, read once in a process."""
    return corpus()


def run(
    task: str, depth: int, variant: str, rate_of: str, steps: int, seed: int, lr: float, split: str
) -> Row:
    """Train and score one network."""
    torch.set_flush_denormal(True)
    torch.manual_seed(seed)
    words, splits = text()
    dropouts, tied, average = VARIANTS[variant]
    model = AWDLSTM(len(words), EMBEDDING, WIDTH, depth, dropouts=dropouts, tied=tied)
    history = fit(model, splits, lr, steps, average=average)
    error = mean_loss(model, getattr(splits, split))
    return {
        "parameters": parameters(model),
        "error": round(error, 5),
        "baseline": round(baseline(), 5),
        "train_error": round(mean_loss(model, splits.train), 5),
        "averaged_from": history.averaged_from,
        "best": history.best,
        "last": round(history.looks[-1][1], 5),
        "diverged": int(history.diverged),
        "seconds": round(history.seconds, 2),
        "version": versions(),
    }


def baseline() -> float:
    """Nats a word on the test part of whoever knows only how often each word occurs in the training part."""
    words, splits = text()
    counts = splits.train.bincount(minlength=len(words)) + 1.0
    return -(counts / counts.sum()).log()[splits.test].mean().item()


def arms(variants: Sequence[str], steps: int = STEPS) -> Iterator[Row]:
    """One for each variant. All but the bare network share the whole one's learning rate."""
    for variant in variants:
        rate_of = "none" if variant == "none" else "full"
        yield {"task": TASK, "depth": DEPTH, "variant": variant, "rate_of": rate_of, "steps": steps}


def blocks() -> list[Block]:
    """The whole grid."""
    return [Block([*arms([*VARIANTS])], TUNED_AS)]


def quick() -> list[Block]:
    """Three arms, for a few steps."""
    return [Block([*arms(["full", "not tied", "none"], steps=4)], TUNED_AS)]


QUICK_SEEDS = Seeds(rates=(3e-3, 1e-2), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "awd_lstm", __doc__, (blocks(), SEEDS), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
