"""Local suppression: what it changes, what it refuses, how little it blanks."""

from datetime import date
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError
from tacit.core.keys import frequencies
from tacit.core.progress import listening
from tacit.mask import (
    _local_suppression_restore,
    _local_suppression_sets,
    _local_suppression_wildcard,
)
from tacit.mask._local_suppression_sets import ColumnSets

READINGS = ["wildcard", "strict"]
INF = float("inf")


def release(table, **parameters):
    return tacit.Plan([mask.LocalSuppression(**parameters)]).apply(table, seed=1).frame


def n_blanked(before: pl.DataFrame, after: pl.DataFrame) -> int:
    return sum(after[c].null_count() - before[c].null_count() for c in before.columns)


def codes_of(table: pl.DataFrame) -> np.ndarray:
    ranks = table.select(pl.all().rank("dense").cast(pl.Int32) - 1).fill_null(-1)
    return ranks.to_numpy().astype(np.int32)


def random_table(n: int, n_columns: int, *, seed: int = 0, levels: int = 4, missing: float = 0.0):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, levels + 1) ** 1.5
    columns = {
        f"v{j}": pl.Series(rng.choice(levels, n, p=share / share.sum())).cast(pl.String)
        for j in range(n_columns)
    }
    table = pl.DataFrame(columns)
    gaps = {c: pl.Series(rng.random(n) < missing) for c in table.columns}
    return table.with_columns(
        pl.when(~gap).then(pl.col(name)).alias(name) for name, gap in gaps.items()
    )


SMALL = pl.DataFrame(
    {
        "sex": ["m", "f", "m", "f", "m", "f", "m"],
        "region": ["N", "N", "N", "N", "S", "S", "é"],
        "income": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0],
    }
)

small_tables = st.builds(
    random_table,
    st.integers(5, 60),
    st.integers(1, 5),
    seed=st.integers(0, 10_000),
    levels=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.0, 0.1, 0.5]),
)


# -- what changes -----------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=80, deadline=None)
@given(table=small_tables, k=st.integers(2, 5))
def test_only_keys_change_and_only_to_missing(reading, table, k):
    table = table.with_columns(other=pl.Series(range(table.height)))
    released = release(table, keys=table.columns[:-1], k=k, missing=reading)
    assert released["other"].equals(table["other"])
    for name in table.columns:
        kept = released[name].is_not_null()
        assert released[name].filter(kept).equals(table[name].filter(kept))
    assert released.schema == table.schema


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=60, deadline=None)
@given(table=small_tables, k=st.integers(2, 5))
def test_a_second_run_blanks_nothing(reading, table, k):
    once = release(table, keys=table.columns, k=k, missing=reading)
    assert release(once, keys=table.columns, k=k, missing=reading).equals(once)


@settings(max_examples=60, deadline=None)
@given(table=small_tables, k=st.integers(2, 4))
def test_wildcard_blanks_only_records_at_risk_and_no_more_than_each_needs_alone(table, k):
    """Each violator loses at most the fewest values that would protect it on its own."""
    codes = codes_of(table)
    released = codes_of(release(table, keys=table.columns, k=k, search="greedy"))
    lost = ((released == -1) & (codes != -1)).sum(axis=1)
    for r in range(len(codes)):
        apart = (codes != codes[r]) & (codes != -1) & (codes[r] != -1)
        alone = next(
            size
            for size in range(codes.shape[1] + 1)
            if any(
                np.delete(apart, columns, axis=1).any(axis=1).sum() <= len(codes) - k
                for columns in combinations(range(codes.shape[1]), size)
            )
        )
        assert lost[r] <= alone


def test_safe_data_come_back_as_they_are():
    table = pl.DataFrame({"a": ["x"] * 3 + ["y"] * 3, "b": [1] * 6})
    assert release(table, keys=["a", "b"], k=3).equals(table)


