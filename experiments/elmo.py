"""What do the layers of two language models tell of a word's sense? The table behind the page on ELMo.

    python -m experiments.elmo            fills experiments/elmo.csv; stop and resume it at will
    python -m experiments.elmo --quick    a small version, into _build/experiments

A bidirectional language model reads Shakespeare with pairs of words merged; linear probes on its layers tell
which of the two a merged word was. The README beside this file describes the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rnnlib.data import Splits
from rnnlib.measure import parameters
from rnnlib.runs import Row, versions
from rnnlib.systems.elmo import BiLM, WeightedSum, targets, windows
from rnnlib.systems.pseudowords import Part, best_probe, cosine_distances, occurrences, pseudowords
from rnnlib.training import cross_entropy, train

from .fitting import several
from .grid import Block, Seeds, command

TASK = "pseudowords"
WIDTH, HIDDEN_SIZE = 64, 128
LENGTH, BATCH, STEPS = 32, 32, 500
CLIP = 1.0
AROUND = 12  # tokens on either side of a pseudoword, for its vectors
MIX_STEPS, MIX_RATE, MIX_DECAY = 100, 0.03, 1e-3
TUNED_AS = ("task", "depth")
Set = tuple[Tensor, Tensor]  # vectors (5, n, 2 * WIDTH), of `vectors`, and senses (n,)
View = Callable[[Tensor], Tensor]
VIEWS: dict[str, View] = {
    "token": lambda x: x[0],
    "two_neighbours": lambda x: x[3],
    "four_neighbours": lambda x: torch.cat([*x[3:]], -1),
    "layer_1": lambda x: x[1],
    "layer_2": lambda x: x[2],
    "forward": lambda x: x[2, :, :WIDTH],
    "backward": lambda x: x[2, :, WIDTH:],
    "mean": lambda x: x[:3].mean(0),
    "joined": lambda x: torch.cat([*x[:3]], -1),
}


def run(task: str, depth: int, steps: int, seed: int, lr: float, split: str) -> dict[str, Any]:
    """Train a model, or none with no steps; score it and the probes on what its layers say."""
    torch.set_flush_denormal(True)
    text = pseudowords()
    train_part, scored = text.splits.train, getattr(text.splits, split)
    torch.manual_seed(seed)
    model = BiLM(len(text.words), WIDTH, HIDDEN_SIZE)
    seconds = 0.0
    if steps:
        optimizer = torch.optim.Adam(model.parameters(), lr, fused=True)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        optimizer.register_step_post_hook(lambda *_: schedule.step())
        batches = windows(train_part.codes, LENGTH, BATCH, seed)
        seconds = train(model, batches, cross_entropy, optimizer, steps, clip=CLIP).seconds
    forward, backward = losses(model, scored)

    words = [
        [vectors(model, part, text.code(pair)) for part in (train_part, text.splits.valid, scored)]
        for pair in text.pairs
    ]
    mix = learned_sum([train for train, _, _ in words])
    views: dict[str, View] = {**VIEWS, "weighted": lambda x: mix(x[:3])}
    distances = torch.tensor([[cosine_distances(x, y) for x in layers[:3]] for _, _, (layers, y) in words])
    same, different = distances.mean(0).T.tolist()
    apart = (distances[..., 1] > distances[..., 0] + 1e-9).sum(0).tolist()
    return {
        "parameters": parameters(model),
        "error": round(fmean((forward, backward)), 5),
        "forward_loss": round(forward, 5),
        "backward_loss": round(backward, 5),
        "baseline": round(unigram_loss(text.splits, split, len(text.words)), 5),
        **{name: several([accuracy(view, *word) for word in words]) for name, view in views.items()},
        "weights": several(mix.weights.tolist()),
        "same": several(same),
        "different": several(different),
        "apart": several(apart),
        "seconds": round(seconds, 2),
        "version": versions(),
    }


@torch.no_grad()
def losses(model: BiLM, part: Part) -> list[float]:
    """Of the forward and of the backward model, on a part cut into pieces as long as those of training."""
    whole = len(part.codes) // LENGTH * LENGTH
    tokens = part.codes[:whole].view(-1, LENGTH).T
    return [cross_entropy(scores, y).item() for scores, y in zip(model(tokens), targets(tokens), strict=True)]


def unigram_loss(splits: Splits[Part], split: str, symbols: int) -> float:
    """Of whoever ignores the context and goes by how often a token stands in the training part."""
    counts = splits.train.codes.bincount(minlength=symbols) + 1.0
    return -(counts / counts.sum()).log()[getattr(splits, split).codes].mean().item()


@torch.no_grad()
def vectors(model: BiLM, part: Part, code: int) -> Set:
    """Of all places where a pseudoword stands: its three layers, and the embeddings of the two tokens next to
    it and of the two beyond these."""
    tokens, senses = occurrences(part, code, AROUND)
    layers = model.layers(tokens)
    embeddings = layers[0, :, :, :WIDTH]
    pairs = [torch.cat([embeddings[AROUND - k], embeddings[AROUND + k]], -1) for k in (1, 2)]
    return torch.cat([layers[:, AROUND], torch.stack(pairs)]), senses


@torch.no_grad()
def accuracy(view: View, *sets: Set) -> float:
    """Of the probe fitted to the first set that is best on the second, on the third."""
    train, valid, scored = ((view(x), senses) for x, senses in sets)
    return best_probe(train, valid).accuracy(*scored)


def learned_sum(words: list[Set]) -> WeightedSum:
    """The weighted sum of layers that a logistic classifier for each word learns together with itself."""
    x = torch.cat([x[:3] for x, _ in words], 1)
    senses = torch.cat([senses for _, senses in words]).float()
    which = torch.cat([torch.full((len(senses),), k) for k, (_, senses) in enumerate(words)])
    mix, directions = WeightedSum(len(x)), nn.Parameter(torch.zeros(len(words), x.shape[-1]))
    biases = nn.Parameter(torch.zeros(len(words)))
    optimizer = torch.optim.Adam([*mix.parameters(), directions, biases], MIX_RATE)
    for _ in range(MIX_STEPS):
        optimizer.zero_grad()
        scores = (mix(x) * directions[which]).sum(-1) + biases[which]
        error = functional.binary_cross_entropy_with_logits(scores, senses)
        (error + MIX_DECAY * directions.square().sum(1).mean()).backward()
        optimizer.step()
    return mix


def arm(steps: int) -> Row:
    """A model trained for so many steps."""
    return {"task": TASK, "depth": 2, "steps": steps}


def blocks() -> list[Block]:
    """The trained model, and one that was not, which needs no rate of its own."""
    return [Block([arm(STEPS), arm(0)], TUNED_AS)]


def quick() -> list[Block]:
    """The same for a few steps."""
    return [Block([arm(4), arm(0)], TUNED_AS)]


SEEDS = Seeds(rates=(3e-3, 1e-2, 3e-2))
QUICK_SEEDS = Seeds(rates=(1e-2,), test=(0,))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    command(run, "elmo", __doc__, (blocks(), SEEDS), (quick(), QUICK_SEEDS), arguments)


if __name__ == "__main__":
    main()
