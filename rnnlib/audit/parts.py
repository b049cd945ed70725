"""The kinds of module that an audit has closed forms for, each with the calls that it received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from ..cost import StackSpec
from ..measure import tensors_in
from .report import Row


class Call(NamedTuple):
    """The arguments of one call, what came out, and the products that ran in between, by weight."""

    inputs: tuple[Any, ...]
    output: Any
    macs: Counter[str]

    @property
    def x(self) -> Tensor:
        """Data of the first input."""
        return next(tensors_in(self.inputs))

    @property
    def states(self) -> list[Tensor]:
        """Initial states, where they were given."""
        return list(tensors_in(self.inputs[1:]))


class Part:
    """A module whose parameters are known in closed form and which runs no product: a table or a norm."""

    conventions: tuple[str, ...] = ("pytorch",)
    runs_products = False

    def __init__(self, name: str, module: Any) -> None:
        self.name = name
        self.module = module
        self.calls: list[Call] = []

    def closed_parameters(self, convention: str) -> dict[str, int]:
        """Closed-form size of every parameter, by name."""
        if isinstance(self.module, nn.Embedding):
            return {"weight": self.module.num_embeddings * self.module.embedding_dim}
        width = prod(self.module.normalized_shape)
        return {name: width for name in ("weight", "bias") if getattr(self.module, name) is not None}

    def live_parameters(self, convention: str) -> dict[str, int]:
        """Size of every parameter as it stands on the module, by name."""
        return {name: p.numel() for name, p in self.module.named_parameters(recurse=False)}

    def macs(self, training: bool = False) -> int:
        """Closed-form multiply-accumulates of all calls."""
        return 0

    def measured_macs(self) -> Counter[str]:
        """Products that ran in all calls, by the name of the weight."""
        return sum((call.macs for call in self.calls), Counter())

    def rows(self) -> Iterator[Row]:
        """The rows of this part."""
        for convention in self.conventions:
            closed, live = self.closed_parameters(convention), self.live_parameters(convention)
            yield Row(self.name, "parameters", convention, sum(closed.values()), sum(live.values()))


class LinearPart(Part):
    """A `torch.nn.Linear`."""

    runs_products = True

    def closed_parameters(self, convention: str) -> dict[str, int]:
        m, n = self.module.in_features, self.module.out_features
        return {"weight": m * n} | ({} if self.module.bias is None else {"bias": n})

    def macs(self, training: bool = False) -> int:
        return sum(
            call.x.numel() * self.module.out_features * (1 + training * (1 + call.x.requires_grad))
            for call in self.calls
        )

    def rows(self) -> Iterator[Row]:
        yield from super().rows()
        yield Row(self.name, "MACs", "forward", self.macs(), self.measured_macs().total())


class RecurrentPart(Part):
    """A stack of recurrent layers or a single cell, of `torch.nn` or of `rnnlib`."""

    conventions = ("pytorch", "single", "minimal")
    runs_products = True

    def __init__(self, name: str, module: Any) -> None:
        super().__init__(name, module)
        self.spec = StackSpec.of(module)
        self.scheme = getattr(module, "storage", "native")
        self.is_cell = not hasattr(module, "num_layers")

    def closed_parameters(self, convention: str) -> dict[str, int]:
        shapes = self.spec.parameter_shapes(convention)
        return {self._live_name(name): prod(shape) for name, shape in shapes.items()}

    def live_parameters(self, convention: str) -> dict[str, int]:
        live = super().live_parameters(convention)
        if convention != "pytorch":
            for name in [name for name in live if name.startswith("bias_hh")]:
                hidden_biases = live.pop(name)
                if convention == "minimal" and self.spec.cell == "gru":
                    live[name.replace("hh", "hn")] = hidden_biases // len(self.spec.gates)
        return live

    def macs(self, training: bool = False) -> int:
        return sum(
            block.macs(*self._work(call), training, block.layer > 0 or call.x.requires_grad, self.scheme)
            for call in self.calls
            for block in self.spec.blocks()
        )

    def rows(self) -> Iterator[Row]:
        kept: dict[str, int] = {}
        with suppress(ValueError):
            kept = self.kept()
        for block in self.spec.blocks():
            name = f"{self.name}.{block.suffix}".removeprefix(".")
            for convention in self.conventions:
                closed = self._of(block.parameter_shapes(convention), self.closed_parameters(convention))
                live = self._of(block.parameter_shapes(convention), self.live_parameters(convention))
                yield Row(name, "parameters", convention, closed, live)
            forward = sum(block.macs(*self._work(call)) for call in self.calls)
            products = Row(
                name, "MACs", "forward", forward, self._of(block.parameter_shapes(), self.measured_macs())
            )
            if self.spec.weight_dropout:
                products = products.without_measurement(
                    "a dropped copy of a weight cannot be told from another"
                )
            yield products
            if block.suffix in kept:
                yield Row(name, "bytes kept", self.scheme, kept[block.suffix], None)
        if self.spec.layer_norm == "output":
            norms = [name for name in self.spec.parameter_shapes() if "_out_" in name]
            closed = self._of(norms, self.closed_parameters("pytorch"))
            live = self._of(norms, self.live_parameters("pytorch"))
            yield Row(f"{self.name}.output norms".removeprefix("."), "parameters", "pytorch", closed, live)

    def kept(self) -> dict[str, int]:
        """Closed-form bytes kept by all calls beside their inputs, by term.

        Raises
        ------
        ValueError
            Where there is no closed form.
        """
        terms: Counter[str] = Counter()
        for call in self.calls:
            if self.is_cell and self.spec.cell == "lstm" and not call.states:
                raise ValueError(
                    "an LSTMCell that makes its own states shares one tensor of zeros between h and c"
                )
            terms.update(
                self.spec.storage_terms(**self._extent(call), scheme=self.scheme, dtype=call.x.dtype)
            )
            if self._copies_input_again(call):
                terms["second copy of the input"] += call.x.numel() * call.x.element_size()
        return dict(terms)

    def packed_reverse_extra(self) -> int:
        """Products that torch adds in training when a reverse direction reads a packed sequence.

        It takes the gradient to the zero state of every sequence that is shorter than the longest.
        """
        per_sequence = sum(
            len(self.spec.gates) * block.hidden_size * block.output_size
            for block in self.spec.blocks()
            if block.reverse
        )
        shorter = 0
        for call in self.calls:
            if lengths := self._extent(call).get("lengths"):
                shorter += sum(length < max(lengths) for length in lengths)
        return per_sequence * shorter

    def _copies_input_again(self, call: Call) -> bool:
        """Torch's kernels copy a batch-first input to time-major order once for every direction."""
        plain = self.scheme == "native" and not self.spec.residual and self.spec.layer_norm is None
        transposed = not self.is_cell and self.module.batch_first and call.x.dim() == 3
        return plain and transposed and self.spec.bidirectional and not call.x.transpose(0, 1).is_contiguous()

    def _of(self, names: Iterable[str], counts: Mapping[str, int]) -> int:
        return sum(counts.get(self._live_name(name), 0) for name in names)

    def _live_name(self, name: str) -> str:
        return name.removesuffix("_l0") if self.is_cell else name

    def _work(self, call: Call) -> tuple[int, int]:
        extent = self._extent(call)
        if "lengths" in extent:
            return sum(extent["lengths"]), len(extent["lengths"])
        return extent["steps"] * extent["batch"], extent["batch"]

    def _extent(self, call: Call) -> dict[str, Any]:
        x = call.inputs[0]
        if isinstance(x, PackedSequence):
            return {"lengths": pad_packed_sequence(x)[1].tolist()}
        *leading, _ = x.shape
        if self.is_cell:
            return {"steps": 1, "batch": prod(leading)}
        if len(leading) == 1:
            return {"steps": leading[0], "batch": 1}
        steps, batch = reversed(leading) if self.module.batch_first else leading
        return {"steps": steps, "batch": batch}


def part_of(name: str, module: nn.Module) -> Part | None:
    """The closed forms of a module, if there are any."""
    if hasattr(module, "parametrizations"):
        return None
    if isinstance(module, nn.Linear):
        return LinearPart(name, module)
    if isinstance(module, (nn.Embedding, nn.LayerNorm)):
        return Part(name, module)
    try:
        return RecurrentPart(name, module)
    except ValueError:
        return None
