"""Regressions on original and release."""

import numpy as np
import polars as pl
import pytest
import scipy.stats

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError, SchemaError
from tacit.utility._least_squares import Fit
from tacit.utility.regression_overlap import interval_overlap


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x, g = rng.standard_normal(n), rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    y = 1 + 2 * x + 3 * (g == "b") + rng.standard_normal(n)
    return pl.DataFrame({"x": x, "g": g, "y": y})


def test_a_simple_regression_agrees_with_scipy():
    data = tacit.Microdata.of(table())
    fit = Fit.of(data, "y", ["x"])
    other = scipy.stats.linregress(table()["x"], table()["y"])
    assert fit.coefficient("x") == pytest.approx(other.slope)
    assert fit.coefficient("") == pytest.approx(other.intercept)
    assert fit.errors[1] == pytest.approx(other.stderr)
    assert fit.r_squared == pytest.approx(other.rvalue**2)
    half = scipy.stats.t.ppf(0.975, 398) * other.stderr
    assert fit.interval("x", 0.95) == pytest.approx((other.slope - half, other.slope + half))


def test_weights_count_like_repeated_records():
    small = table(60)
    times = np.random.default_rng(1).integers(1, 4, 60)
    repeated = small[np.repeat(np.arange(60), times)]
    weighted = tacit.Microdata.of(small.with_columns(w=pl.Series(times))).with_roles(weight="w")
    one = Fit.of(weighted, "y", ["x", "g"])
    other = Fit.of(tacit.Microdata.of(repeated), "y", ["x", "g"])
    assert one.coefficient("x") == pytest.approx(other.coefficient("x"))


def test_the_same_file_overlaps_fully_and_noise_lowers_it():
    data = tacit.Microdata.of(table())
    measure = utility.RegressionOverlap(response="y", predictors=["x", "g"])
    assert measure.measure(data, data).value == pytest.approx(1.0)
    noisy = tacit.Plan([mask.UncorrelatedNoise(columns=["x"], level=2.0)]).apply(data, seed=1)
    found = measure.measure(data, noisy)
    assert found.value < 0.8
    slope = next(row for row in found.details["coefficients"] if row["name"] == "x")
    assert slope["overlap"] == 0.0


def test_the_reference_category_is_that_of_the_original_even_if_the_release_has_another():
    before = table()
    after = before.filter((pl.col("g") != "a") | (pl.int_range(pl.len()) % 4 == 0))
    measure = utility.RegressionOverlap(response="y", predictors=["g"])
    found = measure.measure(before, after)
    names = [row["name"] for row in found.details["coefficients"]]
    assert names == ["g = b", "g = c"]
    assert found.details["coefficients"][0]["release"] == pytest.approx(3.0, abs=1.0)


def test_a_lost_category_counts_as_no_overlap_and_gaps_are_counted():
    before = table()
    after = before.with_columns(g=pl.when(pl.col("g") != "c").then(pl.col("g")))
    found = utility.RegressionOverlap(response="y", predictors=["g"]).measure(before, after)
    lost = next(row for row in found.details["coefficients"] if row["name"] == "g = c")
    assert lost["overlap"] == 0.0
    assert found.details["left_out"][1] == int((before["g"] == "c").sum())


def test_a_category_that_the_original_does_not_have_is_told_and_spoils_nothing():
    """It must not fall into the reference, which would move every coefficient."""
    before = table()
    strange = pl.DataFrame({"x": [0.0] * 50, "g": ["?"] * 50, "y": [1e4] * 50})
    found = utility.RegressionOverlap(response="y", predictors=["x", "g"]).measure(
        before, pl.concat([before, strange])
    )
    for row in found.details["coefficients"]:
        assert row["release"] == pytest.approx(row["original"])
    assert found.details["new_in_release"] == ["g = ?"]
    assert any("g = ?" in text for text in found.warnings)


def test_a_recoded_predictor_overlaps_nowhere_and_is_told():
    before = table()
    measure = utility.RegressionOverlap(response="y", predictors=["g"])
    found = measure.measure(before, before.with_columns(g="G" + pl.col("g")))
    assert found.value == 0.0
    assert any("no record with g = a" in text for text in found.warnings)
    text = before.with_columns(x=pl.col("x").round(0).cast(pl.String))
    found = utility.RegressionOverlap(response="y", predictors=["x"]).measure(before, text)
    assert found.value == 0.0
    assert any("does not determine the coefficients of x" in said for said in found.warnings)


def test_a_lost_reference_leaves_nothing_to_compare_with():
    before = table()
    found = utility.RegressionOverlap(response="y", predictors=["g"]).measure(
        before, before.filter(pl.col("g") != "a")
    )
    assert found.value == 0.0
    assert any("g = a" in text for text in found.warnings)


def test_collinear_predictors_are_left_out_in_both_files():
    data = table().with_columns(twice=2 * pl.col("x"))
    found = utility.RegressionOverlap(response="y", predictors=["x", "twice", "g"]).measure(data)
    assert found.value == pytest.approx(1.0)
    assert found.details["not_determined"] == ["x", "twice"]


def test_units_do_not_decide_what_is_collinear():
    tiny = table().with_columns(x=pl.col("x") * 1e-9)
    found = utility.RegressionOverlap(response="y", predictors=["x", "g"]).measure(tiny)
    assert found.value == pytest.approx(1.0)
    assert found.details["not_determined"] == []


def test_numbers_as_categories_may_be_stored_as_text():
    rng = np.random.default_rng(3)
    before = pl.DataFrame({"c": rng.integers(0, 3, 200), "y": rng.normal(size=200)})
    data = tacit.Microdata.of(before).with_kinds(c="nominal")
    found = utility.RegressionOverlap(response="y", predictors=["c"]).measure(
        data, before.with_columns(pl.col("c").cast(pl.String))
    )
    assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [((0, 2), (0, 2), 1.0), ((0, 2), (1, 3), 0.5), ((0, 4), (1, 2), 0.625), ((0, 1), (5, 6), 0.0)],
)
def test_overlap_by_hand(old, new, expected):
    assert interval_overlap(old, new) == pytest.approx(expected)


def test_bad_input_is_refused():
    with pytest.raises(SchemaError, match="nominal"):
        utility.RegressionOverlap(response="g", predictors=["x"]).measure(table(), table())
    with pytest.raises(DataError, match="more coefficients"):
        utility.RegressionOverlap(response="y", predictors=["x"]).measure(table(2), table(2))
