"""Run a module so that it can be watched, and leave it as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


def storage_key(tensor: Tensor) -> int:
    """What tells one storage from another while both are alive; views of one tensor share it."""
    return tensor.untyped_storage()._cdata


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Every tensor in nested tuples, lists, dicts and packed sequences."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, PackedSequence):
        yield value.data
    elif isinstance(value, dict):
        yield from tensors_in(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)


def copies(value: Any, leaves: list[Tensor] | None = None, memo: dict[int, Tensor] | None = None) -> Any:
    """The value with a copy of every tensor, outside any graph; what is one tensor stays one.

    With ``leaves``, the copies need gradients: they are made from leaves, which this list collects.
    """
    memo = {} if memo is None else memo
    if isinstance(value, Tensor):
        if id(value) not in memo:
            copy = value.detach().clone()
            if leaves is not None and (copy.is_floating_point() or copy.is_complex()):
                leaves.append(copy.requires_grad_())
                copy = copy.clone()
            memo[id(value)] = copy
        return memo[id(value)]
    if isinstance(value, PackedSequence):
        return value._replace(data=copies(value.data, leaves, memo))
    if isinstance(value, dict):
        return {key: copies(item, leaves, memo) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [copies(item, leaves, memo) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


@contextmanager
def onednn(enabled: bool) -> Iterator[None]:
    """Let oneDNN run layers on the CPU, or make torch's own kernels do it.

    >>> with onednn(False):
    ...     torch.backends.mkldnn.enabled
    False
    """
    with warnings.catch_warnings():
        # torch's own switch also touches an option of other processors, and says so.
        warnings.filterwarnings("ignore", message="TF32 acceleration on top of oneDNN")
        with torch.backends.mkldnn.flags(enabled=enabled):
            yield


@contextmanager
def separate_operators(module: nn.Module, with_onednn: bool = False) -> Iterator[None]:
    """Run recurrent layers as separate products, and leave generators and buffers as they were."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]
    try:
        with (
            onednn(with_onednn),
            torch.backends.cudnn.flags(enabled=False),
            torch.random.fork_rng(devices=range(torch.cuda.device_count())),
            torch.inference_mode(False),
            torch.enable_grad(),
        ):
            yield
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
