"""A module made from a function, for what is measured on modules."""

from torch import nn


class Calls(nn.Module):
    """A module whose forward pass is the function given."""

    def __init__(self, function, *parts):
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(parts)

    def forward(self, *inputs):
        return self.function(*self.parts, *inputs)
