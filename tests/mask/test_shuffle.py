"""Shuffling: same values, same rank relations, nothing of the record's own value."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError


def table(n=5000):
    rng = np.random.default_rng(0)
    s = rng.standard_normal(n)
    x = np.exp(0.8 * s + 0.6 * rng.standard_normal(n))
    y = 0.5 * x + rng.gamma(2.0, size=n)
    return pl.DataFrame({"s": s, "x": x, "y": y})


PLAN = tacit.Plan([mask.Shuffle(columns=["x", "y"], given=["s"])])


def test_values_stay_the_same_as_a_whole():
    before = table()
    after = PLAN.apply(before, seed=1).frame
    for column in ("x", "y"):
        assert after[column].sort().equals(before[column].sort())
    assert after["s"].equals(before["s"])


def test_rank_correlations_are_kept():
    before = table()
    after = PLAN.apply(before, seed=1).frame
    for a, b in (("x", "s"), ("y", "s"), ("x", "y")):
        was = stats.spearmanr(before[a], before[b]).statistic
        assert stats.spearmanr(after[a], after[b]).statistic == pytest.approx(was, abs=0.05)


def test_given_the_other_variables_the_old_value_says_nothing():
    before = table()
    after = PLAN.apply(before, seed=1).frame
    s = before["s"].to_numpy()

    def residual(column):
        y = stats.norm.ppf((stats.rankdata(column) - 0.5) / len(column))
        return y - np.polyval(np.polyfit(s, y, 1), s)

    partial = np.corrcoef(residual(before["x"]), residual(after["x"]))[0, 1]
    assert abs(partial) < 0.05


def test_missing_values_constants_and_ordinals_work():
    data = tacit.datasets.census(600, missing=0.05)
    method = mask.Shuffle(columns=["income", "taxes"], given=["age", "education"])
    after = tacit.Plan([method]).apply(data, seed=1).frame
    assert after["income"].is_null().equals(data.frame["income"].is_null())
    constant = table(50).with_columns(s=pl.lit(1.0))
    assert PLAN.apply(constant, seed=1).frame["x"].sort().equals(constant["x"].sort())


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="itself"):
        mask.Shuffle(columns=["x"], given=["x"])
    with pytest.raises(DataError, match="three records"):
        PLAN.apply(table(2))
