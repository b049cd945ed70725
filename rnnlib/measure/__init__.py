"""The quantities of ``rnnlib.cost``, read off a live module by running it.

Two facts about torch shape this package. On the CPU a float32 ``torch.nn.LSTM`` runs as a single oneDNN
operator, and on a GPU every recurrent layer as a single cuDNN operator; a counter that watches operators then
sees no matrix product at all. So measurements are taken with both switched off. And oneDNN keeps a workspace
for the backward pass whose size depends on the processor: `saved_bytes` reports it only when asked to.
"""

from .kept import saved_bytes
from .path import critical_path
from .products import counting_products, macs, macs_by_parameter, parameters
from .running import onednn, storage_key, tensors_in
from .timing import TimeRatio, alternate, time_ratios

__all__ = [
    "TimeRatio",
    "alternate",
    "counting_products",
    "critical_path",
    "macs",
    "macs_by_parameter",
    "onednn",
    "parameters",
    "saved_bytes",
    "storage_key",
    "tensors_in",
    "time_ratios",
]
