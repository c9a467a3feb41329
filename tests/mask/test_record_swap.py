"""Targeted record swapping: households move whole, tables of area by profile stay."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import ParameterError, SchemaError


def people(n_households=2000, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 6, n_households)
    nuts1 = rng.integers(1, 4, n_households)
    nuts2 = nuts1 * 10 + rng.integers(1, 5, n_households)
    per_person = {
        "hid": np.repeat(np.arange(n_households), size),
        "nuts1": np.repeat(nuts1, size),
        "nuts2": np.repeat(nuts2, size),
        "size": np.repeat(size, size),
        "age": rng.integers(0, 8, size.sum()),
        "sex": rng.integers(0, 2, size.sum()),
        "country": rng.choice(["home", "near", "far"], size.sum(), p=[0.9, 0.09, 0.01]),
    }
    return pl.DataFrame(per_person)


def swapped(table, seed=1, **parameters):
    given = {
        "geography": ["nuts1", "nuts2"],
        "risk": ["age", "sex", "country"],
        "similar": (("size",),),
    }
    data = tacit.Microdata.of(table).with_roles(household="hid")
    plan = tacit.Plan([mask.RecordSwap(**(given | parameters))])
    return plan.apply(data, seed=seed).frame


def test_members_stay_together_and_only_places_change():
    before = people()
    after = swapped(before)
    assert after.group_by("hid").agg(pl.struct("nuts1", "nuts2").n_unique())["nuts1"].max() == 1
    others = [c for c in before.columns if not c.startswith("nuts")]
    assert after[others].equals(before[others])
    assert not after["nuts2"].equals(before["nuts2"])
    assert (after["nuts2"] // 10 == after["nuts1"]).all()


def test_area_by_profile_counts_of_households_and_persons_are_kept_exactly():
    before = people()
    after = swapped(before)

    def counts(frame):
        return sorted(frame.group_by("nuts1", "nuts2", "size").len().rows())

    assert counts(before) == counts(after)


def test_households_at_risk_have_moved_out_of_their_area():
    before = people()
    after = swapped(before, k=4, rate=0.0)
    rare = before.with_columns(n=pl.len().over("nuts1", "age", "sex", "country"))
    at_risk = rare.filter(pl.col("n") < 4)["hid"].unique()
    was = before.unique("hid").sort("hid")
    now = after.unique("hid").sort("hid")
    chosen = was["hid"].is_in(at_risk.to_list())
    assert chosen.sum() > 20
    assert (was["nuts1"] != now["nuts1"]).filter(chosen).mean() > 0.95


def test_a_swap_inside_the_larger_area_is_preferred_at_the_lower_level():
    before = people()
    after = swapped(before, k=0, rate=0.2)
    was, now = before.unique("hid").sort("hid"), after.unique("hid").sort("hid")
    moved = was["nuts2"] != now["nuts2"]
    assert moved.mean() == pytest.approx(0.2, abs=0.02)
    assert (was["nuts1"] == now["nuts1"]).filter(moved).mean() > 0.95


def test_the_next_profile_is_used_where_the_first_has_no_partner():
    before = people(300).with_columns(unique=pl.col("hid"))
    alone = swapped(before, k=0, rate=0.3, similar=(("unique",),))
    assert alone["nuts2"].equals(before["nuts2"])
    helped = swapped(before, k=0, rate=0.3, similar=(("unique",), ("size",)))
    assert not helped["nuts2"].equals(before["nuts2"])


def test_without_a_household_column_each_record_is_its_own():
    before = people(400).with_columns(square=pl.col("nuts2") * 7)
    method = mask.RecordSwap(
        geography=["nuts1", "nuts2"], risk=["age"], rate=0.2, carry_along=["square"]
    )
    after = tacit.Plan([method]).apply(before, seed=1).frame
    assert (after["square"] == after["nuts2"] * 7).all()
    assert not after["nuts2"].equals(before["nuts2"])


def test_split_households_and_places_used_as_profiles_are_refused():
    broken = people(50).with_columns(nuts2=pl.int_range(pl.len()))
    with pytest.raises(SchemaError, match="one place"):
        swapped(broken)
    with pytest.raises(ParameterError, match="place"):
        mask.RecordSwap(geography=["a"], risk=["a"])


@pytest.mark.parametrize("role", ["carry_along", "similar"])
def test_columns_in_which_members_differ_are_refused(role):
    table = pl.DataFrame(
        {"h": [1, 1, 2, 2], "g": list("aabb"), "sex": list("mfmf"), "c": [1, 2, 3, 4]}
    )
    data = tacit.Microdata.of(table).with_roles(household="h")
    given = {"carry_along": ["c"]} if role == "carry_along" else {"similar": [["c"]]}
    method = mask.RecordSwap(geography=["g"], risk=["sex"], **given)
    with pytest.raises(SchemaError, match="same for all members"):
        tacit.Plan([method]).apply(data, seed=1)
