"""Correlations and pairs of variables, before and after."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import report
from tacit.core.data import Microdata
from tacit.report._relation_charts import CorrelationChange, Crossing
from tacit.report._tally import ORIGINAL, RELEASE, SMALLEST_GROUP


def micro(**columns):
    return Microdata.of(pl.DataFrame(columns))


def test_correlations_are_those_of_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(size=50)
    before, after = micro(x=x, y=y + x, z=y), micro(x=x, y=y, z=y)
    change = CorrelationChange.of(before, after)
    assert change.before == pytest.approx(np.corrcoef([x, y + x, y]))
    assert change.after == pytest.approx(np.corrcoef([x, y, y]))
    assert change.rows()[0][0] == " and ".join(change.most_changed)


def test_a_column_that_became_constant_counts_as_uncorrelated():
    before, after = micro(x=[1.0, 2, 3, 4], y=[2.0, 4, 6, 9]), micro(x=[1.0, 2, 3, 4], y=[5.0] * 4)
    change = CorrelationChange.of(before, after)
    assert change.after[0, 1] == 0.0
    assert change.most_changed == ("x", "y")


@pytest.mark.parametrize(
    "columns",
    [{"x": [1.0, 2, 3]}, {"x": ["a", "b"], "y": ["c", "d"]}, {"x": [1.0] * 5, "y": [2.0] * 5}],
)
def test_without_two_varying_numbers_there_is_no_map(columns):
    data = micro(**columns)
    assert CorrelationChange.of(data, data) is None
    assert "no values to show" in json.dumps(
        report.correlation_change(data, data).to_dict(), ensure_ascii=False
    )


def test_the_map_writes_signed_changes():
    before, after = (
        micro(x=[1.0, 2, 3, 4], y=[1.0, 2, 3, 4]),
        micro(x=[1.0, 2, 3, 4], y=[4.0, 3, 2, 1]),
    )
    svg = json.dumps(report.correlation_change(before, after).to_dict(), ensure_ascii=False)
    assert "−2.00" in svg


def test_cells_of_few_records_are_not_drawn():
    x = ["a"] * 10 + ["b"] * 10
    y = ["u"] * 8 + ["v"] * 2 + ["u"] * 10
    data = micro(x=x, y=y)
    crossing = Crossing.of(data, data, "x", "y")
    for table in crossing.counts.values():
        drawn = table[table > 0]
        assert drawn.min() >= SMALLEST_GROUP
        assert drawn.sum() == 18


def test_both_sides_share_their_classes():
    data = tacit.datasets.census(500)
    release = tacit.Plan([tacit.mask.Sample(fraction=0.4)]).apply(data, seed=1)
    crossing = Crossing.of(data, release.data, "age", "income")
    assert crossing.counts[ORIGINAL].shape == crossing.counts[RELEASE].shape
    assert crossing.counts[RELEASE].sum() < crossing.counts[ORIGINAL].sum() <= 500


@pytest.mark.parametrize("pair", [("age", "income"), ("education", "age"), ("sex", "marital")])
def test_any_kinds_can_be_crossed(pair):
    data = tacit.datasets.census(300, missing=0.1)
    svg = json.dumps(report.bivariate(data, data, *pair).to_dict(), ensure_ascii=False)
    assert "Original" in svg
    assert "Release" in svg


def test_an_empty_column_is_said():
    data = micro(x=pl.Series([None] * 4, dtype=pl.Float64), y=[1.0, 2, 3, 4])
    svg = json.dumps(report.bivariate(data, data, "x", "y").to_dict(), ensure_ascii=False)
    assert "no values to show" in svg
