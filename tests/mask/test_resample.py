"""Resampling: ranks kept, means and counts kept in expectation, totals exactly."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.mask.resample import resampled, resampled_cells


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=40), st.integers(1, 4))
def test_who_had_more_has_no_less_and_values_stay_in_range(values, samples):
    values = np.array(values)
    after = resampled(values, samples, np.random.default_rng(len(values)))
    order = np.argsort(values, kind="stable")
    for a, b in pairwise(order):
        if values[a] < values[b]:
            assert after[a] <= after[b] + 1e-12
    assert values.min() - 1e-12 <= after.min() <= after.max() <= values.max() + 1e-12
    if samples == 1:
        assert set(after) <= set(values)


def test_one_sample_is_a_bootstrap_sample_of_the_file():
    """Sorted, the release is the sorted bootstrap sample: its variance over seeds is sigma^2/n."""
    values = np.random.default_rng(0).lognormal(size=200)
    means = [resampled(values, 1, np.random.default_rng(s)).mean() for s in range(1500)]
    assert np.mean(means) == pytest.approx(values.mean(), abs=4 * np.std(means) / np.sqrt(1500))
    assert np.std(means) == pytest.approx(values.std() / np.sqrt(200), rel=0.1)


def test_more_samples_bring_the_result_nearer():
    values = np.random.default_rng(0).lognormal(size=500)

    def moved(samples):
        rng = np.random.default_rng(1)
        return np.mean([np.abs(resampled(values, samples, rng) - values).mean() for _ in range(20)])

    assert 0 < moved(20) < moved(4) < moved(1)


def test_missing_values_stay_and_strata_are_not_mixed():
    data = tacit.datasets.census(600, missing=0.1)
    method = mask.Resample(columns=["income", "age"], within=["sex"], keep_rules=False)
    after = tacit.Plan([method]).apply(data, seed=1).frame
    for column in ("income", "age"):
        assert after[column].is_null().equals(data.frame[column].is_null())
        for sex in ("male", "female"):
            where = pl.col("sex") == sex
            assert set(after.filter(where)[column]) <= set(data.frame.filter(where)[column])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 3), st.integers(0, 99))
def test_cells_move_only_as_far_as_the_new_counts_demand(cells, samples, seed):
    cells = np.unique(cells, return_inverse=True)[1]
    source = resampled_cells(cells, samples, np.random.default_rng(seed))
    before, after = (np.bincount(c, minlength=cells.max() + 1) for c in (cells, cells[source]))
    assert after.sum() == before.sum()
    assert (cells != cells[source]).sum() == np.maximum(after - before, 0).sum()


def test_counts_of_the_table_are_kept_in_expectation_and_vary_like_a_bootstrap():
    cells = np.repeat([0, 1, 2, 3], [100, 60, 30, 10])
    for samples in (1, 4):
        counts = np.array(
            [
                np.bincount(cells[resampled_cells(cells, samples, np.random.default_rng(s))])
                for s in range(1500)
            ]
        )
        assert counts.mean(axis=0) == pytest.approx([100, 60, 30, 10], abs=0.8)
        spread = np.sqrt(100 * 0.5 / samples)
        assert counts[:, 0].std() == pytest.approx(spread, rel=0.12)


def test_a_table_makes_no_new_combination_and_leaves_gaps_alone():
    data = tacit.datasets.census(500, missing=0.05)
    columns = ["marital", "education"]
    after = tacit.Plan([mask.Resample(table=columns)]).apply(data, seed=1).frame
    assert set(after[columns].rows()) <= set(data.frame[columns].rows())
    gaps = data.frame.select(pl.any_horizontal(pl.col(columns).is_null())).to_series()
    assert after.filter(gaps)[columns].equals(data.frame.filter(gaps)[columns])
    changed = (after["marital"] != data.frame["marital"]).sum()
    assert 0 < changed < 150


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="columns"):
        mask.Resample()
    with pytest.raises(ParameterError, match="samples"):
        mask.Resample(columns=["x"], samples=0)
    with pytest.raises(ParameterError, match="elsewhere"):
        mask.Resample(columns=["x"], table=["x"])
    with pytest.raises(SchemaError, match="numeric"):
        tacit.Plan([mask.Resample(columns=["t"])]).apply(pl.DataFrame({"t": ["a", "b"]}))
    with pytest.raises(SchemaError, match="nominal"):
        tacit.Plan([mask.Resample(table=["x"])]).apply(pl.DataFrame({"x": [1.0, 2.0]}))
    with pytest.raises(DataError, match="infinite"):
        tacit.Plan([mask.Resample(columns=["x"])]).apply(pl.DataFrame({"x": [1.0, float("inf")]}))
