"""One layer of a stack in one direction: shapes, counts and what it keeps. All formulas live here."""

from __future__ import annotations

from dataclasses import dataclass

from .checks import choice

GATES = {"rnn": ("h",), "gru": ("r", "z", "n"), "lstm": ("i", "f", "g", "o")}
BIAS_CONVENTIONS = ("pytorch", "single", "minimal", "none")
SCHEMES = ("gates", "gates+tanh", "recompute", "native")

# Hidden-size vectors per step that a scheme keeps beside the output h, which is W wide.
_KEPT_BESIDE_H: dict[str, dict[str, tuple[str, ...]]] = {
    "rnn": {"gates": (), "gates+tanh": (), "recompute": (), "native": ()},
    "gru": {
        "gates": ("r", "z", "n", "hn"),
        "gates+tanh": ("r", "z", "n", "hn"),
        "recompute": (),
        "native": ("r", "z", "n", "hn", "r*hn", "h-n"),
    },
    "lstm": {
        "gates": ("i", "f", "o", "g", "c"),
        "gates+tanh": ("i", "f", "o", "g", "c", "tanh c"),
        "recompute": ("c",),
        "native": ("i", "f", "o", "g", "c", "tanh c"),
    },
}


@dataclass(frozen=True)
class Block:
    """One layer of a stack in one direction; what a `rnnlib.StackSpec` sums over."""

    cell: str
    layer: int
    reverse: bool
    input_size: int
    hidden_size: int
    proj_size: int
    bias: bool
    layer_norm: str | None

    @property
    def suffix(self) -> str:
        """How this block's parameter names end in torch, such as ``l0`` or ``l0_reverse``."""
        return f"l{self.layer}" + "_reverse" * self.reverse

    @property
    def output_size(self) -> int:
        """:math:`W`, the width of what this block hands on."""
        return self.proj_size or self.hidden_size

    @property
    def state_size(self) -> int:
        """Floats of recurrent state per sequence, which are h, and c for an LSTM."""
        return self.output_size + (self.hidden_size if self.cell == "lstm" else 0)

    def parameter_shapes(self, bias: str = "pytorch") -> dict[str, tuple[int, ...]]:
        """Shape of every parameter by its torch name, as `rnnlib.StackSpec.parameter_shapes` describes."""
        convention = choice("bias", bias, BIAS_CONVENTIONS)
        H, rows = self.hidden_size, len(GATES[self.cell]) * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, self.input_size),
            "weight_hh": (rows, self.output_size),
        }
        if self.layer_norm == "gates":
            shapes |= {"gain_ih": (rows,), "gain_hh": (rows,), "shift": (rows,)}
            if self.cell == "gru":
                shapes["shift_hn"] = (H,)
            if self.cell == "lstm":
                shapes |= {"gain_c": (H,), "shift_c": (H,)}
        elif self.bias and convention != "none":
            shapes["bias_ih"] = (rows,)
            if convention == "pytorch":
                shapes["bias_hh"] = (rows,)
            elif convention == "minimal" and self.cell == "gru":
                shapes["bias_hn"] = (H,)
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, H)
        return {f"{name}_{self.suffix}": shape for name, shape in shapes.items()}

    def macs(
        self,
        tokens: int,
        sequences: int,
        training: bool = False,
        input_grad: bool = False,
        scheme: str = "gates",
    ) -> int:
        """Multiply-accumulates of this block, as `rnnlib.StackSpec.macs` describes."""
        H, W = self.hidden_size, self.output_size
        rows = len(GATES[self.cell]) * H
        into, recurrent, projection = rows * self.input_size, rows * W, self.proj_size * H
        total = tokens * (into + recurrent + projection)
        if training:
            total += tokens * (into + recurrent + projection)  # gradients of the weights
            total += tokens * into * input_grad  # gradient to the input
            total += (tokens - sequences) * recurrent  # gradient to h_{t-1}; the first one needs none
            total += tokens * projection  # gradient through the projection
            if scheme == "recompute" and self.cell != "rnn":
                total += tokens * (into + recurrent)  # the gates once more
        return total

    def floats_per_step(self, scheme: str) -> int:
        """Floats that one step of one sequence keeps for the backward pass under a storage scheme."""
        choice("scheme", scheme, SCHEMES)
        kept = len(_KEPT_BESIDE_H[self.cell][scheme]) * self.hidden_size + self.output_size
        if scheme == "native" and self.proj_size:
            kept += self.hidden_size  # torch also keeps h before the projection
        return kept
