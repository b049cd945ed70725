"""One training run of the sweeps over depth, and the columns that it reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from rnnlib.measure import parameters
from rnnlib.runs import versions
from rnnlib.training import cross_entropy, train

from .models import Network
from .problems import Batch, Problem
from .watch import Best, Weights, gradient_norms

LOOKS = 10
LOOKED_AT = 2  # batches of validation examples
MARGIN = 0.1
FIGURES = 4


def fit(
    problem: Problem,
    build: Callable[[], Network],
    seed: int,
    lr: float,
    steps: int,
    split: str,
    clip: float | None = 1.0,
    examples: int | None = None,
    curve: bool = False,
    score: Callable[[Any, list[Batch]], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Train a network and score the best of its weights.

    Adam, whose learning rate falls to nothing along a cosine. The weights scored are those with the lowest
    loss on 512 validation examples, looked at before training and after every tenth of the steps. A run has
    failed if its error is not at least a tenth below that of the baseline, which ignores the input.

    Parameters
    ----------
    split
        "valid" while choices are made, "test" once they are.
    curve
        report the loss at every look, too.
    score
        further columns, of the network with its best weights and the examples of the split.
    """
    torch.set_flush_denormal(True)  # vanished gradients are denormal numbers, which take many times longer
    torch.manual_seed(seed)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    optimizer.register_step_post_hook(lambda *_: schedule.step())

    valid = problem.held_out("valid")[:LOOKED_AT]
    probe = valid[0]
    best, first = Best(model, valid), Weights(model)
    gradients = {"start": gradient_norms(model, probe)}
    before: Weights | None = None
    update: list[float] = []

    def watch(step: int) -> bool:
        nonlocal before, update
        if before is not None:
            update, before = before.moved(), None
        if step == steps // 2:
            gradients["mid"] = gradient_norms(model, probe)
            before = Weights(model)
        if step % max(1, steps // LOOKS) == 0:
            best.look()
        return False

    record = train(model, problem.training(seed, examples), cross_entropy, optimizer, steps, clip=clip,
                   stop=watch, every=1)  # fmt: skip
    gradients["last"] = gradient_norms(model, probe)
    moved = first.moved()
    best.restore()
    held_out = problem.held_out(split)
    error = problem.error(model, held_out)
    return {
        "parameters": parameters(model),
        "error": round(error, 5),
        "baseline": round(problem.baseline, 5),
        "failed": int(not error <= (1 - MARGIN) * problem.baseline),
        "diverged": int(record.steps < steps),
        "gradient_start": several(gradients["start"]),
        "gradient_mid": several(gradients.get("mid", [])),
        "gradient_last": several(gradients["last"]),
        "update_mid": several(update),
        "moved": several(moved),
        "seconds": round(record.seconds, 2),
        "version": versions(),
        **({"valid_loss": several(best.losses)} if curve else {}),
        **(score(model, held_out) if score else {}),
    }


def several(values: list[float]) -> str:
    """Numbers in one field, separated by blanks.

    >>> several([0.00123456, 2.0])
    '0.001235 2'
    """
    return " ".join(f"{value:.{FIGURES}g}" for value in values)


def numbers(field: Any) -> list[float]:
    """What `several` wrote, after `rnnlib.runs.load` has read it.

    >>> numbers("0.001235 2"), numbers(0.5), numbers(None)
    ([0.001235, 2.0], [0.5], [])
    """
    return [] if field is None else [float(value) for value in str(field).split()]
