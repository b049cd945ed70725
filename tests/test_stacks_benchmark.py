"""`benchmarks.stacks` and `benchmarks.bounds`: what is compared with what, and what the report says of it."""

import doctest

import pytest
from torch import nn

from benchmarks import bounds, stacks
from rnnlib import StackSpec
from rnnlib.measure import counting_products


def test_examples_in_docstrings():
    assert doctest.testmod(stacks) == doctest.TestResults(0, 2)


@pytest.mark.parametrize("by_gate", bounds.FORMS.values(), ids=bounds.FORMS)
@pytest.mark.parametrize("cell", stacks.CELLS)
def test_the_products_alone_are_those_of_training_and_no_others(cell, by_gate):
    run = bounds.products_alone(cell, 5, 3, 4, 6, 2, by_gate)
    with counting_products(nn.Module()) as counted:
        run()
    assert sum(counted.values()) == StackSpec(cell.lower(), 4, 6, num_layers=2).macs(5, 3, training=True)
