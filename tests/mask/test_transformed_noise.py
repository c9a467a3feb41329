"""Noise on normal scores keeps each variable's distribution."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tacit
from tacit import mask


def test_distributions_are_kept_whatever_their_shape():
    rng = np.random.default_rng(0)
    before = pl.DataFrame({
        "skewed": rng.lognormal(size=5000),
        "zeros": rng.lognormal(size=5000) * (rng.random(5000) < 0.4),
        "count": rng.poisson(2.0, 5000),
    })  # fmt: skip
    columns = before.columns
    after = (
        tacit.Plan([mask.TransformedNoise(columns=columns, alpha=0.3)]).apply(before, seed=1).frame
    )
    for column in columns:
        assert stats.ks_2samp(before[column], after[column]).pvalue > 0.001
        assert (before[column] != after[column]).mean() > 0.1
    assert set(after["count"]) <= set(before["count"])
    assert (after["zeros"] >= 0).all()


def test_rank_correlations_are_kept_up_to_a_little():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(5000)
    before = pl.DataFrame({"a": np.exp(a), "b": a + 0.5 * rng.standard_normal(5000)})
    after = tacit.Plan([mask.TransformedNoise(columns=["a", "b"])]).apply(before, seed=1).frame
    was = stats.spearmanr(before["a"], before["b"]).statistic
    now = stats.spearmanr(after["a"], after["b"]).statistic
    assert now == pytest.approx(was, abs=0.05)


def test_missing_values_stay():
    before = pl.DataFrame({"x": [1.0, None, 2.0, 5.0, 9.0]})
    after = tacit.Plan([mask.TransformedNoise(columns=["x"])]).apply(before, seed=1).frame
    assert after["x"].is_null().to_list() == before["x"].is_null().to_list()
