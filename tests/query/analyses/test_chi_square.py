"""The test of independence agrees with SciPy."""

import polars as pl
import pytest
from scipy.stats import chi2_contingency


def test_statistic(serve, people):
    answer = serve(people).ask({"method": "chi2", "by": ["sex", "region"]})
    table = people.group_by("sex", "region").len().sort("sex", "region")["len"].to_numpy()
    expected = chi2_contingency(table.reshape(2, 3), correction=False)
    assert answer.values["statistic"] == pytest.approx(expected.statistic, abs=1e-3)
    assert answer.values["freedom"] == 2
    assert answer.values["probability"] == pytest.approx(expected.pvalue, rel=0.01)


def test_one_category_has_no_test(serve, people):
    frame = people.with_columns(region=pl.lit("N"))
    assert serve(frame).ask({"method": "chi2", "by": ["sex", "region"]}).values["freedom"] == 0
    assert serve(frame).ask({"method": "chi2", "by": ["sex"]}).is_refusal


def test_a_cell_of_nobody_counts(serve, people):
    frame = people.filter((pl.col("sex") == "f") | (pl.col("region") != "W"))
    answer = serve(frame).ask({"method": "chi2", "by": ["sex", "region"]})
    table = [
        [frame.filter((pl.col("sex") == s) & (pl.col("region") == r)).height for r in "NSW"]
        for s in "fm"
    ]
    expected = chi2_contingency(table, correction=False).statistic
    assert answer.values["statistic"] == pytest.approx(expected, abs=1e-3)
