"""How many matrix products must run one after another."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from .products import macs_of
from .running import copies, separate_operators, storage_key, tensors_in


class _ChainCounter(TorchDispatchMode):
    """Follows, from operator to operator, the longest chain of products behind every storage."""

    def __init__(self) -> None:
        super().__init__()
        self.chains: dict[int, int] = {}
        self._alive: list[Tensor] = []  # holding the tensors keeps their storages apart

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix("aten::")
        inputs = list(tensors_in((args, kwargs or {})))
        chain = max(map(self._behind, inputs), default=0)
        if macs_of(func, args, out):
            # What an addmm or a baddbmm adds to its product need not be there when the product begins.
            addend = inputs[:1] if "add" in name else []
            in_a_row = 2 if name.startswith("_scaled_dot_product") else 1
            factors = max(map(self._behind, inputs[len(addend) :]), default=0)
            chain = max(chain, factors + in_a_row)
        for tensor in tensors_in(out):
            self._alive.append(tensor)
            key = storage_key(tensor)
            self.chains[key] = max(self.chains.get(key, 0), chain)
        return out

    def _behind(self, tensor: Tensor) -> int:
        return self.chains.get(storage_key(tensor), 0)


def critical_path(module: nn.Module, *inputs: Any) -> int:
    """Matrix products of a forward pass that depend on one another: the longest chain.

    However many workers there are, they cannot run fewer products one after another, as the program is
    written. A step of a plain, a GRU or an LSTM layer adds one product to the chain; the product with the
    layer's input adds none, because it does not wait for the step before. A projection adds one more a step.
    Attention adds two, keys with queries and weights with values.

    Dependence is followed through storages: a program that reads one part of a buffer after another part was
    written is taken to have waited for it.

    Parameters
    ----------
    module, inputs
        as for `macs`.

    Raises
    ------
    RuntimeError
        If an operator hides its products.

    Examples
    --------
    >>> import torch
    >>> critical_path(nn.LSTM(3, 5, num_layers=2), torch.zeros(6, 4, 3))
    12
    >>> critical_path(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)), torch.zeros(4, 3))
    2
    """
    with separate_operators(module), _ChainCounter() as counter:
        output = module(*copies(inputs))
    return max((counter.chains.get(storage_key(t), 0) for t in tensors_in(output)), default=0)
