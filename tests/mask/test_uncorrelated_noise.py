"""Independent additive noise."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError
from tacit.mask.uncorrelated_noise import farthest


def table(n=20_000):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(n) * 3 + 10
    return pl.DataFrame({"a": a, "b": 0.5 * a + rng.standard_normal(n)})


def test_variances_grow_and_covariances_stay_as_the_formula_says():
    before = table()
    frame = (
        tacit.Plan([mask.UncorrelatedNoise(columns=["a", "b"], level=0.5)])
        .apply(before, seed=1)
        .frame
    )
    was, now = np.cov(before.to_numpy().T), np.cov(frame.to_numpy().T)
    assert np.diag(now) == pytest.approx(1.25 * np.diag(was), rel=0.03)
    assert now[0, 1] == pytest.approx(was[0, 1], rel=0.05)
    assert frame.to_numpy().mean(axis=0) == pytest.approx(before.to_numpy().mean(axis=0), rel=0.01)


def test_two_seeds_draw_different_noise():
    plan = tacit.Plan([mask.UncorrelatedNoise(columns=["a"])])
    assert not plan.apply(table(100), seed=1).frame.equals(plan.apply(table(100), seed=2).frame)


def test_only_the_farthest_records_change_on_request():
    before = table(1000)
    method = mask.UncorrelatedNoise(columns=["a", "b"], only_outliers=0.05)
    frame = tacit.Plan([method]).apply(before, seed=1).frame
    changed = (frame["a"] != before["a"]).to_numpy()
    assert changed.sum() == 50
    values = before.to_numpy()
    assert np.array_equal(changed, farthest(values, values.mean(axis=0), np.cov(values.T), 0.05))


def test_missing_values_stay_and_bad_input_is_refused():
    gaps = pl.DataFrame({"x": [1.0, None, 3.0, 4.0]})
    frame = tacit.Plan([mask.UncorrelatedNoise(columns=["x"])]).apply(gaps, seed=1).frame
    assert frame["x"].is_null().to_list() == [False, True, False, False]
    with pytest.raises(DataError, match="two complete records"):
        tacit.Plan([mask.UncorrelatedNoise(columns=["x"])]).apply(gaps.head(2), seed=1)
    with pytest.raises(ParameterError, match="level"):
        mask.UncorrelatedNoise(columns=["x"], level=0)
