"""MDAV on numbers and categories: k-anonymity on any keys."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.mask.mixed_mdav import _Part, _raw_distances, _Table, mixed_groups

KEYS = ["age", "sex", "education", "marital", "region"]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_a_breaker_finds_no_combination_of_fewer_than_k(k, missing):
    data = tacit.datasets.census(400, missing=missing)
    frame = tacit.Plan([mask.MixedMdav(columns=KEYS, k=k)]).apply(data, seed=1).frame
    counts = frame.group_by(KEYS).len()
    known = counts.filter(~pl.all_horizontal(pl.col(KEYS).is_null()))
    assert known["len"].min() >= k


def test_values_come_from_the_data_and_means_are_kept():
    data = tacit.datasets.census(300)
    frame = tacit.Plan([mask.MixedMdav(columns=KEYS, k=4)]).apply(data, seed=1).frame
    for column in ("sex", "education", "marital", "region"):
        assert set(frame[column]) <= set(data.frame[column])
        assert frame[column].dtype == data.frame[column].dtype
    weight = data.frame["weight"]
    assert (frame["age"] * weight).sum() == pytest.approx((data.frame["age"] * weight).sum())
    assert frame["income"].equals(data.frame["income"])


def test_all_numeric_data_are_grouped_as_mdav_groups_them():
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"a": rng.standard_normal(200), "b": rng.standard_normal(200)})
    mixed = tacit.Plan([mask.MixedMdav(columns=["a", "b"], k=3)]).apply(table, seed=1).frame
    plain = tacit.Plan([mask.Mdav(columns=["a", "b"], k=3)]).apply(table, seed=1).frame
    assert np.allclose(mixed.to_numpy(), plain.to_numpy())


def test_ordinal_median_and_nominal_mode_by_hand():
    table = pl.DataFrame({"o": ["low", "mid", "high"], "n": ["x", "y", "x"]})
    data = tacit.Microdata.of(table).with_categories(o=["low", "mid", "high"])
    frame = tacit.Plan([mask.MixedMdav(columns=["o", "n"], k=3)]).apply(data, seed=1).frame
    assert frame["o"].to_list() == ["mid"] * 3
    assert frame["n"].to_list() == ["x"] * 3


def test_a_hierarchy_brings_siblings_together():
    tree = tacit.Tree(
        paths=(("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"))
    )
    data = tacit.Microdata.of(pl.DataFrame({"c": ["a1", "b1", "a2", "b2"]}))
    variable = data.with_hierarchies(c=tree).schema["c"]
    distance = _raw_distances(variable, ["a1", "a2", "b1"])
    assert distance[0].tolist() == [0.0, 0.25, 1.0]
    frame = (
        tacit.Plan([mask.MixedMdav(columns=["c"], k=2)])
        .apply(data.with_hierarchies(c=tree), seed=1)
        .frame
    )
    assert frame["c"].str.slice(0, 1).to_list() == ["a", "b", "a", "b"]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_group_has_k_to_2k_less_1_members(drawn):
    n, k = drawn.draw(st.integers(4, 40)), drawn.draw(st.integers(2, 4))
    columns = {
        "x": drawn.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        "c": drawn.draw(st.lists(st.sampled_from("pqrs"), min_size=n, max_size=n)),
        "flag": drawn.draw(st.lists(st.booleans(), min_size=n, max_size=n)),
    }
    data = tacit.Microdata.of(pl.DataFrame(columns))
    table = _Table.of(data, ("x", "c", "flag"))
    sizes = np.bincount(mixed_groups(_Part.of(table, np.arange(n)), k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


def test_too_many_categories_and_too_few_records_are_refused():
    table = pl.DataFrame({"t": [str(i) for i in range(4000)]})
    with pytest.raises(DataError, match="too many categories"):
        tacit.Plan([mask.MixedMdav(columns=["t"], k=3)]).apply(table)
    with pytest.raises(DataError, match="k = 3"):
        tacit.Plan([mask.MixedMdav(columns=["t"], k=3)]).apply(table.head(2))
