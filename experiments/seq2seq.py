"""Does it help to read the source backwards, and to search with a beam? The table behind the page on seq2seq.

    python -m experiments.seq2seq            fills experiments/seq2seq.csv; stop and resume it at will
    python -m experiments.seq2seq --quick    a small version, into _build/experiments

Encoder and decoder of four layers, as in Sutskever, Vinyals and Le 2014. The README beside this file
describes the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch.nn import functional

from rnnlib.runs import Row
from rnnlib.training import IGNORED, mean_loss

from .fitting import fit, several
from .grid import Block, Seeds, command
from .limits import WIDTH
from .models import Transducer
from .problems import Batch, Phones, problem

TASK = "letters to phones"
DEPTH = 4
STEPS = {"plain": 2000, "residual": 800}
ORDERS = {"forward": False, "reversed": True}
BEAMS = (1, 2, 12)
TUNED_AS = ("task", "depth", "variant", "order", "steps")


def run(
    task: str, cell: str, depth: int, variant: str, order: str, steps: int, seed: int, lr: float, split: str
) -> dict[str, Any]:
    """Train and score one network."""
    chosen = cast(Phones, problem(task))
    symbols = len(chosen.data.letters), len(chosen.data.phones)

    def build() -> Transducer:
        return Transducer(cell, WIDTH, depth, variant, *symbols, reverse_source=ORDERS[order])

    return fit(chosen, build, seed, lr, steps, split, score=scores)


@torch.no_grad()
def scores(model: Transducer, batches: list[Batch]) -> dict[str, Any]:
    """What is said with every beam, and how likely the network finds what is right."""
    model.eval()
    row: dict[str, Any] = {
        "nats": round(mean_loss(model, batches), 5),
        "nats_by_step": by_step(model, batches),
    }
    words = sum(y.shape[1] for _, y in batches)
    phones = sum(int((y > 0).sum()) for _, y in batches)
    for beam in BEAMS:
        edits: list[int] = []
        found = 0.0
        for (letters, _), y in batches:
            said, log_probability = model.beam_search(letters, len(y), beam)
            edits += Phones.edits(said[:, 0], y)
            found += log_probability[0].sum().item()
        row |= {
            f"error_{beam}": round(sum(edits) / phones, 5),
            f"exact_{beam}": round(edits.count(0) / words, 5),
            f"score_{beam}": round(found / words, 5),
        }
    return row


def by_step(model: Transducer, batches: list[Batch]) -> str:
    """Cross-entropy in nats at every step of the decoder that any word has, given the right steps before."""
    each = torch.cat(
        [
            functional.cross_entropy(model(x).transpose(1, 2), y, reduction="none", ignore_index=IGNORED)
            for x, y in batches
        ],
        1,
    )
    counts = torch.cat([y != IGNORED for _, y in batches], 1).sum(1)
    return several([total / n for total, n in zip(each.sum(1).tolist(), counts.tolist(), strict=True) if n])


def arms(variant: str, depth: int = DEPTH, steps: int | None = None) -> Iterator[Row]:
    """The source as it is written, and from its end."""
    for order in ORDERS:
        yield {"task": TASK, "cell": "lstm", "depth": depth, "variant": variant, "order": order,
               "steps": steps or STEPS[variant]}  # fmt: skip


def blocks() -> list[Block]:
    """The grid: the architecture as published, and with residuals, where seeds differ less."""
    return [Block([*arms(variant)], TUNED_AS) for variant in STEPS]


def quick() -> list[Block]:
    """Two layers, for a few steps."""
    return [Block([*arms("plain", 2, 4)], TUNED_AS)]


QUICK_SEEDS = Seeds(rates=(1e-2,), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "seq2seq", __doc__, (blocks(), Seeds()), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
