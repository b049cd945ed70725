r"""What a stack of recurrent layers costs, in closed form.

Integer arithmetic over the standard library only, so that every line can be checked with a pencil.
The unit of account is a `Block`: one layer in one direction. A stack is the sum of its blocks.

Symbols, as in the book's notation page: :math:`D` ``input_size``, :math:`H` ``hidden_size``,
:math:`P` ``proj_size``, :math:`W` the width of one direction's output (:math:`P` if projected, else
:math:`H`), :math:`L` ``num_layers``, :math:`T` ``steps``, :math:`N` ``batch``, and :math:`g` the number of
gate blocks: 1 for a plain RNN, 3 for a GRU, 4 for an LSTM.
"""

from .block import Block
from .spec import StackSpec
from .width import Match, match, matched_width

__all__ = ["Block", "Match", "StackSpec", "match", "matched_width"]