def test_the_input_is_not_changed():
    table = SMALL.clone()
    release(table, keys=["sex", "region"], k=2)
    assert table.equals(SMALL)


@pytest.mark.parametrize("reading", READINGS)
def test_the_order_of_the_records_does_not_matter(reading):
    table = random_table(400, 5, levels=5, missing=0.02)
    order = np.random.default_rng(3).permutation(table.height)
    released = release(table, keys=table.columns, missing=reading)
    shuffled = release(table[order], keys=table.columns, missing=reading)
    assert released.sort(pl.all()).equals(shuffled.sort(pl.all()))


def test_keys_of_every_type_and_pandas_types():
    table = pd.DataFrame(
        {
            "flag": [True, True, True, False],
            "day": pd.to_datetime(["2020-01-01"] * 3 + ["2021-05-05"]),
            "ratio": [0.5, 0.5, 0.5, 2.5],
            "grade": pd.Categorical(["a", "a", "a", "b"]),
            "count": [1, 1, 1, 7],
        }
    )
    released = release(table, keys=list(table.columns), k=3)
    assert released.isna().iloc[3].all()
    assert not released.iloc[:3].isna().any(axis=None)
    assert isinstance(released["grade"].dtype, pd.CategoricalDtype)


def test_dates_and_unicode():
    table = pl.DataFrame(
        {"dáte": [date(2020, 1, 1)] * 3 + [date(1999, 9, 9)], "städte": ["Köln"] * 3 + ["東京"]}
    )
    released = release(table, keys=table.columns, k=2)
    assert released[3].row(0) == (None, None)
    assert released[:3].equals(table[:3])


# -- linked columns ---------------------------------------------------------------------------


def linked_data() -> tacit.Microdata:
    table = pl.DataFrame(
        {
            "city": ["A", "A", "A", "B", None],
            "name": ["Aa", "Aa", "Aa", "Bb", "Cc"],
            "post": [1, 1, 1, 2, 3],
            "x": [1, 2, 3, 4, 5],
        }
    )
    data = tacit.Microdata.of(table)
    return data.with_roles(keys=["city"], linked={"name": "city", "post": "name"})


@pytest.mark.parametrize("reading", READINGS)
def test_linked_columns_copy_the_gaps_of_their_key_and_links_of_links_too(reading):
    released = release(linked_data(), k=3, missing=reading)
    gap = released["city"].is_null()
    assert gap[3]
    assert released["name"].is_null().equals(gap.alias("name"))
    assert released["post"].is_null().equals(gap.alias("post"))
    assert released["x"].to_list() == [1, 2, 3, 4, 5]


# -- importance -------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_what_matters_most_is_blanked_least(reading):
    table = random_table(800, 5, seed=1, levels=5)
    plain = release(table, keys=table.columns, missing=reading)
    weighted = release(table, keys=table.columns, missing=reading, importance={"v0": 20, "v1": 5})
    assert 0 <= weighted["v0"].null_count() < plain["v0"].null_count()
    assert weighted["v0"].null_count() <= weighted["v1"].null_count()
    assert weighted["v1"].null_count() < weighted["v2"].null_count()


@pytest.mark.parametrize("reading", READINGS)
def test_an_infinite_importance_is_never_blanked(reading):
    table = random_table(300, 4, levels=3)
    released = release(table, keys=table.columns, k=4, missing=reading, importance={"v2": INF})
    assert released["v2"].null_count() == 0
    assert n_blanked(table, released) > 0


@pytest.mark.parametrize("reading", READINGS)
def test_values_that_must_be_kept_may_make_it_impossible(reading):
    keep = {"keys": ["sex", "region"], "k": 2, "missing": reading}
    with pytest.raises(ProtectionError, match="cannot be reached while region must be kept"):
        release(SMALL, importance={"region": INF}, **keep)
    released = release(SMALL, importance={"sex": INF}, **keep)
    assert released["sex"].null_count() == 0


