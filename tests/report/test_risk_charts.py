"""The risk curve, and ranks of right records."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, report, risk
from tacit.core.pairing import pair
from tacit.report._risk_charts import RANK_BANDS, own_ranks, shares_above, tally_ranks


def test_shares_count_equal_risks_and_leave_out_unknown_ones():
    risks = 1.0 / np.array([1, 2, 3, 10])
    assert shares_above(risks, [1 / 3, 0.5, 1.0]).tolist() == [0.75, 0.5, 0.25]
    assert shares_above(np.array([np.nan, 0.5]), [0.1]).tolist() == [1.0]
    assert shares_above(np.array([]), [0.1]).tolist() == [0.0]


def test_curve_draws_what_it_was_given():
    spec = report.risk_curve(None, np.array([0.5, 0.5])).to_dict()
    assert len(spec["layer"]) == 1
    rows = next(iter(spec["datasets"].values()))
    assert {row["share"] for row in rows if row["risk"] <= 0.5} == {1.0}
    assert {row["share"] for row in rows if row["risk"] > 0.51} == {0.0}
    assert len(report.risk_curve(np.array([1.0]), np.array([0.5])).to_dict()["layer"]) == 2


def test_ranks_by_hand():
    before = pl.DataFrame({"x": [0.0, 1.0, 5.0]})
    after = pl.DataFrame({"x": [0.1, 4.0, 0.9]})
    assert own_ranks(pair(before, after), ["x"]).tolist() == [1.0, 3.0, 2.0]
    same = pl.DataFrame({"x": [2.0, 2.0, 2.0]})
    assert own_ranks(pair(before, same), ["x"]).tolist() == [2.0, 2.0, 2.0]


def test_rank_one_is_what_linkage_counts():
    data = tacit.datasets.census(400)
    columns = ["age", "income", "hours"]
    release = tacit.Plan([mask.UncorrelatedNoise(columns=columns, level=0.3)]).apply(data, seed=1)
    ranks = own_ranks(pair(data, release), columns)
    linked = risk.DistanceLinkage(attributes=columns).measure(data, release)
    assert np.mean(ranks == 1) == pytest.approx(np.mean(linked.per_unit == 1))


def test_missing_values_and_categories_have_ranks():
    data = tacit.datasets.census(150, missing=0.2)
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    ranks = own_ranks(pair(data, release), ["age", "sex", "education", "income"])
    assert len(ranks) == 75
    assert np.all((ranks >= 1) & (ranks <= 75))


def test_ranks_are_put_into_bands():
    tally = tally_ranks(np.array([1.0, 1.5, 2.0, 5.0, 6.0, 50.0, 1000.0]))
    assert len(tally.labels) == len(RANK_BANDS)
    assert tally.labels[0] == "1 (found)"
    assert next(iter(tally.counts.values())) == (2, 1, 1, 1, 1, 0, 1)


def test_link_ranks_is_a_chart():
    data = tacit.datasets.census(60)
    svg = json.dumps(report.link_ranks(data, data, ["age", "income"]).to_dict(), ensure_ascii=False)
    assert "1 (found)" in svg
