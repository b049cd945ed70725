"""Run a module, set its closed forms beside what was measured, and name what has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from torch import nn

from .. import measure
from .parts import Call, Part, RecurrentPart, part_of
from .report import Audit, Row


def audit(module: nn.Module, *inputs: Any) -> Audit:
    """Set the closed form of every cost beside its measurement on a live module.

    Parameters
    ----------
    module
        a recurrent layer or cell of ``torch.nn`` or ``rnnlib``, or a model that contains some, beside
        ``Linear``, ``Embedding`` and ``LayerNorm`` modules. The parameters of a module that is used more
        than once count once, its products every time.
    inputs
        what the module is called with. It is run a few times, in its present mode.

    Returns
    -------
    Audit
        A row per layer and direction, then the totals: parameters under each bias convention,
        multiply-accumulates forward and in training, bytes kept for the backward pass.
        ``.agrees`` sums it up, and ``.uncounted`` names whatever has no closed form here. Counts of products
        say nothing about time: a packed batch has fewer of them and can still be slower.

    Examples
    --------
    >>> import torch
    >>> print(audit(nn.RNN(3, 5), torch.zeros(6, 4, 3)))
    name   quantity    convention      closed form  measured  agrees
    -----  ----------  --------------  -----------  --------  ------
    l0     parameters  pytorch                  50        50  yes
    l0     parameters  single                   45        45  yes
    l0     parameters  minimal                  45        45  yes
    l0     MACs        forward                 960       960  yes
    l0     bytes kept  native                  480         -  -
    total  parameters  pytorch                  50        50  yes
    total  parameters  single                   45        45  yes
    total  parameters  minimal                  45        45  yes
    total  MACs        forward                 960       960  yes
    total  MACs        training              2,420     2,420  yes
    total  bytes kept  initial states           80         -  -
    total  bytes kept  input                   288         -  -
    total  bytes kept  all                     848       848  yes
    """
    parts, strangers = _take_apart(module)
    forward, kept = _run_and_record(module, inputs, parts)
    rows = [row for part in parts for row in part.rows()]
    uncounted = [
        f"{name or 'the module'} ({type(stranger).__name__}): "
        f"{sum(p.numel() for p in stranger.parameters(_runs_its_children_itself(stranger))):,} parameters"
        for name, stranger in strangers.items()
    ]
    if outside := forward - sum(part.measured_macs().total() for part in parts):
        uncounted.append(f"{outside:,} multiply-accumulates outside the modules above")

    totals = [*_parameter_totals(module, parts), *_mac_totals(module, inputs, parts, forward)]
    totals += _kept_totals(module, parts, kept)
    if uncounted:
        totals = [row.without_closed_form("some parts have none") for row in totals]
    return Audit((*rows, *totals), tuple(uncounted))


def _take_apart(module: nn.Module) -> tuple[list[Part], dict[str, nn.Module]]:
    """The parts that have closed forms, and by name the modules with parameters of their own that have none.

    A module that stands in two places is one part; what lies inside a part is its own affair.
    """
    parts: list[Part] = []
    strangers: dict[str, nn.Module] = {}
    inside: set[nn.Module] = set()
    for name, submodule in module.named_modules():
        if submodule in inside:
            continue
        if part := part_of(name, submodule):
            parts.append(part)
            inside |= set(submodule.modules())
        elif list(submodule.parameters(recurse=False)):
            strangers[name] = submodule
            if _runs_its_children_itself(submodule):
                inside |= set(submodule.modules())
    return parts, strangers


def _runs_its_children_itself(module: nn.Module) -> bool:
    """Torch's own modules may use a child's weights without calling it, as attention does."""
    return type(module).__module__.startswith("torch.nn.")


def _run_and_record(module: nn.Module, inputs: tuple[Any, ...], parts: list[Part]) -> tuple[int, int]:
    """Run once, giving every part its calls: multiply-accumulates, and bytes kept for the backward pass."""
    full_names = {id(p): name for name, p in module.named_parameters()}

    def record(part: Part, counted: Counter[str]) -> None:
        # Within the whole module a shared parameter has the first of its names.
        names = {full_names[id(p)]: name for name, p in part.module.named_parameters(recurse=False)}
        before: Counter[str] = Counter()

        def enter(*_: Any) -> None:
            before.clear()
            before.update(counted)

        def leave(_: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            ran = counted - before
            by_weight = Counter({names.get(full, full): macs for full, macs in ran.items()})
            part.calls.append(Call((*args, *kwargs.values()), output, by_weight))

        hooks.callback(part.module.register_forward_pre_hook(enter).remove)
        hooks.callback(part.module.register_forward_hook(leave, with_kwargs=True).remove)

    with ExitStack() as hooks, measure.counting_products(module) as counted:
        for part in parts:
            record(part, counted)
        kept = measure.saved_bytes(module, *inputs)
    return counted.total(), kept


def _parameter_totals(module: nn.Module, parts: list[Part]) -> Iterator[Row]:
    """A tensor that several modules share counts once."""
    live = measure.parameters(module)
    for convention in max((part.conventions for part in parts), key=len, default=("pytorch",)):
        closed: dict[Any, int] = {}
        merged = 0
        for part in parts:
            tensors = dict(part.module.named_parameters(recurse=False))
            for name, size in part.closed_parameters(convention).items():
                closed[id(tensors[name]) if name in tensors else (part.name, name)] = size
            merged += sum(part.live_parameters("pytorch").values())
            merged -= sum(part.live_parameters(convention).values())
        yield Row("total", "parameters", convention, sum(closed.values()), live - merged)


def _mac_totals(module: nn.Module, inputs: tuple[Any, ...], parts: list[Part], forward: int) -> Iterator[Row]:
    yield Row("total", "MACs", "forward", sum(part.macs() for part in parts), forward)

    training = Row(
        "total", "MACs", "training",
        sum(part.macs(training=True) for part in parts),
        measure.macs(module, *inputs, training=True),
    )  # fmt: skip
    recurrent = [part for part in parts if isinstance(part, RecurrentPart)]
    extra = sum(part.packed_reverse_extra() for part in recurrent)
    if not all(p.requires_grad for p in module.parameters()):
        training = training.without_closed_form("some parameters take no gradient")
    elif any(state.requires_grad for part in recurrent for call in part.calls for state in call.states):
        training = training.without_closed_form("an initial state needs a gradient")
    elif extra and training.measured == (training.closed_form or 0) + extra:
        training = training.with_note(
            f"on a packed batch torch runs {extra:,} more in the reverse directions, for the gradient to the "
            "zero state of each sequence that is shorter than the longest"
        )
    yield training


def _kept_totals(module: nn.Module, parts: list[Part], kept: int) -> Iterator[Row]:
    total = Row("total", "bytes kept", "all", None, kept)
    silent = {type(m).__name__ for m in module.modules() if not list(m.children())} - {
        type(part.module).__name__ for part in parts if part.runs_products
    }
    if not all(p.requires_grad for p in module.parameters()):
        yield total.with_note("no closed form where some parameters take no gradient")
        return
    if silent:
        yield total.with_note(f"no closed form beside {', '.join(sorted(silent))}")
        return
    recurrent = [part for part in parts if isinstance(part, RecurrentPart)]
    terms: Counter[str] = Counter()
    try:
        for part in recurrent:
            terms.update(part.kept())
    except ValueError as reason:
        yield total.with_note(str(reason))
        return
    own_outputs = {
        measure.storage_key(output)
        for part in recurrent
        if part.scheme != "native"
        for call in part.calls
        for output in measure.tensors_in(call.output)
    }
    inputs = {measure.storage_key(call.x): call.x for part in parts for call in part.calls}
    layers = {block.suffix for part in recurrent for block in part.spec.blocks()}
    terms["input"] = sum(x.untyped_storage().nbytes() for key, x in inputs.items() if key not in own_outputs)
    for term, size in terms.items():
        if size and term not in layers:
            yield Row("total", "bytes kept", term, size, None)
    total = replace(total, closed_form=terms.total())
    bare = isinstance(part_of("", module), Part) and not any(
        call.states for part in recurrent for call in part.calls
    )
    if not total.agrees and not bare:
        total = total.with_note(
            "tensors that are shared, or kept outside the modules, are not in the closed form"
        )
    yield total
