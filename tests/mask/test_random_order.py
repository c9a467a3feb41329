"""Random order: the same records, their old places lost."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import SchemaError


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(0, 99), st.booleans())
def test_the_records_are_the_same_and_remember_where_they_came_from(n, seed, whole):
    data = tacit.datasets.census(n, missing=0.2)
    release = tacit.Plan([mask.RandomOrder(whole_households=whole)]).apply(data, seed=seed)
    assert sorted(release.rows.tolist()) == list(range(n))
    original = data.drop(["person_id"]).frame
    assert release.frame.equals(original[release.rows])


def test_households_stay_together_on_request_only():
    data = tacit.datasets.census(400)

    def n_changes(whole):
        plan = tacit.Plan([mask.RandomOrder(whole_households=whole)])
        return (plan.apply(data, seed=1).frame["household"].diff().drop_nulls() != 0).sum()

    n_households = data.frame["household"].n_unique()
    assert n_changes(True) == n_households - 1
    assert n_changes(False) > 1.2 * n_households


def test_every_place_is_equally_likely():
    data = tacit.Microdata.of(pl.DataFrame({"x": range(5)}))
    plan = tacit.Plan([mask.RandomOrder()])
    seen = np.zeros((5, 5))
    for seed in range(2000):
        seen[np.arange(5), plan.apply(data, seed=seed).rows] += 1
    assert np.abs(seen / 2000 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 2000)


def test_knowledge_follows_its_record():
    data = tacit.datasets.census(30)
    data = data.with_knowledge(some={"income": np.arange(30) < 3})
    release = tacit.Plan([mask.RandomOrder()]).apply(data, seed=1)
    known = release.data.knowledge.known("income", 30)
    assert set(release.rows[known]) == {0, 1, 2}


def test_without_a_household_column_households_cannot_be_kept():
    with pytest.raises(SchemaError, match="household"):
        tacit.Plan([mask.RandomOrder(whole_households=True)]).apply(pl.DataFrame({"x": [1]}))
