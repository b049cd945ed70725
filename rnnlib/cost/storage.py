"""What a stack keeps for the backward pass, term by term: the layers, what lies between them, and beside."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .checks import choice

if TYPE_CHECKING:
    from .spec import StackSpec

BESIDE_THE_LAYERS = ("joined directions", "output norms", "residual sums", "initial states", "input")
DTYPE_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


def bytes_of(dtype: Any) -> int:
    """Bytes of one number, given the name of its type or a torch dtype."""
    return DTYPE_BYTES[choice("dtype", str(dtype).removeprefix("torch."), tuple(DTYPE_BYTES))]


def floats_kept(spec: StackSpec, tokens: int, sequences: int, scheme: str) -> Counter[str]:
    """Floats by term, as `rnnlib.StackSpec.storage_terms` describes them."""
    blocks = list(spec.blocks())
    floats = Counter({block.suffix: tokens * block.floats_per_step(scheme) for block in blocks})
    joined = "joined steps" if scheme == "native" else "joined directions"
    for layer in range(spec.num_layers):
        output = tokens * spec.output_size
        normed, summed = spec.layer_norm == "output", spec.has_residual(layer)
        feeds_a_layer = layer + 1 < spec.num_layers
        # The output of a layer is a tensor of its own unless it is the h that the scheme keeps anyway.
        if (scheme == "native" or spec.bidirectional) and (normed or (feeds_a_layer and not summed)):
            floats[joined] += output
        if normed:
            floats["output norms"] += 2 * tokens + output * (feeds_a_layer and not summed)
        if summed and feeds_a_layer:
            floats["residual sums"] += output
    if scheme != "native" or spec.cell == "rnn":
        floats["initial states"] = sequences * sum(block.state_size for block in blocks)
    floats["input"] = tokens * spec.input_size
    return floats
