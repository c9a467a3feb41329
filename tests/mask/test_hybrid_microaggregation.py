"""Hybrid data by microaggregation: the moments of each group, and other records."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import ParameterError, TacitError
from tacit.mask.hybrid_microaggregation import hybrid_values
from tacit.mask.mdav import mdav_groups


def applied(frame, columns, seed=1, **options):
    plan = tacit.Plan([mask.HybridMicroaggregation(columns=columns, **options)])
    return plan.apply(tacit.Microdata.of(frame), seed=seed).frame


def assert_same_moments(x, y, within=1e-11):
    """Means and covariances, each in units of its own columns: no column hides another's error."""
    size = np.abs(x).max(axis=0) + 1e-300
    assert np.all(np.abs(y.mean(axis=0) - x.mean(axis=0)) <= within * size)
    spread = x.std(axis=0) + 1e-13 * size
    # A stored number is rounded to a share of its size, not of its spread.
    rounding = np.outer(1e-14 * size + within * spread, spread)
    allowed = rounding + rounding.T
    assert np.all(np.abs(np.cov(y.T, ddof=0) - np.cov(x.T, ddof=0)) <= allowed)


@given(seed=st.integers(0, 10_000), p=st.integers(1, 6), k=st.integers(3, 9))
def test_means_and_covariances_of_each_group_are_kept(seed, p, k):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(60, p)) @ rng.normal(size=(p, p)) * 100
    groups = np.sort(np.minimum(np.arange(60) // k, 60 // k - 1))
    made = hybrid_values(values, groups, rng)
    for group in np.unique(groups):
        assert_same_moments(values[groups == group], made[groups == group])
    assert not np.isclose(made, values).all(axis=1).any()


@given(seed=st.integers(0, 10_000), size=st.integers(3, 12))
def test_attack_columns_of_very_different_size_keep_their_own_moments(seed, size):
    """Incomes in the millions beside shares in the millionths, and a column of rank one."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(size, 3))
    x = np.column_stack([base[:, 0] * 1e9, base[:, 1] * 1e-9, base[:, 2], base[:, 2] * 3 - 7])
    made = hybrid_values(x, np.zeros(size, dtype=int), rng)
    assert_same_moments(x, made)


def test_attack_no_record_keeps_its_side():
    """Which side of its group's centre a record gets must not depend on its place in the file."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(4000 * 3, 1))
    groups = np.repeat(np.arange(4000), 3)
    made = hybrid_values(values, groups, rng)
    centre = np.repeat(values.reshape(-1, 3).mean(axis=1), 3)[:, None]
    same = ((made - centre) * (values - centre) > 0).reshape(-1, 3).mean(axis=0)
    assert np.all(np.abs(same - 0.5) < 0.04)  # five standard errors
    first = (made - centre).reshape(-1, 3)[:, 0]
    assert abs((first > 0).mean() - 0.5) < 0.04


def test_moments_of_the_file_are_kept_and_values_are_not():
    data = tacit.datasets.census(800)
    after = applied(data.frame, ["age", "income"], k=8, seed=3)
    before, after = (f.select("age", "income").to_numpy() for f in (data.frame, after))
    assert_same_moments(before.astype(float), after)
    assert (before[:, 1] != after[:, 1]).mean() > 0.4


def test_attack_an_original_record_is_not_in_the_release():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(rng.lognormal(3, 1, (500, 3)), schema=["a", "b", "c"])
    found = applied(frame, ["a", "b", "c"], k=3).to_numpy()
    distance = np.abs(found[:, None, :] / frame.to_numpy()[None] - 1).max(axis=2)
    assert distance.min() > 1e-6


def test_two_records_have_no_other_pair_with_their_moments():
    with pytest.raises(ParameterError, match="greater than or equal to 3"):
        mask.HybridMicroaggregation(columns=["age"], k=2)


def test_constants_and_ties_stay_as_they_are():
    frame = pl.DataFrame({"same": [0.1] * 50, "tied": [0.1] * 25 + [0.7] * 25, "x": range(50)})
    found = applied(frame, ["same", "tied", "x"])
    assert found["same"].to_list() == [0.1] * 50
    assert found["tied"].to_list() == frame["tied"].to_list()
    assert found["x"].to_list() != frame["x"].to_list()


def test_each_pattern_of_missing_values_keeps_its_moments():
    rng = np.random.default_rng(7)
    a, b = rng.normal(50, 9, 90), rng.exponential(1e4, 90)
    a[:30], b[60:], a[60:63] = np.nan, np.nan, np.nan
    frame = pl.DataFrame({"a": a, "b": b}, nan_to_null=True)
    found = applied(frame, ["a", "b"], k=4)
    assert found.null_count().row(0) == frame.null_count().row(0)
    before, after = (f.fill_null(np.nan).to_numpy() for f in (frame, found))
    assert_same_moments(before[:30, 1:], after[:30, 1:])
    assert_same_moments(before[30:60], after[30:60])
    assert_same_moments(before[63:, :1], after[63:, :1])


def test_few_records_with_the_same_gaps_are_blanked():
    frame = pl.DataFrame({"a": [None, None, *range(20)], "b": [1.0, 2.0, *range(20)]})
    found = applied(frame, ["a", "b"], k=3)
    assert found["b"][:2].to_list() == [None, None]
    assert found["b"][2:].null_count() == 0


def test_one_group_is_the_smallest_file():
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 1.0]})
    found = applied(frame, ["a", "b"], k=3)
    assert_same_moments(frame.to_numpy(), found.to_numpy())


def test_groups_are_those_of_mdav():
    """Means of MDAV's groups, which the release must have, group by group."""
    data = tacit.datasets.census(200).frame.select("age", "income").cast(pl.Float64)
    groups = mdav_groups(data.to_numpy(), 10)
    found = applied(data, ["age", "income"], k=10).to_numpy()
    for group in np.unique(groups):
        assert_same_moments(data.to_numpy()[groups == group], found[groups == group])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (tacit.datasets.census(2).frame, "k = 5"),
        (tacit.datasets.census(50).frame.clear(), "k = 5"),
        (pl.DataFrame({"age": [1.0, float("inf")] * 10}), "infinite"),
        (pl.DataFrame({"age": ["old", "young"] * 10}), "age"),
    ],
    ids=["few", "none", "infinite", "texts"],
)
def test_what_cannot_be_masked_is_refused(frame, words):
    with pytest.raises(TacitError, match=words):
        applied(frame, ["age"])
