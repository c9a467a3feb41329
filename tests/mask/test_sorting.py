"""The fast order of numbers is that of a stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tacit.mask._sorting import ascending_order, order_and_ties, random_order_of_ties

_NEAR = st.integers(0, 40).map(lambda i: 1.0 + i * 2.0**-52)
"""Numbers that differ in their last bits only."""
_FLOATS = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan]), _NEAR)


@pytest.mark.parametrize("kind", ["int64", "uint64", "int8", "float32", "bool"])
@given(data=st.data())
def test_numbers_of_every_type_are_in_stable_order(kind, data):
    values = data.draw(arrays.arrays(kind, st.integers(0, 40)))
    assert np.array_equal(ascending_order(values), np.argsort(values, kind="stable"))


@given(st.lists(_FLOATS, max_size=60))
def test_floats_are_in_stable_order(given_values):
    values = np.array(given_values)
    order, tied = order_and_ties(values)
    assert np.array_equal(order, np.argsort(values, kind="stable"))
    known = values[~np.isnan(values)]
    if len(known) == len(values):
        assert tied == (len(np.unique(known)) < len(known))


def test_negative_not_a_number_is_last_too():
    values = np.array([-np.nan, 1.0, np.copysign(np.nan, -1.0), -np.inf])
    assert ascending_order(values).tolist() == [3, 1, 0, 2]


@pytest.mark.parametrize("spread", [2.0**-52, 1.0])
def test_many_values_that_differ_in_their_last_bits_only(spread):
    rng = np.random.default_rng(1)
    values = 1.0 + rng.integers(0, 5000, 20_000) * spread
    order, tied = order_and_ties(values)
    assert tied
    assert np.array_equal(order, np.argsort(values, kind="stable"))
    different = 1.0 + rng.permutation(20_000) * spread
    order, tied = order_and_ties(different)
    assert not tied
    assert np.array_equal(order, np.argsort(different, kind="stable"))


def test_ties_are_in_random_order_and_others_in_theirs():
    values = np.array([3.0, 1.0, 3.0, 3.0, 0.0])
    orders = {
        tuple(random_order_of_ties(values, np.random.default_rng(seed)).tolist())
        for seed in range(60)
    }
    assert {order[:2] for order in orders} == {(4, 1)}
    assert len(orders) == 6  # all orders of three equal values
