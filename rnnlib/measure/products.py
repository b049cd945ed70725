"""Parameters and the multiply-accumulates of matrix products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from .running import copies, separate_operators, storage_key, tensors_in

aten = torch.ops.aten

_WHOLE_LAYERS = (
    "mkldnn_rnn_layer",
    "_cudnn_rnn",
    "miopen_rnn",
    "_transformer_encoder_layer_fwd",
    "_native_multi_head_attention",
)
_WITHOUT_FORMULA = ("_sparse_addmm", "_int_mm", "_euclidean_dist", "_cdist_forward")

# Operators that torch's own registry of formulas leaves out, and registered ones that cost the same.
_SAME_PRODUCTS = {
    "_addmm_activation": aten.addmm,
    "_scaled_dot_product_flash_attention_for_cpu": aten._scaled_dot_product_flash_attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": aten._scaled_dot_product_flash_attention_backward,
}
_FURTHER_PRODUCTS: dict[str, Callable[..., int]] = {
    "addbmm": lambda total, left, right: left.numel() * right.shape[-1],
    "addmv": lambda total, matrix, vector: matrix.numel(),
    "mv": lambda matrix, vector: matrix.numel(),
    "dot": lambda left, right: left.numel(),
    "vdot": lambda left, right: left.numel(),
    "_trilinear": lambda left, weight, right: weight.numel() * left.shape[0],
}


class _ProductCounter(TorchDispatchMode):
    """Counts the multiply-accumulates of matrix products by the parameter that is one of their factors."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.parameters = [(name, storage_key(p), *_extent(p)) for name, p in module.named_parameters()]
        self.macs: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        macs = macs_of(func, args, out)
        if macs:
            factors = (a for a in args if isinstance(a, Tensor) and a.dim() > 1)
            self.macs[max(map(self._name_of, factors), default="")] += macs
        return out

    def _name_of(self, factor: Tensor) -> str:
        if factor.layout != torch.strided:
            return ""
        key, (start, _) = storage_key(factor), _extent(factor)
        return next(
            (n for n, storage, low, high in self.parameters if storage == key and low <= start < high), ""
        )


def macs_of(func: Any, args: Any, out: Any) -> int:
    """Multiply-accumulates of one call of an operator, 0 if it multiplies no matrices."""
    name = func._schema.name.removeprefix("aten::")
    if name in _WHOLE_LAYERS:
        raise RuntimeError(f"{name} runs a whole layer as one operator: its products cannot be counted")
    if name in _WITHOUT_FORMULA:
        raise RuntimeError(f"{name} has no formula here: its products cannot be counted")
    name = name if name.startswith("_") else name.removesuffix("_")  # addmm_ is addmm in place
    operator = _SAME_PRODUCTS.get(name) or getattr(aten, name, None)
    if operator in flop_registry:
        return int(flop_registry[operator](*args, out_val=out)) // 2
    if name in _FURTHER_PRODUCTS:
        return _FURTHER_PRODUCTS[name](*args[:3])
    return 0


def _extent(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor begins in its storage, and where it ends if it is contiguous."""
    start = int(tensor.storage_offset())
    return start, start + tensor.numel()


@contextmanager
def counting_products(module: nn.Module) -> Iterator[Counter[str]]:
    """Count what runs inside: multiply-accumulates by the name of the weight, as it goes on."""
    with separate_operators(module), _ProductCounter(module) as counter:
        yield counter.macs


def parameters(module: nn.Module) -> int:
    """Number of parameters, each shared one counted once.

    >>> parameters(nn.LSTM(3, 5))
    200
    """
    return sum(p.numel() for p in module.parameters())


def macs_by_parameter(module: nn.Module, *inputs: Any) -> dict[str, int]:
    """Multiply-accumulates of one forward pass, by the name of the weight that was multiplied.

    Products of two activations, as in attention, stand under the empty name.

    >>> macs_by_parameter(nn.LSTM(3, 5), torch.zeros(6, 4, 3))
    {'weight_ih_l0': 1440, 'weight_hh_l0': 2400}
    """
    with counting_products(module) as macs:
        module(*copies(inputs))
    return dict(macs)


def macs(module: nn.Module, *inputs: Any, training: bool = False, input_grad: bool = False) -> int:
    """Multiply-accumulates of the matrix products that the module runs on these inputs.

    Parameters
    ----------
    module
        any module; its mode, its parameters' gradients and the random generators stay as they are.
    inputs
        what it is called with; a padded, packed or unbatched sequence, and perhaps initial states.
    training
        run the backward pass of the first output too, and count it.
    input_grad
        in it, also take the gradient to the first input.

    Raises
    ------
    RuntimeError
        If an operator hides its products, so that they would be counted as zero.

    Examples
    --------
    >>> macs(nn.LSTM(3, 5), torch.zeros(6, 4, 3))
    3840
    """
    with counting_products(module) as counted:
        if not inputs:
            raise ValueError("inputs=(): expected what the module is called with")
        leaves: list[Tensor] = []
        first = copies(inputs[0], leaves if training and input_grad else None)
        output = next(tensors_in(module(first, *copies(inputs[1:]))))
        wanted = [t for t in (*module.parameters(), *leaves) if t.requires_grad]
        if training and output.requires_grad:
            torch.autograd.grad(output.sum(), wanted, allow_unused=True)
    return counted.total()