def test_strict_combinations_whose_kept_columns_are_rare_only_together():
    """No class of k on both kept columns at once exists, but each combination has its own."""
    table = pl.DataFrame(
        {
            "a": ["p", "p", "q", "q"],
            "b": ["r", "s", "r", "s"],
            "x": ["1", "2", "3", "4"],
            "y": ["1", "1", "2", "3"],
        }
    )
    released = release(
        table,
        k=2,
        missing="strict",
        combinations=[["a", "x"], ["b", "y"]],
        importance={"a": INF, "b": INF},
    )
    assert released["x"].null_count() == 4
    assert frequencies(codes_of(released.select("b", "y"))).min() >= 2
    assert released.select("a", "b").equals(table.select("a", "b"))


# -- combinations -----------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_fewer_combinations_cost_fewer_values(reading):
    table = random_table(500, 6, levels=4)
    blanked = [
        n_blanked(table, release(table, keys=table.columns, missing=reading, subset_size=size))
        for size in (2, 4, 6)
    ]
    assert blanked == sorted(blanked)
    assert blanked[0] < blanked[2]
    whole = release(table, keys=table.columns, missing=reading)
    assert blanked[2] == n_blanked(table, whole)


@pytest.mark.parametrize("reading", READINGS)
def test_columns_outside_the_combinations_are_left_alone(reading):
    table = random_table(300, 5)
    released = release(table, missing=reading, combinations=[["v0", "v1"], ["v1", "v3"]])
    assert released.select("v2", "v4").equals(table.select("v2", "v4"))
    for columns in (["v0", "v1"], ["v1", "v3"]):
        codes = codes_of(released.select(columns))
        assert frequencies(codes, missing=reading).min() >= 3


def test_a_combination_within_another_changes_nothing():
    table = random_table(300, 4)
    one = release(table, combinations=[table.columns])
    both = release(table, combinations=[["v1"], table.columns, ["v3", "v1"]])
    assert one.equals(both)


def test_combinations_and_subsets_together():
    table = random_table(300, 5)
    released = release(table, keys=table.columns, subset_size=2, combinations=[["v0", "v1", "v2"]])
    for columns in [["v0", "v1", "v2"], *map(list, combinations(table.columns, 2))]:
        assert frequencies(codes_of(released.select(columns)), missing="wildcard").min() >= 3


def test_keys_come_from_the_schema():
    data = tacit.Microdata.of(SMALL).with_roles(keys=["region"])
    released = release(data, k=2)
    assert released["sex"].equals(SMALL["sex"])
    assert released["region"].to_list() == ["N", "N", "N", "N", "S", "S", None]


# -- the edges --------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_one_column(reading):
    table = pl.DataFrame({"a": ["x", "x", "y", "z", "z", "w"]})
    released = release(table, keys="a", k=2, missing=reading)
    assert released["a"].filter(pl.Series([True, True, False, True, True, False])).null_count() == 0
    # Read as a wildcard, the gap of one of the two lone records also covers the other.
    assert released["a"].null_count() == (1 if reading == "wildcard" else 2)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("values", [["x"] * 5, [None] * 5])
def test_constant_and_all_missing_columns_are_safe(reading, values):
    table = pl.DataFrame({"a": pl.Series(values, dtype=pl.String), "b": ["y"] * 5})
    assert release(table, keys=["a", "b"], k=5, missing=reading).equals(table)


@pytest.mark.parametrize("reading", READINGS)
def test_an_empty_file_comes_back_empty(reading):
    assert release(SMALL.clear(), keys=["sex"], missing=reading).equals(SMALL.clear())


@pytest.mark.parametrize("reading", READINGS)
def test_fewer_records_than_k(reading):
    with pytest.raises(DataError, match="k = 8 needs at least 8 records"):
        release(SMALL, keys=["sex"], k=8, missing=reading)
    released = release(SMALL, keys=["sex", "region"], k=7, missing=reading)
    assert released.select("sex", "region").null_count().row(0) == (7, 7) or reading == "wildcard"


