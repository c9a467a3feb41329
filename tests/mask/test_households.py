"""Households as numbers, and random orders that keep them together."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core.errors import SchemaError
from tacit.mask._households import household_codes, random_order


def test_who_has_no_household_is_one_of_its_own():
    frame = pl.DataFrame({"h": ["a", None, "a", None, "b"]})
    codes = household_codes(tacit.Microdata.of(frame).with_roles(household="h"), by="this")
    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 4
    assert set(codes.tolist()) == {0, 1, 2, 3}


def test_without_a_household_column_it_says_what_to_do():
    with pytest.raises(SchemaError, match=r"sorting needs .*with_roles\(household"):
        household_codes(tacit.Microdata.of(pl.DataFrame({"h": [1]})), by="sorting")


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(0, 99))
def test_members_stay_together_in_their_old_order(units, seed):
    units = np.unique(units, return_inverse=True)[1]
    order = random_order(units, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(len(units)))
    seen = units[order]
    assert len(np.flatnonzero(np.diff(seen))) + 1 == len(set(units.tolist())) or not len(units)
    for unit in set(units.tolist()):
        assert (np.diff(order[seen == unit]) > 0).all()
