"""RNN, GRU and LSTM: torch.nn's modules with residuals, LayerNorm, more dropout and storage schemes.

A layer, in one or both directions, gives h. What it hands on is

    y = x + dropout(LN(h))

each part only if asked for: LN with ``layer_norm="output"``, dropout on every layer but the last, the
residual x where its width is that of h. Final states are the raw h and c, before all that.

**Residuals.** ``residual=True`` adds its input to the output of every layer where the two widths agree: from
the second layer on they always do, and at the first when ``input_size`` is the output width. ``residual=k``
begins at layer k, counted from 1 (GNMT has k = 3), so ``residual=1`` is ``True``. Nothing is broadcast.

**LayerNorm.** ``"output"`` normalises what a layer hands on, both directions side by side. ``"gates"``
normalises inside the cell, as :mod:`rnnlib.cells` writes it, and takes the place of the biases.

**Dropout.** ``dropout`` falls between the layers. With ``dropout_mask="step"`` every step has a mask of its
own, as in torch.nn; with ``"sequence"`` all steps of a sequence share one (Gal and Ghahramani 2016,
arXiv:1512.05287). ``weight_dropout`` drops recurrent weights, once per call (Merity et al. 2018,
arXiv:1708.02182).

**Storage.** ``"native"`` runs torch's own kernels. The schemes of :mod:`rnnlib.recurrence` keep less and
differentiate once; ``torch.export`` records their forward pass alone, under ``torch.no_grad()``. No kernel of
torch's has ``layer_norm="gates"``: there ``"native"`` is the scheme ``"gates"`` for the LSTM, and for the RNN
and the GRU the cell step by step under autograd.

What a stack keeps for the backward pass, in elements, with tokens = T*N, or the valid tokens of packed input,
and d*W the width of what a layer hands on:

- its input and its initial states (zeros if absent), but for torch's GRU and LSTM, whose kernels have the
  initial states among their vectors;
- per layer and direction the vectors of its scheme;
- "output" norm: tokens*2 per layer, a mean and a scale; and the tokens*d*W that it normalises, unless they
  are the h of one direction, kept already (torch's kernels make a tensor of their own);
- between layers: tokens*d*W for every layer but the last that hands on a new tensor, being a residual sum, a
  normalised output or two joined directions (torch's kernels: always). Otherwise it hands on h, kept already.
"""

from .modules import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN"]
