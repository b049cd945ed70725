"""A stack as the sum of its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from math import prod
from typing import Any

from .block import GATES, SCHEMES, Block
from .checks import choice, integer, probability, tokens_and_sequences
from .storage import BESIDE_THE_LAYERS, bytes_of, floats_kept

SCHEDULES = ("layerwise", "wavefront")
CLASSES = ("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell")
LAYER_NORMS = (None, "output", "gates")


@dataclass(frozen=True)
class StackSpec:
    r"""The dimensions of a stack of recurrent layers, and what follows from them.

    Parameters
    ----------
    cell
        ``"rnn"``, ``"gru"`` (reset-after, as in torch) or ``"lstm"``.
    input_size
        width of the input; 0 is legal here and leaves the recurrent part alone.
    hidden_size, num_layers, bias, bidirectional, proj_size
        as in ``torch.nn.LSTM``.
    layer_norm
        ``None``, ``"output"`` or ``"gates"``, as in ``rnnlib.LSTM``.
    residual
        ``False``, ``True`` or the first layer, counted from 1, that has a shortcut.
    dropout, weight_dropout
        carried along, because they change what a backward pass keeps.

    Raises
    ------
    ValueError
        For an unknown cell or option or a size out of range. It names the argument, its value and what
        was expected.

    Examples
    --------
    >>> spec = StackSpec("lstm", input_size=3, hidden_size=5)
    >>> spec.parameters(bias="single"), spec.parameters()
    (180, 200)
    >>> spec.macs(), spec.macs(steps=6, batch=4)
    (160, 3840)
    >>> spec.storage(steps=6, batch=4)
    2880
    """

    cell: str
    input_size: int
    hidden_size: int
    num_layers: int = 1
    _: KW_ONLY
    bias: bool = True
    bidirectional: bool = False
    proj_size: int = 0
    layer_norm: str | None = None
    residual: bool | int = False
    dropout: float = 0.0
    weight_dropout: float = 0.0

    def __post_init__(self) -> None:
        choice("cell", self.cell, tuple(GATES))
        for size, minimum in (("input_size", 0), ("hidden_size", 1), ("num_layers", 1), ("proj_size", 0)):
            object.__setattr__(self, size, integer(size, getattr(self, size), minimum))
        for switch in ("bias", "bidirectional"):
            choice(switch, getattr(self, switch), (True, False))
        choice("layer_norm", self.layer_norm, LAYER_NORMS)
        if not isinstance(self.residual, bool):
            integer("residual", self.residual, 1)
        if self.proj_size and self.cell != "lstm":
            raise ValueError(
                f"proj_size={self.proj_size}: expected 0 for a {self.cell}; only an LSTM projects"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError(f"proj_size={self.proj_size}: expected less than hidden_size={self.hidden_size}")
        for name in ("dropout", "weight_dropout"):
            probability(name, getattr(self, name))

    @classmethod
    def of(cls, module: Any) -> StackSpec:
        """The spec of a live ``RNN``, ``GRU``, ``LSTM`` or ``*Cell`` of ``torch.nn`` or ``rnnlib``.

        Only attributes are read. Dropout counts only while the module is in training mode.

        Raises
        ------
        ValueError
            For any other module.
        """
        torchs = [c.__name__ for c in type(module).__mro__ if c.__module__.startswith("torch.nn.")]
        cell = next((name.removesuffix("Cell").lower() for name in torchs if name in CLASSES), None)
        if cell is None:
            raise ValueError(
                f"module={type(module).__name__}: expected an RNN, GRU or LSTM, or one of their cells"
            )
        optional = {
            name: getattr(module, name)
            for name in ("num_layers", "bidirectional", "proj_size", "layer_norm", "residual")
            if hasattr(module, name)
        }
        if module.training:
            optional |= {n: getattr(module, n, 0.0) for n in ("dropout", "weight_dropout")}
        return cls(cell, module.input_size, module.hidden_size, bias=bool(module.bias), **optional)

    @property
    def gates(self) -> tuple[str, ...]:
        """Names of the gate blocks in the order of their rows, such as ``i, f, g, o``."""
        return GATES[self.cell]

    @property
    def gate_rows(self) -> dict[str, slice]:
        """The rows of each gate in ``weight_ih``, ``weight_hh`` and their biases, counted from zero.

        >>> StackSpec("lstm", 3, 5).gate_rows["f"]
        slice(5, 10, None)
        """
        H = self.hidden_size
        return {gate: slice(k * H, (k + 1) * H) for k, gate in enumerate(self.gates)}

    @property
    def directions(self) -> int:
        """2 if bidirectional, else 1."""
        return 1 + self.bidirectional

    @property
    def output_size(self) -> int:
        """Width of what a layer hands on, both directions side by side."""
        return self.directions * (self.proj_size or self.hidden_size)

    def has_residual(self, layer: int) -> bool:
        """Whether a layer, counted from 0, adds its input to its output: only where the widths agree."""
        width = self.output_size if layer else self.input_size
        return 0 < self.residual <= layer + 1 and width == self.output_size

    def blocks(self) -> Iterator[Block]:
        """Every layer and direction, in torch's order."""
        for layer, reverse in product(range(self.num_layers), (False, True)[: self.directions]):
            yield Block(
                self.cell, layer, reverse, self.output_size if layer else self.input_size,
                self.hidden_size, self.proj_size, self.bias, self.layer_norm,
            )  # fmt: skip

    def parameter_shapes(self, bias: str = "pytorch") -> dict[str, tuple[int, ...]]:
        """Shape of every parameter by its torch name.

        Parameters
        ----------
        bias
            the convention. ``"pytorch"`` has two vectors, ``bias_ih`` and ``bias_hh``; ``"single"`` one
            per gate; ``"minimal"`` the fewest that keep the function class, which is ``"single"`` plus the
            ``bias_hn`` that a reset-after GRU holds inside its reset; ``"none"`` has none. A spec with
            ``bias=False`` has none under any convention. With ``layer_norm="gates"`` the shift of the norm
            takes the place of every bias, under any convention.

        Examples
        --------
        >>> StackSpec("lstm", 3, 5).parameter_shapes("single")
        {'weight_ih_l0': (20, 3), 'weight_hh_l0': (20, 5), 'bias_ih_l0': (20,)}
        """
        shapes: dict[str, tuple[int, ...]] = {}
        for block in self.blocks():
            shapes |= block.parameter_shapes(bias)
        if self.layer_norm == "output":
            for layer in range(self.num_layers):
                shapes |= {f"{name}_l{layer}": (self.output_size,) for name in ("gain_out", "shift_out")}
        return shapes

    def parameters(self, bias: str = "pytorch") -> int:
        """Number of parameters under a bias convention (see `parameter_shapes`).

        >>> [StackSpec("gru", 3, 5).parameters(bias) for bias in ("none", "single", "minimal", "pytorch")]
        [120, 135, 140, 150]
        """
        return sum(prod(shape) for shape in self.parameter_shapes(bias).values())

    def macs(
        self,
        steps: int | None = None,
        batch: int | None = None,
        *,
        lengths: Sequence[int] | None = None,
        training: bool = False,
        input_grad: bool = False,
        scheme: str = "gates",
    ) -> int:
        r"""Multiply-accumulates of the matrix products; biases and elementwise work are not among them.

        Forward, a block costs :math:`gH(i + W) + PH` per token, :math:`i` the width of its input. Training
        adds, as torch runs it from a zero initial state: as much again for the gradients of the weights;
        the gradient to the block's input (the first layer's only with ``input_grad``); the gradient to
        :math:`h_{t-1}` at every step but each sequence's first; and the gradient through the projection. The
        scheme ``"recompute"`` runs the products of a GRU's or an LSTM's gates once more.

        Parameters
        ----------
        steps, batch
            time steps and sequences; 1 each by default, which gives the cost of one step.
        lengths
            in their place, the length of every sequence of a packed batch. Only valid tokens count.
        training
            count the backward pass too.
        input_grad
            the input of the first layer needs a gradient.
        scheme
            storage scheme that training follows, as in `storage`.

        Examples
        --------
        >>> StackSpec("gru", 3, 5).macs(lengths=[6, 4, 3, 1]) == 14 * 120
        True
        """
        choice("scheme", scheme, SCHEMES)
        tokens, sequences = tokens_and_sequences(steps, batch, lengths)
        return sum(
            block.macs(tokens, sequences, training, input_grad or block.layer > 0, scheme)
            for block in self.blocks()
        )

    def flops(self, *args: Any, **kwargs: Any) -> int:
        """Floating-point operations of the matrix products: 2 per `macs`, with the same arguments."""
        return 2 * self.macs(*args, **kwargs)

    def storage(
        self,
        steps: int | None = None,
        batch: int | None = None,
        *,
        lengths: Sequence[int] | None = None,
        scheme: str = "gates",
        dtype: Any = "float32",
    ) -> int:
        """Bytes that the layers keep for the backward pass; the input and the initial states not counted.

        Per step, layer and direction the schemes keep

        - ``"gates"``: h of an RNN; r, z, n, the candidate's recurrent term and h of a GRU; i, f, o, g, c
          and h of an LSTM;
        - ``"gates+tanh"``: also tanh c of an LSTM;
        - ``"recompute"``: h, and c of an LSTM;
        - ``"native"``: what torch's own kernels keep on the CPU with oneDNN off: tanh's result for an RNN,
          seven vectors for a GRU or an LSTM, and between layers the gathered output once more. That makes
          :math:`2L - 1` and :math:`8L - 1` vectors in one direction.

        Parameters
        ----------
        steps, batch, lengths
            as in `macs`.
        scheme
            one of the four above.
        dtype
            name of a floating-point type, or a torch dtype.

        Raises
        ------
        ValueError
            Where there is no closed form: ``layer_norm="gates"``, dropout, or ``"native"`` on packed input.

        Examples
        --------
        >>> StackSpec("lstm", 3, 5).storage(6, 4, scheme="gates+tanh")
        3360
        """
        terms = self.storage_terms(steps, batch, lengths=lengths, scheme=scheme, dtype=dtype)
        return sum(size for term, size in terms.items() if term not in BESIDE_THE_LAYERS)

    def storage_terms(
        self,
        steps: int | None = None,
        batch: int | None = None,
        *,
        lengths: Sequence[int] | None = None,
        scheme: str = "gates",
        dtype: Any = "float32",
    ) -> dict[str, int]:
        """All that is kept for the backward pass, in bytes by name.

        The sum is what `rnnlib.measure.saved_bytes` reads off a live module. `storage` is the sum of the
        first two kinds.

        - A term for every layer and direction, named as its parameters end.
        - ``"joined steps"``: torch's kernels gather the outputs of all steps into one tensor, which is kept
          where a layer or a norm takes it in.
        - ``"joined directions"``: two directions side by side, kept in the same places.
        - ``"output norms"``: mean and reciprocal deviation of every norm, and its result where the next
          layer takes it in.
        - ``"residual sums"``: sums that the next layer takes in.
        - ``"initial states"``: what the first step needs. Torch's GRU and LSTM kernels keep the state
          *before* every step, not after it, so the initial one is among their vectors already.
        - ``"input"``: the sequence fed to the first layer.

        >>> StackSpec("lstm", 3, 5).storage_terms(6, 4)
        {'l0': 2880, 'initial states': 160, 'input': 288}
        """
        choice("scheme", scheme, SCHEMES)
        for option, changes_storage in {
            "layer_norm": self.layer_norm == "gates",
            "dropout": self.dropout > 0 and self.num_layers > 1,
            "weight_dropout": self.weight_dropout > 0,
        }.items():
            if changes_storage:
                raise ValueError(
                    f"{option}={getattr(self, option)!r}: what it keeps has no closed form here; "
                    "measure it with rnnlib.measure.saved_bytes"
                )
        if scheme == "native" and lengths is not None:
            raise ValueError(
                f"lengths={lengths!r}: torch's kernels copy states whenever a packed batch shrinks, which "
                "has no closed form here; measure it with rnnlib.measure.saved_bytes"
            )
        tokens, sequences = tokens_and_sequences(steps, batch, lengths)
        size = bytes_of(dtype)
        floats = floats_kept(self, tokens, sequences, scheme)
        return {term: count * size for term, count in floats.items() if count}

    def critical_path(self, steps: int, schedule: str = "layerwise") -> int:
        """Cell steps that must follow one another.

        One layer after another they are all :math:`T L`. Along the wavefront a cell waits only for its
        neighbours at :math:`(t-1, l)` and :math:`(t, l-1)`, which leaves :math:`T + L - 1`.

        Raises
        ------
        ValueError
            For ``"wavefront"`` on a bidirectional stack: a layer needs the whole sequence below it first.

        Examples
        --------
        >>> spec = StackSpec("lstm", 512, 512, num_layers=4)
        >>> spec.critical_path(512), spec.critical_path(512, "wavefront")
        (2048, 515)
        """
        steps = integer("steps", steps, 0)
        if choice("schedule", schedule, SCHEDULES) == "layerwise":
            return steps * self.num_layers
        if self.bidirectional:
            raise ValueError(
                "schedule='wavefront': expected a unidirectional stack; the reverse direction of a layer "
                "starts at the last step, so the next layer cannot start before this one has ended"
            )
        return steps + self.num_layers - 1 if steps else 0
