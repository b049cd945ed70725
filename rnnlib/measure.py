"""The quantities of ``rnnlib.cost``, read off a live module by running it.

Two facts about torch shape this file. On the CPU a float32 ``torch.nn.LSTM`` runs as a single oneDNN
operator, and on a GPU every recurrent layer as a single cuDNN operator; a counter that watches operators then
sees no matrix product at all. So measurements are taken with both switched off. And oneDNN keeps a workspace
for the backward pass whose size depends on the processor: `saved_bytes` reports it only when asked to.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

_WHOLE_LAYER_OPERATORS = {
    "aten::mkldnn_rnn_layer",
    "aten::_cudnn_rnn",
    "aten::miopen_rnn",
    "aten::_transformer_encoder_layer_fwd",
    "aten::_native_multi_head_attention",
}

# Matrix products that torch's own registry of formulas leaves out.
_UNREGISTERED_PRODUCTS: dict[str, Callable[..., int]] = {
    "aten::addmm_": lambda total, left, right: left.numel() * right.shape[-1],
    "aten::baddbmm_": lambda total, left, right: left.numel() * right.shape[-1],
    "aten::addbmm": lambda total, left, right: left.numel() * right.shape[-1],
    "aten::addmv": lambda total, matrix, vector: matrix.numel(),
    "aten::mv": lambda matrix, vector: matrix.numel(),
    "aten::dot": lambda left, right: left.numel(),
}


class _ProductCounter(TorchDispatchMode):
    """Counts the multiply-accumulates of matrix products by the parameter that is one of their factors."""

    def __init__(self, parameter_names: dict[int, str]) -> None:
        super().__init__()
        self.parameter_names = parameter_names
        self.macs: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if name in _WHOLE_LAYER_OPERATORS:
            raise RuntimeError(f"{name} runs a whole layer as one operator: its products cannot be counted")
        out = func(*args, **kwargs)
        if func._overloadpacket in flop_registry:
            macs = flop_registry[func._overloadpacket](*args, **kwargs, out_val=out) // 2
        elif name in _UNREGISTERED_PRODUCTS:
            macs = _UNREGISTERED_PRODUCTS[name](*args[:3])
        else:
            return out
        factors = [
            self.parameter_names.get(storage_key(a), "")
            for a in args
            if isinstance(a, Tensor) and a.dim() > 1
        ]
        self.macs[max(factors, default="")] += macs
        return out


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


def _detached(value: Any, requires_grad: bool = False) -> Any:
    """A copy outside any graph, sharing the data."""
    if isinstance(value, Tensor):
        return value.detach().requires_grad_(requires_grad and value.is_floating_point())
    if isinstance(value, PackedSequence):
        return value._replace(data=_detached(value.data, requires_grad))
    if isinstance(value, (tuple, list)):
        return type(value)(_detached(item, requires_grad) for item in value)
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
def _separate_operators(with_onednn: bool = False) -> Iterator[None]:
    """Run recurrent layers as separate matrix products, and leave the random generators as they were."""
    with (
        onednn(with_onednn),
        torch.backends.cudnn.flags(enabled=False),
        torch.random.fork_rng(devices=range(torch.cuda.device_count())),
        torch.enable_grad(),
    ):
        yield


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
    names = {storage_key(p): name for name, p in module.named_parameters()}
    with _separate_operators(), _ProductCounter(names) as counter:
        module(*_detached(inputs))
    return dict(counter.macs)


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
    with _separate_operators(), _ProductCounter({}) as counter:
        first = _detached(inputs[0], requires_grad=training and input_grad)
        outputs = module(first, *_detached(inputs[1:]))
        if training:
            wanted = [t for t in (*module.parameters(), *tensors_in(first)) if t.requires_grad]
            torch.autograd.grad(next(tensors_in(outputs)).sum(), wanted, allow_unused=True)
    return counter.macs.total()


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

    with _separate_operators(onednn), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        module(*_detached(inputs))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


class TimeRatio(NamedTuple):
    """How long a function takes in units of a reference: median and quartiles over the rounds."""

    median: float
    lower: float
    upper: float
    seconds: float
    """Median time of one call, in seconds."""


def time_ratios(
    functions: Mapping[str, Callable[[], object]], reference: str, rounds: int = 15, warm_up: int = 2
) -> dict[str, TimeRatio]:
    """Time functions alternately and compare each with a reference, round by round.

    What slows a machine down slows neighbours in time alike, so the ratio within a round is steadier than
    either time. The order is reversed in every other round.

    Parameters
    ----------
    functions
        what to call, by name.
    reference
        the name of the one to compare with; its own ratio is 1.
    rounds, warm_up
        how often each is timed, and called before that.

    Examples
    --------
    >>> ratios = time_ratios({"short": lambda: sum(range(100)), "long": lambda: sum(range(10_000))}, "short")
    >>> ratios["short"].median, ratios["long"].median > 10
    (1.0, True)
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    names = list(functions)
    for name in names * warm_up:
        functions[name]()
    for k in range(rounds):
        for name in names[:: -1 if k % 2 else 1]:
            start = perf_counter()
            functions[name]()
            seconds[name].append(perf_counter() - start)

    def compare(name: str) -> TimeRatio:
        ratios = [a / b for a, b in zip(seconds[name], seconds[reference], strict=True)]
        lower, middle, upper = quantiles(ratios, n=4) if rounds > 1 else ratios * 3
        return TimeRatio(middle, lower, upper, median(seconds[name]))

    return {name: compare(name) for name in names}
