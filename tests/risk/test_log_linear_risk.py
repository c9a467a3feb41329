"""Log-linear risk: estimates against a population that is known."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import Microdata, risk
from tacit.core.errors import ParameterError


def population(n, seed):
    """People with five keys, of which the second depends on the first, the fourth on the third."""
    rng = np.random.default_rng(seed)
    a = rng.choice(30, n, p=rng.dirichlet(np.full(30, 0.7)))
    b = np.where(rng.random(n) < 0.6, a // 3, rng.integers(0, 12, n))
    c = rng.choice(10, n, p=rng.dirichlet(np.full(10, 0.8)))
    d = np.where(rng.random(n) < 0.5, c, rng.integers(0, 10, n))
    e = rng.choice(12, n, p=rng.dirichlet(np.full(12, 0.6)))
    return np.column_stack([a, b, c, d, e])


def data(rows, **more):
    frame = pl.DataFrame(rows, schema=list("abcde"), orient="row").with_columns(**more)
    return Microdata.of(frame).with_roles(keys=list("abcde"))


def truth(people, in_sample):
    """Numbers of population uniques and of correct matches among the sample uniques."""
    _, ids, sizes = np.unique(people, axis=0, return_inverse=True, return_counts=True)
    counts = np.bincount(ids[in_sample], minlength=len(sizes))
    alone = sizes[counts == 1]
    return float(np.sum(alone == 1)), float(np.sum(1 / alone))


@pytest.mark.parametrize("fraction", [0.02, 0.1])
def test_estimates_are_near_the_truth_and_nearer_than_independence(fraction):
    people = population(100_000, 1)
    in_sample = np.random.default_rng(2).random(len(people)) < fraction
    tau1, tau2 = truth(people, in_sample)
    sample = data(people[in_sample])
    found = risk.LogLinearRisk(sampling_fraction=fraction).measure(sample).details
    simple = risk.LogLinearRisk(search="none", sampling_fraction=fraction).measure(sample).details
    assert found["tau1"] == pytest.approx(tau1, rel=0.25)
    assert found["tau2"] == pytest.approx(tau2, rel=0.15)
    assert abs(found["tau2"] - tau2) < abs(simple["tau2"] - tau2)
    assert {("a", "b"), ("c", "d")} <= {tuple(pair) for pair in found["interactions"]}


def test_bic_finds_the_interactions_that_are_there():
    people = population(20_000, 3)
    measure = risk.LogLinearRisk(search="bic", sampling_fraction=0.2)
    assert measure.measure(data(people)).details["interactions"] == [["a", "b"], ["c", "d"]]


def test_only_uniques_carry_risk_and_nothing_is_undefined():
    people = population(3000, 4)
    weights = np.random.default_rng(0).uniform(0.5, 40, len(people))
    sample = data(people, w=pl.Series(weights)).with_roles(weight="w")
    found = risk.LogLinearRisk().measure(sample)
    is_unique = risk.SampleUniques().measure(sample).per_unit
    assert np.all(found.per_unit[~is_unique] == 0)
    assert np.all(np.isfinite(found.per_unit))
    assert found.value == pytest.approx(found.per_unit.mean())
    assert 0 < found.details["tau1"] < found.details["tau2"] < is_unique.sum()


def test_a_heavier_unique_is_safer():
    people = population(2000, 5)
    weights = np.where(np.arange(len(people)) % 2, 5.0, 50.0)
    found = risk.LogLinearRisk(search="none").measure(
        data(people, w=pl.Series(weights)).with_roles(weight="w")
    )
    alone = found.per_unit > 0
    odd = np.arange(len(people)) % 2 == 1
    assert found.per_unit[alone & odd].mean() > 2 * found.per_unit[alone & ~odd].mean()


def test_codes_are_categories_not_numbers():
    people = population(2000, 6)
    as_text = data(np.char.add("k", (people * 7 % 101).astype(str)))
    as_numbers = data(people)
    measure = risk.LogLinearRisk(sampling_fraction=0.1)
    first, second = measure.measure(as_numbers), measure.measure(as_text)
    np.testing.assert_allclose(first.per_unit, second.per_unit, rtol=1e-9)


def test_everybody_in_the_file():
    people = population(500, 7)
    found = risk.LogLinearRisk().measure(data(people))
    uniques = risk.SampleUniques().measure(data(people)).per_unit.sum()
    assert found.details["tau1"] == found.details["tau2"] == uniques
    assert "whole population" in " ".join(found.warnings)


def test_identity_is_worse_than_coarser_keys():
    census = tacit.datasets.census(1500)
    measure = risk.LogLinearRisk(keys=["region", "sex", "age", "marital"])
    original = measure.measure(census)
    assert measure.measure(census, tacit.Plan().apply(census, seed=1)).value == original.value
    plan = tacit.Plan([tacit.mask.Recode(column="age", width=20)])
    assert measure.measure(census, plan.apply(census, seed=1)).value < original.value


def test_a_model_that_does_not_fit_says_so():
    people = population(20_000, 8)
    found = risk.LogLinearRisk(search="none", sampling_fraction=0.05).measure(data(people))
    assert "too simple" in " ".join(found.warnings)
    assert found.details["standardised_error"]["tau1"] > 2


def test_very_many_combinations_need_no_table_of_them():
    rng = np.random.default_rng(9)
    rows = rng.integers(0, 30, (4000, 9))
    frame = pl.DataFrame(rows, schema=[f"k{j}" for j in range(9)], orient="row")
    wide = Microdata.of(frame).with_roles(keys=frame.columns)
    found = risk.LogLinearRisk(search="none", sampling_fraction=0.01).measure(wide)
    assert found.value > 0.99  # 30^9 cells: everybody is alone


def test_unknown_search():
    with pytest.raises(ParameterError, match="search"):
        risk.LogLinearRisk(search="magic")
