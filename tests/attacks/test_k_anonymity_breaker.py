"""A breaker that counts, for every released record, the records it could be: it must find k.

Plain Python and NumPy on the released frame; nothing is shared with the method it attacks.
"""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import ProtectionError

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def smallest_crowd(table: pl.DataFrame, columns: list[str], reading: str) -> int:
    """For the most exposed record, the number of records an intruder cannot tell it from."""
    values = [table[c].to_list() for c in columns]
    gaps = np.array([[v is None for v in column] for column in values])
    smallest = table.height
    for r in range(table.height):
        could_be = np.ones(table.height, dtype=bool)
        for column, gap in zip(values, gaps, strict=True):
            same = np.array([v == column[r] for v in column], dtype=bool)
            if reading == "wildcard":
                same |= gap | gap[r]
            could_be &= same
        smallest = min(smallest, int(could_be.sum()))
    return smallest


def fast_smallest_crowd(table: pl.DataFrame, columns: list[str], reading: str) -> int:
    """The same for whole-number columns, one record against all at a time."""
    codes = table.select(columns).fill_null(-1).to_numpy()
    smallest = len(codes)
    for record in codes:
        same = codes == record
        if reading == "wildcard":
            same |= (codes == -1) | (record == -1)
        smallest = min(smallest, int(same.all(axis=1).sum()))
    return smallest


def release(table: pl.DataFrame, **parameters) -> pl.DataFrame:
    return tacit.Plan([mask.LocalSuppression(**parameters)]).apply(table, seed=1).frame


value = st.one_of(st.none(), st.sampled_from(["a", "b", "ç", "日本"]))


@st.composite
def tables(draw) -> pl.DataFrame:
    n_columns, n_records = draw(st.integers(1, 5)), draw(st.integers(6, 40))
    rows = draw(st.lists(st.tuples(*[value] * n_columns), min_size=n_records, max_size=n_records))
    columns = [f"v{j}" for j in range(n_columns)]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 6), st.sampled_from(["wildcard", "strict"]))
def test_no_record_stands_out_on_all_keys(table, k, reading):
    released = release(table, keys=table.columns, k=k, missing=reading)
    assert smallest_crowd(released, table.columns, reading) >= k


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 5), st.sampled_from(["wildcard", "strict"]), st.data())
def test_no_record_stands_out_on_any_required_combination(table, k, reading, data):
    size = data.draw(st.integers(1, table.width))
    released = release(table, keys=table.columns, k=k, missing=reading, subset_size=size)
    for columns in combinations(table.columns, size):
        assert smallest_crowd(released, list(columns), reading) >= k


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 5), st.sampled_from(["wildcard", "strict"]), st.data())
def test_named_combinations_and_importance(table, k, reading, data):
    columns = st.sampled_from(table.columns)
    chosen = data.draw(st.lists(st.lists(columns, min_size=1, unique=True), min_size=1, max_size=4))
    weights = st.sampled_from([0.5, 1.0, 3.0, float("inf")])
    importance = data.draw(st.dictionaries(columns, weights))
    parameters = {"keys": table.columns, "k": k, "missing": reading, "combinations": chosen}
    try:
        released = release(table, importance=importance, **parameters)
    except ProtectionError:
        kept = [c for c, weight in importance.items() if weight == float("inf")]
        inside = [[c for c in names if c in kept] for names in chosen]
        assert min(smallest_crowd(table, names, reading) for names in inside if names) < k
        return
    for names in chosen:
        assert smallest_crowd(released, names, reading) >= k


@pytest.mark.parametrize("reading", ["wildcard", "strict"])
@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_testdata(shared_data, k, reading):
    table = pl.read_csv(shared_data / "casc" / "testdata.csv", columns=KEYS)
    assert fast_smallest_crowd(table, KEYS, reading) < k
    released = release(table, keys=KEYS, k=k, missing=reading)
    assert fast_smallest_crowd(released, KEYS, reading) >= k


@pytest.mark.parametrize("reading", ["wildcard", "strict"])
def test_testdata_any_three_of_seven(shared_data, reading):
    table = pl.read_csv(shared_data / "casc" / "testdata.csv", columns=KEYS)[:1500]
    released = release(table, keys=KEYS, k=3, missing=reading, subset_size=3)
    crowds = [fast_smallest_crowd(released, list(c), reading) for c in combinations(KEYS, 3)]
    assert min(crowds) >= 3


def test_the_breaker_itself_finds_a_lone_record():
    table = pl.DataFrame({"a": ["x", "x", "y"], "b": [1, None, 1]})
    assert smallest_crowd(table, ["a", "b"], "strict") == 1
    assert smallest_crowd(table, ["a", "b"], "wildcard") == 1
    assert smallest_crowd(table[:2], ["a", "b"], "wildcard") == 2
    assert fast_smallest_crowd(table.select("b"), ["b"], "strict") == 1
