"""What happens in each layer of a network while it trains, and the weights that were best on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from rnnlib.training import cross_entropy, mean_loss

from .models import Network
from .problems import Batch


def layers(model: Network) -> Iterator[list[nn.Parameter]]:
    """The parameters of every recurrent layer, from input to output; of a transducer the encoder's first."""
    for stack in model.stacks:
        for layer in range(stack.num_layers):
            ends = (f"_l{layer}", f"_l{layer}_reverse")
            yield [p for name, p in stack.named_parameters() if name.endswith(ends)]


def norm(tensors: Sequence[Tensor]) -> float:
    """Euclidean norm of all of them together.

    >>> norm([torch.tensor([3.0]), torch.tensor([[4.0]])])
    5.0
    """
    return nn.utils.get_total_norm(tensors).item()


def gradient_norms(model: Network, batch: Batch) -> list[float]:
    """The gradient's norm in every layer, for one batch and before any clipping."""
    x, y = batch
    parameters = list(layers(model))
    # A transducer's encoder hands on states alone, so the norm after its last layer has no gradient.
    gradients = iter(
        torch.autograd.grad(
            cross_entropy(model(x), y), [p for layer in parameters for p in layer], materialize_grads=True
        )
    )
    return [norm([next(gradients) for _ in layer]) for layer in parameters]


class Weights:
    """The weights of every layer at one moment, to see later how far they have moved."""

    def __init__(self, model: Network) -> None:
        self.model = model
        self.then = [[p.detach().clone() for p in layer] for layer in layers(model)]

    def moved(self) -> list[float]:
        """By how much each layer has changed since, as a share of its norm then."""
        return [
            norm([p.detach() - q for p, q in zip(now, then, strict=True)]) / norm(then)
            for now, then in zip(layers(self.model), self.then, strict=True)
        ]


class Best:
    """Keeps the weights with the lowest loss on held-out batches, and the losses of all looks."""

    def __init__(self, model: Network, batches: Sequence[Batch]) -> None:
        self.model, self.batches = model, batches
        self.loss = float("inf")
        self.losses: list[float] = []
        self.look()

    def look(self) -> None:
        """Compare the weights of this moment; a loss that is not a number never wins."""
        now = mean_loss(self.model, self.batches)
        self.losses.append(now)
        if now < self.loss:
            self.loss, self.state = now, deepcopy(self.model.state_dict())

    def restore(self) -> None:
        """Put the best weights back."""
        self.model.load_state_dict(self.state)
