"""Data swapping: what stays, what must agree, what must differ."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError
from tacit.mask.data_swap import paired


def counts(frame, columns):
    return sorted(frame.group_by(columns).len().rows(), key=str)


def test_margins_of_swapped_and_of_other_variables_are_kept_exactly():
    data = tacit.datasets.census(1000, missing=0.03)
    method = mask.DataSwap(columns=["education", "marital"], rate=0.3)
    after = tacit.Plan([method]).apply(data, seed=1).frame
    before = data.frame.drop("person_id")
    assert counts(after, ["education", "marital"]) == counts(before, ["education", "marital"])
    others = [c for c in before.columns if c not in ("education", "marital")]
    assert after[others].equals(before[others])


def test_the_rate_is_the_share_of_records_that_change():
    data = tacit.datasets.census(2000)
    for rate in (0.02, 0.1, 0.5):
        method = mask.DataSwap(columns=["region", "education"], rate=rate)
        after = tacit.Plan([method]).apply(data, seed=1).frame
        same = (after["region"] == data.frame["region"]) & (
            after["education"] == data.frame["education"]
        )
        assert (~same).mean() == pytest.approx(rate, abs=0.002)


def test_equal_keeps_joint_counts_and_different_is_obeyed():
    data = tacit.datasets.census(1500)
    method = mask.DataSwap(
        columns=["education"], rate=0.4, equal=["region", "sex"], different=["marital"]
    )
    after = tacit.Plan([method]).apply(data, seed=1).frame
    joint = ["region", "sex", "education"]
    assert counts(after, joint) == counts(data.frame, joint)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 80), st.integers(0, 999))
def test_pairs_are_disjoint_and_fit(n, seed):
    rng = np.random.default_rng(seed)
    block, swapped = rng.integers(0, 3, n), rng.integers(0, 3, n)
    differ = rng.integers(0, 2, (n, 1))
    pairs = paired(block, swapped, differ, n, rng)
    assert len(set(pairs.ravel())) == pairs.size
    first, second = pairs.T
    assert (block[first] == block[second]).all()
    assert (swapped[first] != swapped[second]).all()
    assert (differ[first, 0] != differ[second, 0]).all()


def test_nothing_to_swap_with_is_no_error_and_bad_parameters_are():
    same = pl.DataFrame({"c": ["a"] * 10})
    assert tacit.Plan([mask.DataSwap(columns=["c"])]).apply(same, seed=1).frame.equals(same)
    with pytest.raises(ParameterError, match="rate"):
        mask.DataSwap(columns=["c"], rate=0)
    with pytest.raises(ParameterError, match="equal"):
        mask.DataSwap(columns=["c"], equal=["c"])
    with pytest.raises(DataError, match="two records"):
        tacit.Plan([mask.DataSwap(columns=["c"])]).apply(same.head(1))
