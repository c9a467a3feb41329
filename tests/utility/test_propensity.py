"""Propensity scores: nothing to tell, everything to tell, and chance in between."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError, SchemaError


def sample(seed, n=1500, shift=0.0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "x": rng.standard_normal(n) + shift, "y": rng.standard_normal(n),
        "c": rng.choice(list("abc"), n),
    })  # fmt: skip


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_the_same_file_cannot_be_told_apart(model):
    table = sample(0)
    found = utility.Propensity(model=model).measure(table, table)
    assert found.value == pytest.approx(0.0, abs=1e-6 if model == "logistic" else 0.02)


@pytest.mark.parametrize(("model", "expected"), [("logistic", 2.0), ("tree", 1.0)])
def test_two_independent_draws_differ_by_chance_only(model, expected):
    ratios = [
        utility.Propensity(model=model, permutations=5)
        .measure(sample(2 * s), sample(2 * s + 1))
        .details["ratio"]
        for s in range(40 if model == "logistic" else 12)
    ]
    assert np.mean(ratios) == pytest.approx(expected, rel=0.4)


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_a_shifted_file_is_told_apart_the_better_the_farther(model):
    near, far = (
        utility.Propensity(model=model, permutations=3).measure(sample(0), sample(1, shift=s)).value
        for s in (0.5, 6.0)
    )
    assert 0.01 < near < far
    assert far > 0.9


def test_logistic_pmse_by_hand_for_one_binary_variable():
    before = pl.DataFrame({"b": ["u"] * 60 + ["v"] * 40})
    after = pl.DataFrame({"b": ["u"] * 40 + ["v"] * 60})
    found = utility.Propensity().measure(before, after)
    assert found.details["pmse"] == pytest.approx(0.01, rel=1e-3)  # chances 0.4 and 0.6
    assert found.value == pytest.approx(0.04, rel=1e-3)
    assert found.details["expected_by_chance"] == pytest.approx(0.5**3 / 200)


def test_suppression_shows():
    data = tacit.datasets.census(1000)
    blanked = data.frame.with_columns(
        marital=pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.col("marital"))
    )
    found = utility.Propensity(columns=["marital", "age"]).measure(data, blanked)
    assert found.value > 0.1


def test_noise_is_seen_more_as_it_grows():
    table = sample(0)
    values = []
    for level in (0.2, 1.0, 5.0):
        method = mask.UncorrelatedNoise(columns=["x"], level=level)
        release = tacit.Plan([method]).apply(table, seed=1)
        measure = utility.Propensity(columns=["x"], model="tree", permutations=2)
        values.append(measure.measure(table, release).value)
    assert values[0] < values[1] < values[2]


def test_bad_input_is_refused():
    with pytest.raises(SchemaError, match="nope"):
        utility.Propensity(columns=["nope"]).measure(sample(0), sample(1))
    with pytest.raises(DataError, match="both files"):
        utility.Propensity().measure(sample(0), pl.DataFrame({"z": [1]}))
    with pytest.raises(DataError, match="at least one record"):
        utility.Propensity().measure(sample(0), sample(0).head(0))
