"""Initialisers for recurrent stacks: of rnnlib, and of torch.nn, whose parameters have the same names.

Weights and biases of a layer are stacked gate by gate, and torch has two biases per gate. An initialiser that
overlooks either does something else than it says.
"""

from __future__ import annotations

import torch
from torch import nn

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


@torch.no_grad()
def forget_bias_(module: nn.RNNBase, value: float = 1.0) -> nn.RNNBase:
    """Set the forget gates' bias, b_ih + b_hh, to ``value`` in every layer and direction of an LSTM.

    Setting both vectors to ``value`` would double it. A stack with ``layer_norm="gates"`` has its shift set;
    one with ``bias=False`` has nothing to set and stays as it is.
    Gers, Schmidhuber and Cummins 2000 (10.1162/089976600300015015); Jozefowicz, Zaremba and Sutskever 2015.

    Raises
    ------
    ValueError
        If ``module`` is not an LSTM.

    Examples
    --------
    >>> lstm = forget_bias_(nn.LSTM(3, 2), 1.0)
    >>> (lstm.bias_ih_l0 + lstm.bias_hh_l0)[2:4].tolist()
    [1.0, 1.0]
    """
    if getattr(module, "mode", None) != "LSTM":
        raise ValueError(f"module={type(module).__name__}: expected an LSTM; no other cell has a forget gate")
    forget = slice(module.hidden_size, 2 * module.hidden_size)
    for name, parameter in module.named_parameters():
        if name.startswith(("bias_ih_", "shift_l")):
            parameter[forget] = value
        elif name.startswith("bias_hh_"):
            parameter[forget] = 0
    return module


def orthogonal_(module: nn.RNNBase, gain: float = 1.0) -> nn.RNNBase:
    """Make the recurrent matrix of every gate, layer and direction orthogonal, times ``gain``.

    A gate's block of ``weight_hh`` is (H, H): W W^T = gain^2 I, and its Frobenius norm is gain * sqrt(H). In
    a projected LSTM it is (H, P) with orthonormal columns. Orthogonalising the whole (gates*H, H) matrix
    instead leaves blocks that shrink the state. Saxe, McClelland and Ganguli 2014, arXiv:1312.6120.

    Raises
    ------
    ValueError
        If ``module`` is not an RNN, GRU or LSTM.

    Examples
    --------
    >>> gru = orthogonal_(nn.GRU(3, 4))
    >>> [round(block.norm().item(), 4) for block in gru.weight_hh_l0.chunk(3)]
    [2.0, 2.0, 2.0]
    """
    gates = GATES.get(getattr(module, "mode", ""))
    if gates is None:
        raise ValueError(f"module={type(module).__name__}: expected an RNN, GRU or LSTM")
    for name, parameter in module.named_parameters():
        if name.startswith("weight_hh_"):
            for block in parameter.chunk(gates):
                nn.init.orthogonal_(block, gain)
    return module
