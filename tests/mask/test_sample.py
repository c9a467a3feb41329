"""Sampling: sizes, strata, households, weights."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.mask import Sample
from tacit.mask.sample import _equal_shares, _rounded_to_total


def rng(seed=5):
    return np.random.default_rng(seed)


def microdata(**columns):
    return tacit.Microdata.of(pl.DataFrame(columns))


def numbered(n):
    return microdata(i=list(range(n)))


def drawn(data, seed=5, **parameters):
    return Sample(**parameters).apply(data, rng(seed))


def test_ten_records_at_four_fifths_are_eight():
    assert drawn(numbered(10), fraction=0.8).n_records == 8


@pytest.mark.parametrize(("n", "fraction", "size"), [(10, 0.25, 3), (100, 0.29, 29), (7, 1.0, 7)])
def test_fraction_rounds_half_up(n, fraction, size):
    assert drawn(numbered(n), fraction=fraction).n_records == size


def test_records_keep_their_order_and_are_not_repeated():
    values = drawn(numbered(1000), fraction=0.3).frame["i"].to_list()
    assert values == sorted(set(values))
    assert len(values) == 300


def test_with_replacement_may_repeat_and_exceed():
    values = drawn(numbered(5), size=50, replacement=True).frame["i"].to_list()
    assert len(values) == 50
    assert set(values) <= set(range(5))
    assert values == sorted(values)


def test_every_record_has_the_same_chance():
    counts = np.zeros(10)
    for seed in range(2000):
        counts[drawn(numbered(10), seed=seed, size=3).frame["i"].to_numpy()] += 1
    expected, spread = 600, np.sqrt(2000 * 0.3 * 0.7)
    assert np.all(np.abs(counts - expected) < 5 * spread)


def test_with_replacement_every_record_has_the_same_chance():
    data = microdata(s=["a"] * 4 + ["b"] * 8, i=list(range(12)))
    values = drawn(data, size=120_000, replacement=True, by="s").frame["i"].to_numpy()
    counts = np.bincount(values, minlength=12)
    assert np.all(np.abs(counts - 10_000) < 5 * np.sqrt(10_000))


def test_rows_point_to_the_original_records():
    release = tacit.Plan([Sample(fraction=0.5)]).apply(numbered(20), seed=1)
    assert release.rows.tolist() == release.frame["i"].to_list()


def test_proportional_strata():
    data = microdata(s=["a"] * 60 + ["b"] * 30 + ["c"] * 10)
    counts = drawn(data, fraction=0.1, by="s").frame["s"].value_counts()
    assert dict(counts.rows()) == {"a": 6, "b": 3, "c": 1}


def test_equal_strata_take_small_ones_whole():
    data = microdata(s=["a"] * 60 + ["b"] * 30 + ["c"] * 2)
    counts = drawn(data, size=20, by="s", allocation="equal").frame["s"].value_counts()
    assert dict(counts.rows()) == {"a": 9, "b": 9, "c": 2}


def test_missing_values_are_a_stratum():
    data = microdata(s=["a"] * 10 + [None] * 10)
    sample = drawn(data, fraction=0.5, by="s").frame
    assert sample["s"].null_count() == 5


def test_ties_between_strata_are_drawn_by_lot():
    data = microdata(s=list(range(100)))
    first = drawn(data, seed=1, fraction=0.5, by="s").frame["s"].to_list()
    second = drawn(data, seed=2, fraction=0.5, by="s").frame["s"].to_list()
    assert len(first) == len(second) == 50
    assert first != second


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=30),
    share=st.floats(0.01, 1),
    seed=st.integers(0, 100),
)
def test_allocations_add_up_and_fit(sizes, share, seed):
    sizes = np.array(sizes)
    wanted = max(1, int(share * sizes.sum()))
    for shares in (wanted * sizes / sizes.sum(), _equal_shares(wanted, sizes, len(sizes))):
        n_drawn = _rounded_to_total(shares, wanted, rng(seed))
        assert n_drawn.sum() == wanted
        assert np.all((n_drawn >= 0) & (n_drawn <= sizes))
        assert np.all(np.abs(n_drawn - shares) < 1 + 1e-6)


def test_weights_keep_the_population_of_each_stratum():
    n = 90
    data = microdata(s=["a"] * 60 + ["b"] * 30, w=[2.0] * n).with_roles(weight="w")
    sample = drawn(data, size=20, by="s", allocation="equal").frame
    totals = dict(sample.group_by("s").agg(pl.col("w").sum()).rows())
    assert totals == pytest.approx({"a": 120.0, "b": 60.0})


def test_weights_with_replacement_keep_the_total():
    data = microdata(w=[1] * 40).with_roles(weight="w")
    sample = drawn(data, size=100, replacement=True).frame
    assert sample["w"].sum() == pytest.approx(40)


def test_weighted_total_is_unbiased():
    values = np.arange(50.0)
    data = microdata(x=values, w=np.full(50, 3.0)).with_roles(weight="w")
    totals = []
    for seed in range(400):
        sample = drawn(data, seed=seed, fraction=0.3).frame
        totals.append((sample["x"] * sample["w"]).sum())
    assert np.mean(totals) == pytest.approx(3 * values.sum(), rel=0.03)


def test_reweight_off_leaves_weights():
    data = microdata(w=[2.0] * 10).with_roles(weight="w")
    assert drawn(data, fraction=0.5, reweight=False).frame["w"].to_list() == [2.0] * 5


def test_bad_weights_are_refused():
    data = microdata(w=[1.0, 0.0, None]).with_roles(weight="w")
    with pytest.raises(DataError, match="weight"):
        drawn(data, size=3)


HOUSEHOLDS = microdata(
    h=["x", "x", "y", "z", "z", "z", None, None], w=[1.0] * 8, r=[1, 1, 2, 2, 2, 2, 1, 1]
).with_roles(household="h", weight="w")


def test_whole_households_stay_whole():
    for seed in range(20):
        sample = drawn(HOUSEHOLDS, seed=seed, size=2, whole_households=True).frame
        sizes = dict(sample.drop_nulls("h").group_by("h").len().rows())
        assert all(sizes[h] == {"x": 2, "y": 1, "z": 3}[h] for h in sizes)
        assert len(sizes) + sample["h"].null_count() == 2
        assert sample["w"].to_list() == [2.5] * len(sample)


def test_whole_households_in_strata():
    sample = drawn(HOUSEHOLDS, size=3, by="r", whole_households=True).frame
    per_stratum = {r: part for (r,), part in sample.group_by("r")}
    assert set(per_stratum) <= {1, 2}


def test_households_across_strata_are_refused():
    data = microdata(h=[1, 1, 2], s=["a", "b", "a"]).with_roles(household="h")
    with pytest.raises(DataError, match="1 households across several strata of s"):
        drawn(data, size=1, by="s", whole_households=True)


def test_whole_households_need_the_role():
    with pytest.raises(SchemaError, match="household"):
        drawn(numbered(3), size=1, whole_households=True)


def test_whole_households_with_replacement_is_refused():
    with pytest.raises(ParameterError, match="'whole_households' with 'replacement'"):
        Sample(size=1, replacement=True, whole_households=True)


def test_fraction_that_leaves_nothing():
    with pytest.raises(DataError, match=r"fraction of 0\.1 leaves nothing.*3 records"):
        drawn(numbered(3), fraction=0.1)


def test_size_beyond_the_file():
    with pytest.raises(DataError, match=r"sample of 5 records without replacement.*got 3 records"):
        drawn(numbered(3), size=5)


def test_empty_file():
    with pytest.raises(DataError, match="no records"):
        drawn(microdata(i=pl.Series([], dtype=pl.Int64)), fraction=0.5)


def test_unknown_stratum_suggests():
    with pytest.raises(SchemaError, match="did you mean 'region'"):
        drawn(microdata(region=[1, 2]), size=1, by="regoin")


@pytest.mark.parametrize("given", [{}, {"fraction": 0.5, "size": 3}])
def test_exactly_one_of_fraction_and_size(given):
    with pytest.raises(ParameterError, match="either 'fraction' or 'size'"):
        Sample(**given)


@pytest.mark.parametrize(
    ("name", "value"), [("fraction", 0), ("fraction", 1.2), ("size", 0), ("size", 2.5)]
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ParameterError, match=f"'{name}"):
        Sample(**{name: value})


def test_knowledge_follows_the_records():
    data = numbered(6).with_knowledge(some={"i": [True, False] * 3})
    sample = drawn(data, size=3)
    assert sample.knowledge.some["i"].tolist() == [i % 2 == 0 for i in sample.frame["i"]]


def test_a_million_records_in_strata():
    n = 1_000_000
    data = microdata(s=np.arange(n) % 97)
    counts = drawn(data, fraction=0.1, by="s").frame["s"].value_counts()["count"]
    assert counts.sum() == n // 10
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"fraction": 0.8}, "80 % of the records were drawn at random without replacement"),
        (
            {"size": 1000, "replacement": True},
            "1,000 records were drawn at random with replacement",
        ),
        (
            {"size": 5, "whole_households": True, "by": ["a", "b"]},
            "5 households were drawn at random without replacement, "
            "in strata of a by b (proportional)",
        ),
    ],
)
def test_description_is_in_plain_words(parameters, text):
    assert Sample(**parameters).describe() == f"Sampling: {text}"
