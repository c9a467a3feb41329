"""Random orthogonal masking keeps means and covariances exactly."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.mask.orthogonal_masking import random_turn


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.floats(0.01, 3.0), st.integers(0, 1000))
def test_a_turn_is_orthogonal_and_keeps_the_sum(n, angle, seed):
    turn = random_turn(n, angle, np.random.default_rng(seed))
    assert np.allclose(turn @ turn.T, np.eye(n), atol=1e-9)
    assert np.allclose(turn @ np.ones(n), 1.0)


@pytest.mark.parametrize("n", [2, 61, 1000])
def test_sample_mean_and_covariance_are_kept_to_rounding(n):
    rng = np.random.default_rng(n)
    before = pl.DataFrame({"a": rng.lognormal(size=n), "b": rng.standard_normal(n)})
    after = tacit.Plan([mask.OrthogonalMasking(columns=["a", "b"])]).apply(before, seed=1).frame
    x, y = before.to_numpy(), after.to_numpy()
    assert np.allclose(x.mean(axis=0), y.mean(axis=0))
    assert np.allclose(np.cov(x.T), np.cov(y.T))


def test_a_larger_angle_moves_records_farther():
    before = pl.DataFrame({"a": np.random.default_rng(0).standard_normal(600)})

    def moved(angle):
        method = mask.OrthogonalMasking(columns=["a"], angle=angle)
        return float(
            (tacit.Plan([method]).apply(before, seed=1).frame["a"] - before["a"]).abs().mean()
        )

    assert 0 < moved(0.05) < moved(0.5) < moved(2.0)


def test_a_record_alone_with_its_missing_pattern_is_blanked_never_released_as_it_is():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 5.0, 2.0, None]})
    after = tacit.Plan([mask.OrthogonalMasking(columns=["a", "b"])]).apply(before, seed=1).frame
    assert after.row(3) == (None, None)
    assert after.head(3).null_count().row(0) == (0, 0)
    with pytest.raises(DataError, match="two records"):
        tacit.Plan([mask.OrthogonalMasking(columns=["a"])]).apply(before.head(1), seed=1)
