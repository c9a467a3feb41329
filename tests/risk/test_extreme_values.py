"""Extremes that a release tells, by hand and on synthetic data."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError, SchemaError

MEASURE = risk.ExtremeValues()


def test_by_hand():
    """110 has nobody within 11, 20 has 21 and 22; -90 and 10 stand alone."""
    before = pl.DataFrame({"a": [20.0, 21, 22, 25, 110], "b": [-90.0, 1, 2, 3, 10]})
    after = pl.DataFrame({"a": [20.0, 99.0], "b": [-80.0, 12.0]})
    found = MEASURE.measure(before, after)
    assert found.details["outlying"] == ["largest a", "largest b", "smallest b"]
    assert found.details["told"] == ["largest a"]
    assert found.value == pytest.approx(1 / 3)
    near = risk.ExtremeValues(tolerance=0.2).measure(before, after)
    assert near.details["told"] == ["largest a", "largest b", "smallest b"]
    alone = risk.ExtremeValues(columns=["a"], common=2).measure(before, after)
    assert alone.details["outlying"] == ["largest a"]
    assert "110" not in found.explanation, "the report of a release must not tell it either"


def test_zeros_gaps_and_constants_are_not_extreme():
    frame = pl.DataFrame({"a": [0.0, None, 5, 5, 5], "b": pl.Series([None] * 5, dtype=pl.Int64)})
    found = MEASURE.measure(frame, frame)
    assert (found.value, found.details["outlying"]) == (0.0, [])
    assert "lies apart" in found.explanation


def test_what_has_no_numbers_is_refused():
    words = tacit.Microdata.of(pl.DataFrame({"a": ["x", "y"]}))
    assert "numeric" in MEASURE.objection(words)
    with pytest.raises(SchemaError, match="numeric"):
        risk.ExtremeValues(columns=["a"]).measure(words, words)
    with pytest.raises(DataError, match="numeric"):
        MEASURE.measure(words, words)


def test_the_report_of_a_synthetic_release_says_whether_an_outlier_shows():
    """Five data sets of trees come near the largest income of all; top-coded ones do not."""
    rng = np.random.default_rng(1)
    pay = np.r_[rng.lognormal(10, 0.5, 500), 5e7]
    frame = pl.DataFrame({"age": rng.integers(18, 80, 501), "pay": pay})
    steps = [mask.Synthesise(m=20), mask.TopCode(column="pay", threshold=1e5)]
    shown, hidden = (
        next(m for m in tacit.Plan(s).apply(frame, seed=1).measure().risks if m.key == MEASURE.key)
        for s in (steps[:1], steps)
    )
    assert "the largest pay" in shown.explanation
    assert "the largest pay" not in hidden.explanation
