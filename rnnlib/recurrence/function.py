"""What the recurrences share as Functions of autograd.

A backward pass written by hand has no derivative of its own: asking for it is an error, never a zero.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps

import torch
from torch import Tensor
from torch.autograd import Function

WAY_OUT = 'choose storage="native", and for layer_norm="gates" the RNN or the GRU'
is_exporting: Callable[[], bool] = getattr(torch.compiler, "is_exporting", lambda: False)


def _requires_grad(argument) -> bool:
    return isinstance(argument, Tensor) and argument.requires_grad


class Recurrence(Function):
    """A Function whose ``apply`` is quick.

    With a ``setup_context``, ``apply`` works out the signature of ``forward`` at every call, which takes as
    long as several steps of a small layer. A function that carries its signature is asked for it instead.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.forward.__signature__ = inspect.signature(cls.forward)  # type: ignore[attr-defined]

    @classmethod
    def run(cls, *arguments):
        """``apply``, or an error where ``torch.export`` would lose the backward pass.

        (autograd calls ``apply`` of the class itself, so it is not overridden.)
        """
        if is_exporting() and torch.is_grad_enabled() and any(map(_requires_grad, arguments)):
            raise RuntimeError(
                f"torch.export does not record the backward pass of {cls.__name__}; for the forward pass "
                f"export under torch.no_grad(), for both {WAY_OUT}"
            )
        return cls.apply(*arguments)


def keep(ctx, inputs, hidden: Tensor, kept: Sequence[Tensor]) -> None:
    """Keep for the backward pass what went in, h, and the further outputs, which are there for it alone.

    The last two of the inputs are the steps and the scheme. Outputs that the loss does not depend on come to
    the backward pass as None.
    """
    *tensors, ctx.steps, ctx.scheme = inputs
    ctx.mark_non_differentiable(*kept)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*tensors, hidden, *kept)


class NoSecondDerivative(Function):
    """A gradient that depends on ``sources`` as far as autograd can see, and raises when it is asked how."""

    @staticmethod
    def forward(gradient: Tensor, *sources: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(
            f"the storage schemes of rnnlib differentiate once; for a second derivative {WAY_OUT}"
        )


def once_differentiable(backward: Callable) -> Callable:
    """Decorate a Function's ``backward`` so that differentiating it raises a RuntimeError.

    ``torch.autograd.function.once_differentiable`` raises only if the incoming gradient requires grad. With
    ``create_graph=True`` and a plain sum as the loss it returns constants, and second derivatives go missing.
    """

    @wraps(backward)
    def wrapper(ctx, *output_gradients):
        with torch.no_grad():
            gradients = backward(ctx, *output_gradients)
        if not torch.is_grad_enabled():
            return gradients
        sources = [t for t in (*output_gradients, *ctx.saved_tensors) if t is not None]
        return tuple(None if g is None else NoSecondDerivative.apply(g, *sources) for g in gradients)

    return wrapper
