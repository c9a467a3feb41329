"""Membership inference: area under the curve by definition, 0.5 for strangers, 1 for copies."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError
from tacit.risk.membership import share_farther

numbers = st.lists(st.integers(0, 5), min_size=1, max_size=20)


@given(numbers, numbers)
def test_area_equals_counting_pairs(members, others):
    found = share_farther(np.array(members, float), np.array(others, float)).mean()
    wins = [(m < o) + 0.5 * (m == o) for m in members for o in others]
    assert found == pytest.approx(np.mean(wins))


def population(n, seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({c: rng.normal(size=n) for c in "abc"})
    return frame.with_columns(member=pl.Series(np.arange(n) < n // 2))


def test_fresh_draws_tell_nothing_and_copies_all():
    people = population(2000, 1)
    measure = risk.MembershipInference(members="member", attributes=["a", "b", "c"])
    fresh = measure.measure(people, population(900, 2).drop("member"))
    assert fresh.value == pytest.approx(0.5, abs=0.03)
    assert fresh.interval[0] < 0.5 < fresh.interval[1]
    copies = measure.measure(people, people.filter("member").drop("member"))
    assert copies.value == 1
    assert copies.details["exact_copies"] == 1000
    assert np.isnan(copies.per_unit[1000:]).all()


def test_falls_as_noise_grows():
    people = population(1000, 3)
    members = people.filter("member").drop("member")
    measure = risk.MembershipInference(members="member")
    values = []
    for level in (0.05, 0.3, 1.0):
        runs = [
            tacit.Plan([mask.UncorrelatedNoise(columns=list("abc"), level=level)])
            .apply(members, seed=s)
            .frame
            for s in range(3)
        ]
        values.append(np.mean([measure.measure(people, run).value for run in runs]))
    assert all(a > b for a, b in pairwise(values)), values
    assert values[-1] > 0.45


def test_the_part_not_released_is_the_hold_out():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    found = risk.MembershipInference(attributes=["age", "income"]).measure(data, release)
    assert found.details["members"] == found.details["hold_out"] == 150
    assert found.value > 0.7


def test_without_a_hold_out_there_is_no_value():
    found = risk.MembershipInference().measure(tacit.datasets.census(50))
    assert np.isnan(found.value)
    assert found.interval is None
    assert "no hold-out" in found.explanation


def test_interval_by_hand():
    """Hanley and McNeil's standard error for an area of 0.8 with 50 and 40 records."""
    from tacit.risk.membership import _interval

    low, high = _interval(0.8, 50, 40)
    q1, q2 = 0.8 / 1.2, 2 * 0.64 / 1.8
    error = np.sqrt((0.16 + 49 * (q1 - 0.64) + 39 * (q2 - 0.64)) / 2000)
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=1e-4)


def test_categories_of_unpaired_files():
    people = population(200, 5).with_columns(c=pl.Series(list("xy") * 100))
    release = people.filter("member").drop("member")
    measure = risk.MembershipInference(members="member", attributes=["a", "c"])
    assert measure.measure(people, release).value == 1
    with pytest.raises(DataError, match="nothing in common"):
        measure.measure(people, release.with_columns(c=pl.lit("z")))


def test_bad_input():
    people = population(20, 6)
    with pytest.raises(DataError, match="true or false"):
        risk.MembershipInference(members="a").measure(people, people)
    with pytest.raises(DataError, match="cannot be paired"):
        risk.MembershipInference().measure(people, people.head(5))
    with pytest.raises(DataError, match="at least one record"):
        risk.MembershipInference().measure(people, people.clear())
    assert risk.MembershipInference().objection(Microdata.of(pl.DataFrame({"c": ["x"]})))
