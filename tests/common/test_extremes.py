"""Releasing everything as it is, and nothing at all: where every measure must end.

A file released as it is has the most risk and no loss; a file whose records are all the same has
the least risk and the most loss. Measures for which that is not so are listed, with the reason and
what holds in its place.
"""

from functools import cache

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk

N = 300
NUMBERS = ["age", "hours", "income", "taxes"]
CATEGORIES = ["region", "sex", "education", "marital", "occupation"]

OTHER_EXTREMES = {
    "correct-attribution": "a constant file still lets one guess by how common values are; where "
    "no released keys equal anybody's, nothing is attributed at all.",
    "delta-presence": "speaks of who is in the file, not of what it says about them: everybody is "
    "in both files. A small sample is the other extreme.",
    "l-diversity": "if all records have one confidential value, an intruder learns it. Constant "
    "keys over the true values are the other extreme.",
    "linkability": "the halves of a person lie nearest to all records of a constant file alike; a "
    "blurred file need not link them to the same record at all.",
    "matching-people": "the first record's people find themselves in a file of its copies; in a "
    "blurred file nobody may.",
    "membership-inference": "needs people who are not in the file; without them it is not defined.",
}
"""Risks for which a constant release is not the safest, and why."""


def most_links(data, columns):
    """Share of right links if only people with equal values are confused."""
    return data.frame.select(columns).unique().height / data.n_records


def smallest_class(data, columns):
    return data.frame.select(pl.len().over(columns))["len"].min()


def share_unique(data, columns):
    return (data.frame.select(pl.len().over(columns))["len"] == 1).mean()


KEYS_OF_EXAMPLES = {
    "distance-linkage": NUMBERS,
    "rank-linkage": NUMBERS,
    "microaggregation-linkage": NUMBERS,
    "probabilistic-linkage": ["sex", "age", "education", "marital"],
    "k-anonymity": ["region", "sex", "age"],
    "syntactic-models": ["region", "sex"],
    "sample-uniques": ["region", "sex", "age"],
    "replicated-uniques": ["sex", "age", "marital"],
}
LARGEST_RISK = {
    **{key: most_links for key in KEYS_OF_EXAMPLES if key.endswith("linkage")},
    "k-anonymity": smallest_class,
    "syntactic-models": smallest_class,
    "sample-uniques": share_unique,
    "replicated-uniques": share_unique,
    "interval-disclosure": lambda data, columns: 1.0,
    "delta-presence": lambda data, columns: 1.0,
}
"""The value of a file released as it is, counted by other means than the measure's."""
SMALLEST_RISK = {
    **{key: 1 / N for key in KEYS_OF_EXAMPLES if key.endswith("linkage")},
    "k-anonymity": N,
    "syntactic-models": N,
    "sample-uniques": 0,
    "replicated-uniques": 0,
    "population-uniques": 0,
    "log-linear-risk": 0,
    "suda": 0,
    "swapping-risk": 0,
    "t-closeness": 0,
}
"""The value of a constant file."""


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(N)


def blurred(data, k, stay):
    steps = [mask.Mdav(columns=NUMBERS, k=k), mask.Pram(columns=CATEGORIES, stay=stay)]
    return tacit.Plan(steps).apply(data, seed=1)


def constant(data, columns):
    """Give every record the values of the first one."""
    numbered = data.numbered()
    return numbered.with_local(numbered.local.with_columns(pl.col(columns).first()))


@pytest.fixture(scope="module")
def releases(data):
    return {
        "as it is": tacit.Plan().apply(data, seed=1),
        "blurred": blurred(data, 5, 0.8),
        "very blurred": blurred(data, 50, 0.3),
        "constant": constant(data, data.columns),
    }


def harm(measurement):
    """The value, turned so that more is worse."""
    return measurement.value if measurement.better == "lower" else -measurement.value


@pytest.fixture(scope="module")
def measured(data, releases):
    """Function that measures all releases, once."""

    @cache
    def measured(method):
        measure = method(**method.example)
        return {name: measure.measure(data, release) for name, release in releases.items()}

    return measured