def test_missing_values_count_as_the_reading_says():
    table = pl.DataFrame({"a": ["x", "x", None, "y"], "b": ["u", "u", "u", "u"]})
    wild = release(table, keys=["a", "b"], k=2)
    assert wild.equals(table)  # the gap may be a second x or a second y
    strict = release(table, keys=["a", "b"], k=2, missing="strict")
    assert strict["a"].to_list() == ["x", "x", None, None]


@pytest.mark.parametrize("reading", READINGS)
def test_many_keys(reading):
    table = random_table(400, 25, levels=3, missing=0.01)
    released = release(table, keys=table.columns, k=3, missing=reading)
    assert frequencies(codes_of(released), missing=reading).min() >= 3
    assert n_blanked(table, released) < {"wildcard": 0.25, "strict": 0.7}[reading] * 400 * 25


def test_at_most_62_keys():
    table = pl.DataFrame({f"v{j}": [1, 1] for j in range(63)})
    assert release(table, keys=table.columns[:62], k=2).equals(table)
    with pytest.raises(ParameterError, match="at most 62 keys"):
        release(table, keys=table.columns, k=2)


# -- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 1}, "'k'"),
        ({"k": 2.5}, "'k'"),
        ({"keys": []}, "'keys'"),
        ({"keys": ["a", "a"]}, "each column once"),
        ({"missing": "maybe"}, "'missing'"),
        ({"subset_size": 0}, "'subset_size'"),
        ({"importance": {"a": 0}}, "importance"),
        ({"importance": {"a": -1}}, "importance"),
        ({"keys": ["a"], "combinations": [["b"]]}, "'b'"),
        ({"keys": ["a"], "importance": {"b": 2}}, "'b'"),
        ({"kk": 3}, "no parameter 'kk'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        mask.LocalSuppression(**parameters)


def test_parameters_that_do_not_fit_the_data():
    with pytest.raises(SchemaError, match="needs key variables"):
        release(SMALL)
    with pytest.raises(SchemaError, match="no column 'region2'"):
        release(SMALL, keys=["region2"])
    with pytest.raises(ParameterError, match="larger than the number of keys"):
        release(SMALL, keys=["sex"], subset_size=2)
    with pytest.raises(ParameterError, match="not a key; did you mean 'region'"):
        release(tacit.Microdata.of(SMALL).with_roles(keys=["region"]), importance={"regions": 2})
    wide = pl.DataFrame({f"v{j}": [1, 1, 1] for j in range(40)})
    with pytest.raises(ParameterError, match="too many combinations"):
        release(wide, keys=wide.columns, subset_size=10)


def test_nothing_is_released_when_the_search_fails(monkeypatch):
    monkeypatch.setattr(
        _local_suppression_wildcard,
        "suppress",
        lambda codes, *_: np.zeros(codes.shape, dtype=bool),
    )
    with pytest.raises(ProtectionError, match="nothing is released"):
        release(SMALL, keys=["sex", "region"], k=3)


# -- words and bookkeeping --------------------------------------------------------------------


def test_it_survives_a_plan_file_with_infinite_importance():
    plan = tacit.Plan(
        [
            mask.LocalSuppression(
                keys=["a", "b"], k=5, combinations=["a", ["a", "b"]], importance={"a": INF}
            )
        ]
    )
    assert tacit.Plan.from_toml(plan.to_toml()) == plan


def test_it_says_what_it_does():
    text = mask.LocalSuppression(keys=["a", "b"], k=4, importance={"a": INF, "b": 2}).describe()
    assert "at least 4 records share each combination of a, b" in text
    assert "always kept: a;" in text
    assert "b (2)" in text
    some = mask.LocalSuppression(subset_size=3, missing="strict").describe()
    assert "any 3 of the key variables" in some
    assert "category of its own" in some
    named = mask.LocalSuppression(combinations=[["a", "b"], ["c"]]).describe()
    assert "each combination of a and b; each combination of c" in named


@pytest.mark.parametrize("reading", READINGS)
def test_it_reports_its_progress(reading):
    class Listener:
        def __init__(self):
            self.done = {}

        def task(self, title, total):
            from contextlib import contextmanager

            @contextmanager
            def opened():
                self.done[title] = 0
                yield lambda units: self.done.update({title: self.done[title] + units})

            return opened()

    listener = Listener()
    with listening(listener):
        release(random_table(200, 4), keys=["v0", "v1", "v2", "v3"], missing=reading)
    assert listener.done["local suppression"] > 0


# -- the search takes other roads on other data -----------------------------------------------


@pytest.fixture
def by_nearest(monkeypatch):
    monkeypatch.setattr(_local_suppression_wildcard, "_TABLE_SECONDS", 1e9)


@pytest.mark.parametrize("importance", [{}, {"v0": 5.0}, {"v1": INF}])
def test_the_search_by_nearest_records_protects_too(by_nearest, importance):
    table = random_table(500, 6, levels=4, missing=0.03)
    released = release(table, keys=table.columns, importance=importance)
    assert frequencies(codes_of(released), missing="wildcard").min() >= 3
    if importance.get("v1"):
        assert released["v1"].null_count() == table["v1"].null_count()


def test_the_search_by_nearest_records_in_small_blocks(by_nearest, monkeypatch):
    from tacit.mask import _local_suppression_nearest

    table = random_table(500, 6, levels=4)
    whole = n_blanked(table, release(table, keys=table.columns))
    monkeypatch.setattr(_local_suppression_nearest, "_LARGEST_BLOCK", 64)
    monkeypatch.setattr(_local_suppression_nearest, "_SMALLEST_BLOCK", 64)
    released = release(table, keys=table.columns)
    assert frequencies(codes_of(released), missing="wildcard").min() >= 3
    assert n_blanked(table, released) < 3 * whole


def test_what_cannot_be_given_back_in_time_stays_blank(monkeypatch):
    table = random_table(500, 6, levels=4)
    thorough = release(table, keys=table.columns)
    monkeypatch.setattr(_local_suppression_restore, "_BUDGET", 0)
    hasty = release(table, keys=table.columns)
    assert n_blanked(table, thorough) < n_blanked(table, hasty)
    assert frequencies(codes_of(hasty), missing="wildcard").min() >= 3


@pytest.mark.parametrize("reading", READINGS)
def test_a_narrow_beam_still_protects(monkeypatch, reading):
    monkeypatch.setattr(_local_suppression_sets, "_MOST_SETS", 3)
    table = random_table(300, 7, levels=4)
    released = release(table, keys=table.columns, missing=reading)
    assert frequencies(codes_of(released), missing=reading).min() >= 3


def test_column_sets_come_cheapest_first_and_never_hold_a_column_that_must_stay():
    sets = ColumnSets(np.array([1.0, 4.0, INF, 2.0]), n_rows=10)
    batches = list(sets)
    costs = [cost for batch in batches for cost in sets.cost(batch)]
    assert costs == sorted(costs)
    assert len(costs) == 7
    assert not any(int(s) >> 2 & 1 for batch in batches for s in batch)
    assert ColumnSets(np.array([INF]), n_rows=10).columns == []


def test_large_sets_grow_from_promising_ones(monkeypatch):
    monkeypatch.setattr(_local_suppression_sets, "_MOST_SETS", 5)
    sets = ColumnSets(np.ones(5), n_rows=10)
    seen = []
    for batch in sets:
        for pattern in batch.tolist():
            sets.learn(pattern, 10.0 if pattern & 0b1000 else 0.0)
        seen.append(batch)
    assert [int(b[0]).bit_count() for b in seen] == [1, 2, 3, 4, 5]
    assert sum(bool(int(s) & 0b1000) for s in seen[1]) == 4
