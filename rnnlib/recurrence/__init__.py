"""Each cell over a whole sequence, forward and backward, with a chosen storage scheme.

Every recurrence is a ``torch.autograd.Function`` over the rows of a batch (:class:`Steps`): one matrix
product of the input for all steps, a loop over the steps that leaves no graph behind, and in the backward
pass one product per weight after the loop. Backpropagation through time needs, for every step, the values
that the derivatives are written in. A scheme says which of them are kept and which computed again:

=============  =========================  =======================================  ===============
scheme         RNN                        GRU (s the candidate's recurrent term)   LSTM
=============  =========================  =======================================  ===============
gates          h                          r, z, n, s, h                            i, f, g, o, c, h
gates+tanh     h                          r, z, n, s, h                            and tanh(c)
recompute      h                          h                                        c, h
=============  =========================  =======================================  ===============

Each is H wide but for the h of a projected LSTM, which is P wide. Beside these a recurrence keeps the rows
of its input and its initial states, all through ``save_for_backward``; weights are kept as references. The h
of one layer is the input of the next, so it is kept once. ``recompute`` repeats the products of the gates,
T*N*gates*H*(D + W) multiply-adds, but for the RNN, which has nothing to compute again.

The schemes differentiate once. A second derivative raises; ``storage="native"``, torch's own kernels, has it.
"""

from .gru import GRURecurrence
from .layer_norm import layer_norm_gru, layer_norm_rnn
from .layer_norm_lstm import LayerNormLSTMRecurrence
from .lstm import LSTMRecurrence
from .rnn import RNNRecurrence
from .steps import Steps

__all__ = [
    "GRURecurrence",
    "LSTMRecurrence",
    "LayerNormLSTMRecurrence",
    "RNNRecurrence",
    "Steps",
    "layer_norm_gru",
    "layer_norm_rnn",
]
