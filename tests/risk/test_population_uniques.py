"""Population uniques: estimators against populations whose uniques are known."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tacit
from tacit import Microdata, risk
from tacit.core.errors import ParameterError


def microdata(x):
    return Microdata.of(pl.DataFrame({"x": x})).with_roles(keys=["x"])


def sampled(population, fraction, rng):
    """Sample a population of class numbers; return the sample and what is true of its uniques."""
    chosen = population[rng.random(len(population)) < fraction]
    size_of = np.bincount(population)
    values, counts = np.unique(chosen, return_counts=True)
    uniques = values[counts == 1]
    return chosen, float(np.mean(size_of[uniques] == 1))


def pitman_population(n, alpha, theta, rng):
    """Chinese restaurant with two parameters."""
    tables, of = np.zeros(n), np.empty(n, dtype=int)
    n_tables = 0
    for i in range(n):
        if rng.random() < (theta + alpha * n_tables) / (theta + i):
            of[i] = n_tables
            n_tables += 1
        else:
            # a person seated at random leads to a table with probability proportional to its size
            at = of[rng.integers(i)]
            while rng.random() < alpha / tables[at]:
                at = of[rng.integers(i)]
            of[i] = at
        tables[of[i]] += 1
    return of


def gamma_population(n_classes, shape, mean, rng):
    sizes = rng.poisson(rng.gamma(shape, mean / shape, n_classes))
    return np.repeat(np.arange(n_classes), sizes)


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_pitman_estimator_on_its_own_model(fraction):
    rng = np.random.default_rng(3)
    population = pitman_population(40_000, 0.6, 50.0, rng)
    sample, truth = sampled(population, fraction, rng)
    measure = risk.PopulationUniques(estimator="pitman", sampling_fraction=fraction)
    found = measure.measure(microdata(sample))
    assert found.details["unique_given_sample_unique"]["pitman"] == pytest.approx(truth, rel=0.15)
    assert found.details["parameters"]["pitman"]["alpha"] == pytest.approx(0.6, abs=0.06)
    low, high = found.interval
    assert low < found.value < high < 1.5 * low


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_negative_binomial_estimator_on_its_own_model(fraction):
    rng = np.random.default_rng(4)
    population = gamma_population(60_000, 0.5, 4.0, rng)
    sample, truth = sampled(population, fraction, rng)
    measure = risk.PopulationUniques(estimator="negative-binomial", sampling_fraction=fraction)
    found = measure.measure(microdata(sample))
    estimate = found.details["unique_given_sample_unique"]["negative-binomial"]
    assert estimate == pytest.approx(truth, rel=0.25)
    uniques = np.sum(np.bincount(population) == 1)
    in_population = found.details["estimated_population_uniques"]["negative-binomial"]
    assert in_population == pytest.approx(uniques, rel=0.25)


def test_poisson_estimator_on_its_own_model():
    rng = np.random.default_rng(5)
    population = np.repeat(np.arange(30_000), rng.poisson(2.0, 30_000))
    sample, truth = sampled(population, 0.3, rng)
    found = risk.PopulationUniques(estimator="poisson", sampling_fraction=0.3)
    found = found.measure(microdata(sample))
    assert found.details["unique_given_sample_unique"]["poisson"] == pytest.approx(truth, rel=0.1)


def test_intervals_cover_the_truth_of_their_model():
    n_covered, n_trials = 0, 40
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        population = gamma_population(6000, 0.7, 3.0, rng)
        sample, _ = sampled(population, 0.3, rng)
        measure = risk.PopulationUniques(estimator="negative-binomial", sampling_fraction=0.3)
        found = measure.measure(microdata(sample))
        share = found.details["sample_uniques"] / len(sample)
        low, high = (limit / share for limit in found.interval)
        # what the model itself says of a sample unique: shape 0.7, rate b = 0.7 / (3 * 0.3)
        b = 0.7 / (3 * 0.3)
        n_covered += low <= (0.3 * (b + 1) / (0.3 * b + 1)) ** 1.7 <= high
    assert n_covered >= 34


def test_zayatz_by_hand():
    # classes 1, 1, 2 in the sample of four out of eight
    found = risk.PopulationUniques(estimator="zayatz", sampling_fraction=0.5)
    found = found.measure(microdata(["a", "b", "c", "c"]))
    h1, h2 = (stats.hypergeom.pmf(1, 8, j, 4) for j in (1, 2))
    assert found.value == pytest.approx(0.5 * 2 * h1 / (2 * h1 + h2))
    assert (h1, h2) == (pytest.approx(1 / 2), pytest.approx(4 / 7))


def test_choice_by_sampling_fraction():
    census = tacit.datasets.census(1000)
    keys = ["region", "sex", "age"]
    chosen = [
        risk.PopulationUniques(keys=keys, sampling_fraction=f).measure(census) for f in (0.1, 0.4)
    ]
    assert chosen[0].details["estimator"] == "pitman"
    probabilities = chosen[1].details["unique_given_sample_unique"]
    best = chosen[1].details["estimator"]
    assert probabilities[best] == min(probabilities[k] for k in ("zayatz", "negative-binomial"))


def test_more_of_the_population_in_the_file_means_more_certain_uniques():
    census = tacit.datasets.census(1000)
    for estimator in ("poisson", "negative-binomial", "pitman", "zayatz"):
        values = [
            risk.PopulationUniques(
                keys=["region", "sex", "age"], estimator=estimator, sampling_fraction=f
            )
            .measure(census)
            .value
            for f in (0.01, 0.1, 0.5, 1.0)
        ]
        assert values == sorted(values)
        assert values[-1] == risk.SampleUniques(keys=["region", "sex", "age"]).measure(census).value


@pytest.mark.parametrize("estimator", ["auto", "poisson", "negative-binomial", "pitman", "zayatz"])
@pytest.mark.parametrize(
    ("x", "value"), [(["a", "a", "b", "b"], 0.0), (["a", "b", "c"], 1.0), (["a"], 1.0)]
)
def test_all_or_none_unique(estimator, x, value):
    measure = risk.PopulationUniques(estimator=estimator, sampling_fraction=0.1)
    found = measure.measure(microdata(x))
    assert found.value == value
    json.dumps(found.as_dict(), allow_nan=False)


def test_small_files_do_not_break_the_fits():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.integers(0, 6, 7)
        found = risk.PopulationUniques(sampling_fraction=0.05).measure(microdata(x))
        assert 0 <= found.value <= 1


def test_disagreement_is_said():
    rng = np.random.default_rng(1)
    x = np.concatenate([np.arange(300), rng.integers(1000, 1010, 5000)])
    found = risk.PopulationUniques(sampling_fraction=0.01).measure(microdata(x))
    spread = found.details["unique_given_sample_unique"]
    large = max(spread[k] for k in ("negative-binomial", "pitman", "zayatz"))
    small = min(spread[k] for k in ("negative-binomial", "pitman", "zayatz"))
    assert ("factor of three" in " ".join(found.warnings)) == (large > 3 * small)


def test_unknown_estimator():
    with pytest.raises(ParameterError, match="estimator"):
        risk.PopulationUniques(estimator="guess")
