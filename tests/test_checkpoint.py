"""A stack in segments computes the same, and keeps its input and the states at the cuts."""

import pytest
import torch
from torch import nn

import rnnlib
from rnnlib import measure
from rnnlib.checkpoint import Checkpointed

T, N, D, H, L = 12, 4, 3, 5, 2
STACKS = {"rnn": rnnlib.RNN, "gru": rnnlib.GRU, "lstm": rnnlib.LSTM}


def gradients(module, x, *hx):
    module.zero_grad()
    x = x.clone().requires_grad_()
    output, final = module(x, *hx)
    (output.pow(2).sum() + sum(s.sum() for s in measure.tensors_in(final))).backward()
    return output, [x.grad, *(p.grad.clone() for p in module.parameters())]


@pytest.mark.parametrize("segments", [1, 3, 5, 12])
@pytest.mark.parametrize("cell", STACKS)
def test_outputs_and_gradients_are_those_of_the_whole_stack(cell, segments):
    stack = STACKS[cell](D, H, L, storage="gates", dtype=torch.float64)
    x = torch.randn(T, N, D, dtype=torch.float64)
    output, expected = gradients(stack, x)
    again, found = gradients(Checkpointed(stack, segments), x)
    torch.testing.assert_close(again, output, rtol=0, atol=1e-12)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_given_states_reach_the_first_segment_and_receive_gradients():
    stack = nn.LSTM(D, H, L, dtype=torch.float64)
    x = torch.randn(T, N, D, dtype=torch.float64)
    states = [torch.randn(L, N, H, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    collected = []
    for module in (stack, Checkpointed(stack, 4)):
        output, _ = module(x, tuple(states))
        collected.append([output, *torch.autograd.grad(output.sum(), states, allow_unused=True)]
                         if module is stack else _by_backward(output, states))  # fmt: skip
    torch.testing.assert_close(collected[1], collected[0], rtol=0, atol=1e-12)


def _by_backward(output, leaves):
    output.sum().backward()  # a reentrant checkpoint knows no torch.autograd.grad
    return [output, *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize(("cell", "states"), [("rnn", 1), ("gru", 1), ("lstm", 2)])
@pytest.mark.parametrize("segments", [2, 6])
def test_the_input_and_the_states_at_the_cuts_are_all_that_is_kept(cell, states, segments):
    stack = Checkpointed(STACKS[cell](D, H, L, storage="gates"), segments)
    expected = 4 * (T * N * D + segments * states * L * N * H)
    assert measure.saved_bytes(stack, torch.randn(T, N, D)) == expected


@pytest.mark.parametrize("option", ["bidirectional", "batch_first"])
def test_a_stack_that_cannot_be_cut_along_time_is_refused(option):
    with pytest.raises(ValueError, match=rf"rnn\.{option}=True: expected False"):
        Checkpointed(nn.LSTM(D, H, **{option: True}), 2)


@pytest.mark.parametrize("segments", [0, -1, 1.5])
def test_the_number_of_segments_is_checked(segments):
    with pytest.raises(ValueError, match=r"segments=.*: expected a positive integer"):
        Checkpointed(nn.LSTM(D, H), segments)
