"""New numbers: the same units, under names that lead nowhere."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import SchemaError
from tacit.core.schema import Kind, Role


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.none() | st.sampled_from(["a", "b", "č", "日", ""]), max_size=20), st.integers(0, 9)
)
def test_equal_values_get_equal_numbers_and_others_others(values, seed):
    before = pl.DataFrame({"id": values}, schema={"id": pl.String})
    after = tacit.Plan([mask.NewIdentifiers(columns=["id"])]).apply(before, seed=seed).frame["id"]
    pairs = set(zip(before["id"], after, strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert after.is_null().equals(before["id"].is_null())
    assert set(after.drop_nulls()) == set(range(1, before["id"].drop_nulls().n_unique() + 1))


def test_members_keep_a_common_household_number_and_the_role():
    data = tacit.datasets.census(500)
    release = tacit.Plan([mask.NewIdentifiers()]).apply(data, seed=3)
    both = pl.DataFrame({"old": data.frame["household"], "new": release.frame["household"]})
    assert both.n_unique() == both["old"].n_unique() == both["new"].n_unique()
    assert release.data.schema.household == "household"
    assert release.frame.drop("household").equals(data.frame.drop("person_id", "household"))


def test_new_numbers_do_not_follow_the_old_order():
    before = pl.DataFrame({"id": np.arange(2000)})
    after = tacit.Plan([mask.NewIdentifiers(columns=["id"])]).apply(before, seed=1).frame["id"]
    assert abs(np.corrcoef(before["id"], after)[0, 1]) < 0.1


def test_numbers_from_one_list_keep_links_between_columns():
    before = pl.DataFrame({"person": [11, 12, 13], "partner": [12, 11, None]})
    method = mask.NewIdentifiers(columns=["person", "partner"], together=True)
    for seed in range(5):
        after = tacit.Plan([method]).apply(before, seed=seed).frame
        assert after["partner"].to_list() == [after["person"][1], after["person"][0], None]
    mixed = before.with_columns(pl.col("partner").cast(pl.String))
    after = tacit.Plan([method]).apply(mixed, seed=1).frame
    assert after["partner"].to_list() == [after["person"][1], after["person"][0], None]


def test_order_hierarchy_and_rules_of_the_column_no_longer_apply():
    data = tacit.datasets.census(100)
    release = tacit.Plan([mask.NewIdentifiers(columns=["region", "hours"])]).apply(data, seed=1)
    for name in ("region", "hours"):
        assert release.data.schema[name].kind is Kind.NOMINAL
        assert release.data.schema[name].hierarchy is None
    assert Role.KEY in release.data.schema["region"].roles
    assert not [r for r in release.data.schema.constraints if "hours" in r.columns]
    assert release.data.schema.constraints


def test_what_identifies_nobody_is_refused():
    data = tacit.datasets.census(10)
    with pytest.raises(SchemaError, match="weight"):
        tacit.Plan([mask.NewIdentifiers(columns=["weight"])]).apply(data)
    with pytest.raises(SchemaError, match="identifies units"):
        tacit.Plan([mask.NewIdentifiers()]).apply(data.drop(["household"]))
    with pytest.raises(SchemaError, match="no column 'nobody'"):
        tacit.Plan([mask.NewIdentifiers(columns=["nobody"])]).apply(data)
