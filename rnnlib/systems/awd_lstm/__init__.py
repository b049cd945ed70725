"""AWD-LSTM: a language model made of regularisers (Merity, Keskar and Socher 2017, arXiv:1708.02182)."""

from .model import AWDLSTM, Dropouts
from .training import Average, Carried, History, Trigger, fit, mean_loss
from .words import UNKNOWN, Corpus, columns, corpus, split_words, windows

__all__ = [
    "AWDLSTM",
    "UNKNOWN",
    "Average",
    "Carried",
    "Corpus",
    "Dropouts",
    "History",
    "Trigger",
    "columns",
    "corpus",
    "fit",
    "mean_loss",
    "split_words",
    "windows",
]
