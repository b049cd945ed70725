"""What the backward pass keeps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .running import copies, separate_operators, storage_key


def saved_bytes(module: nn.Module, *inputs: Any, onednn: bool = False) -> int:
    """Bytes that autograd keeps for the backward pass: distinct storages, parameters and buffers excluded.

    Parameters
    ----------
    module, inputs
        as for `macs`.
    onednn
        let oneDNN run float32 LSTMs on the CPU, and count the workspace it keeps. Its size depends on
        the processor. Without it, torch's own kernels run, and the count is the same everywhere.

    Examples
    --------
    >>> saved_bytes(nn.LSTM(3, 5), torch.zeros(6, 4, 3))
    3648
    """
    known = {storage_key(t) for t in (*module.parameters(), *module.buffers())}
    kept: dict[int, Tensor] = {}  # holding the tensors keeps their storages apart

    def pack(tensor: Tensor) -> Tensor:
        if storage_key(tensor) not in known:
            kept[storage_key(tensor)] = tensor
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with separate_operators(module, onednn), hooks:
        module(*copies(inputs))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
