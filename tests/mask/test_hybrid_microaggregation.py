"""Hybrid data by microaggregation: exact moments, in every group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.mask.hybrid_microaggregation import hybrid_values


@given(seed=st.integers(0, 10_000), p=st.integers(1, 6), k=st.integers(2, 9))
def test_means_and_covariances_of_each_group_are_kept(seed, p, k):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(60, p)) @ rng.normal(size=(p, p)) * 100
    groups = np.sort(np.minimum(np.arange(60) // k, 60 // k - 1))
    made = hybrid_values(values, groups, rng)
    for group in np.unique(groups):
        x, y = values[groups == group], made[groups == group]
        assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), abs=1e-6)
        assert np.cov(y.T) == pytest.approx(np.cov(x.T), rel=1e-7, abs=1e-5)
    if k > 2:
        assert not np.allclose(made, values)


def test_moments_of_the_file_are_kept_and_values_are_not():
    data = tacit.datasets.census(800)
    release = tacit.Plan([mask.HybridMicroaggregation(columns=["age", "income"], k=8)]).apply(
        data, seed=3
    )
    before, after = (f.select("age", "income").to_numpy() for f in (data.frame, release.frame))
    assert np.cov(after.T) == pytest.approx(np.cov(before.T), rel=1e-8)
    moved = before[:, 1] != after[:, 1]
    assert moved.mean() > 0.4


def test_too_few_records_are_refused():
    with pytest.raises(DataError, match="k = 5"):
        tacit.Plan([mask.HybridMicroaggregation(columns=["age"])]).apply(
            tacit.datasets.census(3), seed=1
        )
