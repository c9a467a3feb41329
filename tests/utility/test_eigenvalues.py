"""Eigenvalues before and after."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError


def test_two_columns_by_hand():
    """Correlation 1/2 has eigenvalues 3/2 and 1/2; with correlation 1 they are 2 and 0."""
    before = pl.DataFrame({"a": [2.0, 4.0, 6.0], "b": [1.0, 3.0, 2.0]})
    after = before.with_columns(b=pl.Series([1.0, 2.0, 3.0]))
    found = utility.EigenvalueLoss().measure(before, after)
    assert found.details["original"] == pytest.approx([1.5, 0.5])
    assert found.details["release"] == pytest.approx([2.0, 0.0], abs=1e-12)
    assert found.value == pytest.approx((0.5 + 0.5) / 2)


def test_identity_is_0_and_a_constant_release_1():
    data = tacit.datasets.census(200)
    columns = ["age", "income", "taxes"]
    loss = utility.EigenvalueLoss(columns=columns)
    assert loss.measure(data, data).value == 0.0
    flat = data.with_arrays({c: np.full(200, 7.0) for c in columns})
    assert loss.measure(data, flat).value == pytest.approx(1.0)


def test_lost_variance_shows_though_correlations_stay():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0, 5.0]})
    halved = before.with_columns(pl.col("a") / 2)
    assert utility.EigenvalueLoss().measure(before, halved).value == pytest.approx(0.75)


def test_microaggregation_loses_more_with_larger_groups():
    data = tacit.datasets.census(600)
    columns = ["age", "hours", "income"]
    losses = [
        utility.EigenvalueLoss(columns=columns)
        .measure(data, tacit.Plan([mask.Mdav(columns=columns, k=k)]).apply(data, seed=1))
        .value
        for k in (3, 30, 150)
    ]
    assert losses == sorted(losses)


def test_columns_without_variance_are_refused():
    flat = pl.DataFrame({"a": [1.0, 1.0, 1.0]})
    with pytest.raises(DataError, match="varies"):
        utility.EigenvalueLoss().measure(flat, flat)
