"""Survey estimates and their intervals."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.pairing import pair
from tacit.utility._survey_design import SurveyDesign


def design(n, weights=None, strata=None, clusters=None):
    return SurveyDesign(
        np.ones(n) if weights is None else np.asarray(weights, float),
        np.zeros(n, int) if strata is None else np.asarray(strata),
        np.arange(n) if clusters is None else np.asarray(clusters),
    )


def test_equal_weights_give_the_textbook_error():
    x = np.array([1.0, 4.0, 4.0, 9.0])
    mean, error = design(4).mean(x)
    assert (mean, error) == pytest.approx((4.5, np.std(x, ddof=1) / 2))
    total, error = design(4).total(x)
    assert (total, error) == pytest.approx((18.0, 4 * np.std(x, ddof=1) / 2))


def test_strata_take_out_the_variance_between_them():
    x = np.array([1.0, 1.0, 9.0, 9.0])
    assert design(4, strata=[0, 0, 1, 1]).mean(x)[1] == pytest.approx(0.0)


def test_clusters_of_equal_records_count_once():
    x = np.array([1.0, 2.0, 3.0, 7.0])
    doubled = design(8, clusters=np.repeat(np.arange(4), 2)).mean(np.repeat(x, 2))
    assert doubled == pytest.approx(design(4).mean(x))


def test_error_is_that_of_repeated_samples():
    rng = np.random.default_rng(0)
    population = rng.gamma(2.0, size=20_000)
    chance = 0.5 * population / population.mean() + 0.5
    chance /= chance.sum()
    means, errors = [], []
    for _ in range(600):
        drawn = rng.choice(20_000, 200, p=chance)
        mean, error = design(200, weights=1 / chance[drawn]).mean(population[drawn])
        means.append(mean)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)


def test_design_uses_only_what_both_files_have():
    data = tacit.datasets.census(100)
    bare = data.drop(["weight", "household"])
    old, _ = SurveyDesign.of_both(pair(data, bare))
    assert np.all(old.weights == 1)
    assert len(np.unique(old.clusters)) == 100
    old, _ = SurveyDesign.of_both(pair(data, data))
    assert np.array_equal(old.weights, data.weights)
    assert len(np.unique(old.clusters)) < 100


def test_identity_is_1_and_a_far_release_0():
    data = tacit.datasets.census(300)
    columns = ["income", "hours", "sex"]
    measure = utility.SurveyEstimates(columns=columns)
    assert measure.measure(data, data).value == 1.0
    away = data.with_local(data.local.with_columns(income=pl.col("income") + 1e9, sex=pl.lit("?")))
    found = measure.measure(data, away)
    assert {row["what"] for row in found.details["worst"] if row["overlap"] == 0} >= {
        "mean of income", "total of income", "share of sex = female",
    }  # fmt: skip


def test_noise_lowers_the_overlap():
    data = tacit.datasets.census(1500)
    values = []
    for level in (0.1, 0.4, 1.0):
        plan = tacit.Plan([mask.UncorrelatedNoise(columns=["income"], level=level)])
        found = [utility.SurveyEstimates(columns=["income"]).measure(data, plan.apply(data, seed=s))
                 for s in range(4)]  # fmt: skip
        values.append(np.mean([m.value for m in found]))
    assert values[0] > values[1] > values[2]


def test_missing_values_are_left_out():
    frame = pl.DataFrame({"x": [1.0, None, 3.0, None, 5.0]})
    found = utility.SurveyEstimates(columns=["x"]).measure(frame, frame)
    assert found.value == 1.0
