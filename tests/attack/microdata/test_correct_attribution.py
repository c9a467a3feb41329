"""Look-up in synthetic data: copies of people tell, fresh draws from the relation do not."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import tacit
from tacit import attack, mask
from tacit.attack.microdata.correct_attribution import looked_up


@pytest.fixture(scope="module")
def data():
    """Illness depends on age; the place is unrelated and makes people almost unique."""
    rng = np.random.default_rng(8)
    return people(rng, 800)


def people(rng, n):
    age, place = rng.integers(0, 40, n), rng.integers(0, 400, n)
    frame = pl.DataFrame({"age": age, "place": place.astype(str), "ill": illness(rng, age)})
    return tacit.Microdata.of(frame).with_roles(keys=["age", "place"], confidential=["ill"])


def illness(rng, age):
    return np.where(rng.random(len(age)) < 0.3 + 0.4 * (age > 20), "yes", "no")


def noisy_copy(data, rng, kept):
    """Return records of nobody: everybody's keys, and the own illness with a chance."""
    table = data.local
    own = table["ill"].to_numpy()
    told = np.where(rng.random(len(own)) < kept, own, illness(rng, table["age"].to_numpy()))
    made = data.with_local(table.with_columns(pl.Series("ill", told)))
    return nobody(made)


def nobody(data):
    """Return a release none of whose records is that of a person."""
    rows = pl.Series("__tacit_row__", np.full(data.n_records, -1))
    return data.with_local(data.local.with_columns(rows))


def target(data, rng, m, kept):
    first, *copies = (noisy_copy(data, rng, kept) for _ in range(m))
    return attack.MicrodataTarget(data, first, copies=tuple(copies))


def test_the_value_of_most_records_with_the_keys_is_named():
    """By hand: keys 1 have a, a, b; keys 2 have a and b; keys 3 nothing, and a is most common."""
    keys = np.array([[1], [1], [1], [2], [2], [9]])
    value = np.array([0, 0, 1, 0, 1, -1])
    found = looked_up(keys, value, np.array([[1], [1], [2], [3], [3]]), np.array([0, 1, 1, 0, 1]))
    assert found.tolist() == [1.0, 0.0, 0.5, 1.0, 0.0]


def test_one_data_set_succeeds_as_often_as_values_are_kept(data):
    """Own illness with chance 0.8, else one drawn anew: right in 0.8 + 0.2 (p^2 + q^2)."""
    found = attack.CorrectAttribution().run(target(data, np.random.default_rng(1), 1, 0.8))
    alone = data.local.select(n=pl.len().over("age", "place"))["n"].to_numpy() == 1
    by_hand = 0.8 + 0.2 * (0.3**2 + 0.7**2)
    assert found.leaked
    assert alone.mean() > 0.9  # where keys are shared, the values of others are mixed in
    assert found.success.low <= by_hand <= found.success.high


def test_five_data_sets_tell_more_than_one(data):
    """Own values with chance 0.4, else drawn anew: most of five are right more often than one.

    Given a person's own value v, a set has it with chance 0.4 + 0.6 P(v): 0.82 or 0.58.
    """
    one, five = (
        attack.CorrectAttribution().run(target(data, np.random.default_rng(2), m, 0.4))
        for m in (1, 5)
    )
    chance = np.array([0.82, 0.58])
    assert one.success.low <= [0.7, 0.3] @ chance <= one.success.high
    assert five.success.low <= [0.7, 0.3] @ binom.sf(2, 5, chance) <= five.success.high
    assert five.success.value > one.success.value + 0.05
    assert five.leaked
    assert five.details["data_sets"] == 5
    assert "data_sets" not in one.details


def test_fresh_draws_from_the_relation_are_no_leak(data):
    """Five sets together are smoother than the truth, and still tell only what everybody knows."""
    found = attack.CorrectAttribution().run(target(data, np.random.default_rng(3), 5, 0.0))
    assert not found.leaked
    assert found.success.value > 0.55  # they are useful


@pytest.mark.parametrize("m", [1, 5])
def test_the_default_synthesiser_is_not_broken(m):
    release = tacit.Plan([mask.Synthesise(m=m)]).apply(tacit.datasets.census(600), seed=1)
    report = attack.audit(release)
    assert {"correct-attribution", "attribute-inference"} <= {f.key for f in report}
    assert report.passed, report.summary()
    assert ("in 5 data sets" in report.target) == (m == 5)  # households: sets of other sizes


def test_records_of_people_are_left_to_other_attacks(data):
    report = attack.audit((data, data), attacks=[attack.CorrectAttribution()])
    assert "are those of people" in report.left_out["correct-attribution"]


def test_a_column_suppressed_altogether_tells_nothing(data):
    gone = nobody(data).with_missing({"ill": np.ones(data.n_records, dtype=bool)})
    made = attack.MicrodataTarget(data, gone)
    for one in (attack.CorrectAttribution(), attack.AttributeInference()):
        assert not one.run(made).leaked
