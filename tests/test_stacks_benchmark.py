"""`benchmarks.stacks` and `benchmarks.bounds`: what is compared with what, and the products that bound it."""

import doctest

import pytest
from torch import nn

from benchmarks import bounds, stacks
from rnnlib import StackSpec
from rnnlib.measure import counting_products

SIZES = {"steps": 5, "batch": 3, "input_size": 4, "hidden_size": 6, "layers": 2}


def test_examples_in_docstrings():
    results = doctest.testmod(stacks)
    assert results.attempted and not results.failed


def test_every_row_is_compared_with_torch_or_with_another_row_of_its_cell():
    for row in stacks.ROWS:
        others = [other.options for other in stacks.ROWS if other.cell == row.cell and other is not row]
        assert row.reference is None or row.reference in others
    assert {row.cell for row in stacks.ROWS} == set(stacks.CELLS)


@pytest.mark.parametrize("form", bounds.FORMS)
@pytest.mark.parametrize("cell", stacks.CELLS)
def test_the_products_alone_are_those_of_training_and_no_others(cell, form):
    calls = bounds.products(cell.lower(), **SIZES)
    macs = {}
    for kind in bounds.KINDS:
        with counting_products(nn.Module()) as counted:
            calls[f"{kind}, {form}"]()
        macs[kind] = sum(counted.values())
    spec = StackSpec(cell.lower(), 4, 6, num_layers=2)
    assert sum(macs.values()) == spec.macs(5, 3, training=True)
    assert macs["sums of x"] + macs["sums of h"] == spec.macs(5, 3)


@pytest.mark.parametrize("form", bounds.FORMS)
def test_the_state_has_a_product_a_step_and_the_rest_one_for_all(form):
    calls = bounds.of_layer(form, 4, 5, 3, 4, 6)
    assert {kind: len(some) for kind, some in calls.items()} == {
        "sums of x": 1, "sums of h": 5, "dh": 4, "dx": 1, "dW_ih": 1, "dW_hh": 1,
    }  # fmt: skip


def test_of_every_kind_the_faster_form_counts():
    times = {f"{kind}, {form}": [9.0] for kind in bounds.KINDS for form in bounds.FORMS}
    times["dh, side by side"] = times["dx, gate by gate"] = [1.0, 2.0, 30.0]
    assert bounds.alone(times) == 4 * 9 + 2 * 2
