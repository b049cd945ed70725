"""The quantities of ``rnnlib.cost``, read off a live module by running it.

Two facts about torch shape this file. On the CPU a float32 ``torch.nn.LSTM`` runs as a single oneDNN
operator, and on a GPU every recurrent layer as a single cuDNN operator; a counter that watches operators then
sees no matrix product at all. So measurements are taken with both switched off. And oneDNN keeps a workspace
for the backward pass whose size depends on the processor: `saved_bytes` reports it only when asked to.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

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
        macs = self._macs_of(func, args, out)
        if macs:
            factors = (a for a in args if isinstance(a, Tensor) and a.dim() > 1)
            self.macs[max(map(self._name_of, factors), default="")] += macs
        return out

    @staticmethod
    def _macs_of(func: Any, args: Any, out: Any) -> int:
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

    def _name_of(self, factor: Tensor) -> str:
        if factor.layout != torch.strided:
            return ""
        key, (start, _) = storage_key(factor), _extent(factor)
        return next(
            (n for n, storage, low, high in self.parameters if storage == key and low <= start < high), ""
        )


def _extent(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor begins in its storage, and where it ends if it is contiguous."""
    start = int(tensor.storage_offset())
    return start, start + tensor.numel()


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


def _copies(value: Any, leaves: list[Tensor] | None = None, memo: dict[int, Tensor] | None = None) -> Any:
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
        return value._replace(data=_copies(value.data, leaves, memo))
    if isinstance(value, dict):
        return {key: _copies(item, leaves, memo) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [_copies(item, leaves, memo) for item in value]
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
def _separate_operators(module: nn.Module, with_onednn: bool = False) -> Iterator[None]:
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


@contextmanager
def counting_products(module: nn.Module) -> Iterator[Counter[str]]:
    """Count what runs inside: multiply-accumulates by the name of the weight, as it goes on."""
    with _separate_operators(module), _ProductCounter(module) as counter:
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
        module(*_copies(inputs))
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
        first = _copies(inputs[0], leaves if training and input_grad else None)
        output = next(tensors_in(module(first, *_copies(inputs[1:]))))
        wanted = [t for t in (*module.parameters(), *leaves) if t.requires_grad]
        if training and output.requires_grad:
            torch.autograd.grad(output.sum(), wanted, allow_unused=True)
    return counted.total()


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
    with _separate_operators(module, onednn), hooks:
        module(*_copies(inputs))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


class TimeRatio(NamedTuple):
    """How long a function takes in units of a reference: median and quartiles over the rounds."""

    median: float
    lower: float
    upper: float
    seconds: float
    """Median time of one call, in seconds."""

    @classmethod
    def of(cls, seconds: Sequence[float], reference: Sequence[float]) -> TimeRatio:
        """Compare times taken in the same rounds."""
        ratios = [a / b for a, b in zip(seconds, reference, strict=True)]
        lower, middle, upper = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        return cls(middle, lower, upper, median(seconds))


def alternate(
    functions: Mapping[str, Callable[[], object]], rounds: int = 15, seconds: float = 0.0, warm_up: int = 2
) -> dict[str, list[float]]:
    """Time functions alternately: one call of each a round, in an order that turns from round to round.

    What slows a machine down slows neighbours in time alike, so the ratio of two times of a round is
    steadier than either.

    Parameters
    ----------
    functions
        what to call, by name.
    rounds, seconds
        at least so many rounds, and more until so much time is over.
    warm_up
        how often each is called before that.

    Returns
    -------
    dict
        Seconds of every call, by name, a list as long as there were rounds.
    """
    names = list(functions)
    for name in names * warm_up:
        functions[name]()
    times: dict[str, list[float]] = {name: [] for name in names}
    end = perf_counter() + seconds
    while len(times[names[-1]]) < rounds or perf_counter() < end:
        for name in names:
            start = perf_counter()
            functions[name]()
            times[name].append(perf_counter() - start)
        names = names[1:] + names[:1]
    return times


def time_ratios(
    functions: Mapping[str, Callable[[], object]], reference: str, rounds: int = 15, warm_up: int = 2
) -> dict[str, TimeRatio]:
    """Time functions alternately and compare each with the one that is named as the reference.

    Examples
    --------
    >>> ratios = time_ratios({"short": lambda: sum(range(100)), "long": lambda: sum(range(10_000))}, "short")
    >>> ratios["short"].median, ratios["long"].median > 10
    (1.0, True)
    """
    times = alternate(functions, rounds, warm_up=warm_up)
    return {name: TimeRatio.of(seconds, times[reference]) for name, seconds in times.items()}
