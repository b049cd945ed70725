"""The samples with which torch tests its own RNN, GRU and LSTM, on rnnlib's."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence
from torch.testing._internal import common_modules

import rnnlib

INFOS = {info.module_cls: info for info in common_modules.module_db}
SCHEMES = ("native", "gates", "gates+tanh", "recompute")


def samples(cell):
    """All samples, in training and in evaluation mode: constructor and forward arguments, training."""
    info = INFOS[getattr(nn, cell)]
    for training in (True, False):
        torch.manual_seed(0)
        for sample in info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
        ):
            yield sample.constructor_input, sample.forward_input, training


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, PackedSequence):
        return [value.data]
    return [tensor for item in value for tensor in tensors(item)]


def test_there_are_160_samples():
    assert sum(len(list(samples(cell))) for cell in ("RNN", "GRU", "LSTM")) == 160


@pytest.mark.parametrize("storage", SCHEMES)
@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_forward_and_backward_agree(cell, storage):
    for build, call, training in samples(cell):
        theirs = getattr(nn, cell)(*build.args, **build.kwargs).double().train(training)
        ours = getattr(rnnlib, cell)(*build.args, **build.kwargs, storage=storage).double().train(training)
        ours.load_state_dict(theirs.state_dict())
        leaves = tensors(call.args)
        results = []
        for module in (ours, theirs):
            outputs = tensors(module(*call.args, **call.kwargs))
            gradients = torch.autograd.grad([t.sum() for t in outputs], [*leaves, *module.parameters()])
            results.append([*outputs, *gradients])
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_torchs_error_samples_raise_the_same(cell):
    info = INFOS[getattr(nn, cell)]
    count = 0
    for sample in info.module_error_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    ):
        build, call = sample.module_error_input.constructor_input, sample.module_error_input.forward_input
        with pytest.raises(sample.error_type, match=sample.error_regex):
            module = getattr(rnnlib, cell)(*build.args, **build.kwargs)
            if sample.error_on is common_modules.ModuleErrorEnum.FORWARD_ERROR:
                module(*call.args, **call.kwargs)
        count += 1
    assert count > 10