every_risk = pytest.mark.parametrize("method", tacit.methods("risk"), ids=lambda m: m.key)
every_utility = pytest.mark.parametrize("method", tacit.methods("utility"), ids=lambda m: m.key)


def test_the_tables_above_name_measures_that_exist():
    keys = {m.key for m in tacit.methods("risk")}
    for table in (OTHER_EXTREMES, KEYS_OF_EXAMPLES, LARGEST_RISK, SMALLEST_RISK):
        assert set(table) <= keys


@every_risk
def test_a_file_released_as_it_is_has_the_largest_risk(method, data, measured):
    found = measured(method)
    if method.key == "membership-inference":
        assert np.isnan(found["as it is"].value)
        return
    largest = harm(found["as it is"])
    for name, measurement in found.items():
        assert harm(measurement) <= largest + 1e-9, name
    assert method(**method.example).measure(data).value == pytest.approx(found["as it is"].value)
    if method.key in LARGEST_RISK:
        expected = LARGEST_RISK[method.key](data, KEYS_OF_EXAMPLES.get(method.key))
        assert found["as it is"].value == pytest.approx(expected)


@every_risk
def test_a_constant_file_has_the_smallest_risk(method, measured):
    if method.key in OTHER_EXTREMES:
        pytest.skip(OTHER_EXTREMES[method.key])
    found = measured(method)
    smallest = harm(found["constant"])
    for name, measurement in found.items():
        assert harm(measurement) >= smallest - 1e-9, name
    assert smallest < harm(found["as it is"])
    if method.key in SMALLEST_RISK:
        assert found["constant"].value == pytest.approx(SMALLEST_RISK[method.key])


@every_utility
def test_a_file_released_as_it_is_has_lost_nothing(method, data, measured):
    found = measured(method)["as it is"]
    best = 1.0 if found.better == "higher" and found.bounds[1] == 1 else 0.0
    assert found.value == pytest.approx(best, abs=1e-9)
    assert method(**method.example).measure(data).value == pytest.approx(best, abs=1e-9)


@every_utility
def test_a_constant_file_has_lost_most(method, measured):
    found = measured(method)
    assert harm(found["as it is"]) < harm(found["constant"])
    for name in ("blurred", "very blurred"):
        assert harm(found["as it is"]) <= harm(found[name]) + 1e-9, name
        assert harm(found[name]) < harm(found["constant"]), name


# -- the listed ones ------------------------------------------------------------------------------


def test_a_constant_file_attributes_no_more_than_a_guess(data):
    measure = risk.CorrectAttribution(keys=["sex", "marital"], targets=["occupation"])
    found = measure.measure(data, constant(data, data.columns)).value
    shares = data.frame["occupation"].drop_nulls().value_counts(normalize=True)["proportion"]
    assert found == pytest.approx((shares**2).sum())
    assert found < measure.measure(data).value


def test_presence_is_uncertain_in_a_small_sample(data):
    measure = risk.DeltaPresence(keys=["sex"])
    sample = tacit.Plan([mask.Sample(fraction=0.1)]).apply(data, seed=1)
    assert measure.measure(data).value == 1
    assert measure.measure(data, sample).value < 0.2


def test_diversity_is_largest_where_keys_tell_nothing(data):
    keys, confidential = ["region", "sex"], ["marital"]
    for reading in ("distinct", "entropy", "recursive"):
        measure = risk.LDiversity(keys=keys, confidential=confidential, reading=reading)
        as_it_is = measure.measure(data).value
        together = measure.measure(data, constant(data, keys)).value
        assert together > as_it_is
        in_all = measure.replace(keys=["one"]).measure(data.frame.with_columns(one=pl.lit(1)))
        assert together == in_all.value


def test_membership_shows_in_the_members_themselves_and_not_in_a_constant():
    rng = np.random.default_rng(3)
    people = pl.DataFrame({"x": rng.normal(size=200), "in": np.arange(200) % 2 == 0})
    members = people.filter(pl.col("in")).drop("in")
    measure = risk.MembershipInference(attributes=["x"], members="in")
    assert measure.measure(people, members).value == 1
    flat = measure.measure(people, members.with_columns(pl.all().first()))
    assert flat.value == pytest.approx(0.5, abs=0.1)
