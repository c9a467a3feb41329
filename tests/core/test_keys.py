"""Encoding of keys and counting of their combinations, against brute force."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit import Microdata
from tacit.core import keys
from tacit.core.errors import DataError, ParameterError, SchemaError


def brute_frequencies(codes, weights, *, wildcard):
    amounts = np.ones(len(codes)) if weights is None else weights
    found = np.zeros(len(codes))
    for i, a in enumerate(codes):
        for j, b in enumerate(codes):
            pairs = zip(a, b, strict=True)
            if all(x == y or (wildcard and -1 in (x, y)) for x, y in pairs):
                found[i] += amounts[j]
    return found


tables = st.integers(0, 4).flatmap(
    lambda m: st.integers(0, 25).flatmap(
        lambda n: arrays(np.int32, (n, m), elements=st.integers(-1, 3))
    )
)


@settings(deadline=None, max_examples=150)
@given(tables, st.booleans(), st.integers(0, 2**31))
def test_frequencies_equal_brute_force(codes, weighted, seed):
    weights = np.random.default_rng(seed).uniform(0.5, 9, len(codes)) if weighted else None
    for missing in ("strict", "wildcard"):
        expected = brute_frequencies(codes, weights, wildcard=missing == "wildcard")
        found = keys.frequencies(codes, weights, missing=missing)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert found.dtype == (np.float64 if weighted else np.int64)


@settings(deadline=None, max_examples=60)
@given(tables, st.booleans())
def test_search_for_many_patterns_equals_brute_force(codes, weighted):
    weights = np.arange(1.0, len(codes) + 1) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_MANY_PATTERNS", 0)
        found = keys.frequencies(codes, weights, missing="wildcard")
    np.testing.assert_allclose(found, brute_frequencies(codes, weights, wildcard=True))


def test_both_wildcard_algorithms_agree_on_many_patterns():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, (4000, 12)).astype(np.int32)
    codes[rng.random(codes.shape) < 0.4] = -1
    _, n_patterns = keys.group_ids((codes < 0).astype(np.int32))
    assert n_patterns > keys._MANY_PATTERNS, "the search is used for these data"
    by_search = keys.frequencies(codes, missing="wildcard")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_MANY_PATTERNS", 10**9)
        by_patterns = keys.frequencies(codes, missing="wildcard")
    np.testing.assert_array_equal(by_search, by_patterns)
    assert by_search.max() > 10, "the data must have matches to tell the two apart"


@settings(deadline=None)
@given(tables)
def test_group_ids_number_distinct_rows_in_order_of_appearance(codes):
    ids, n_groups = keys.group_ids(codes)
    seen: dict[tuple, int] = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in codes.tolist()]
    assert ids.tolist() == expected
    assert n_groups == len(seen)


def test_group_ids_are_exact_where_codes_do_not_fit_one_integer():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2**31 - 1, (5000, 9)).astype(np.int32)
    codes[2500:] = codes[:2500]
    codes[4000, 8] ^= 1
    ids, n_groups = keys.group_ids(codes)
    assert n_groups == 2501
    np.testing.assert_array_equal(ids[2500:4000], ids[:1500])


def test_group_ids_grow_their_table():
    codes = np.arange(300_000, dtype=np.int32)[:, None] % 200_000
    ids, n_groups = keys.group_ids(codes)
    assert n_groups == 200_000
    np.testing.assert_array_equal(ids, codes[:, 0])


def test_no_columns_make_one_class_and_no_records_none():
    assert keys.frequencies(np.empty((4, 0), np.int32)).tolist() == [4, 4, 4, 4]
    assert keys.frequencies(np.empty((0, 3), np.int32), missing="wildcard").tolist() == []
    assert keys.group_ids(np.empty((0, 0), np.int32))[1] == 0


def test_all_missing_row_matches_everybody_only_as_wildcard():
    codes = np.array([[-1, -1], [0, 1], [2, 3]], np.int32)
    assert keys.frequencies(codes).tolist() == [1, 1, 1]
    assert keys.frequencies(codes, missing="wildcard").tolist() == [3, 2, 2]


def test_wrong_weights_and_codes_are_refused():
    with pytest.raises(DataError, match="one weight per record"):
        keys.frequencies(np.zeros((3, 1), np.int32), np.ones(2))
    with pytest.raises(ParameterError, match="-1 is missing"):
        keys.group_ids(np.array([[-2], [0]], np.int32))
    with pytest.raises(ParameterError, match="strict or wildcard"):
        keys.frequencies(np.zeros((3, 1), np.int32), missing="loose")


VALUES = {
    "text": ["b", None, "ä", "b", ""],
    "integer": [5, None, -3, 5, 0],
    "wide": [10**15, None, -(10**15), 10**15, 0],
    "unsigned": pl.Series([2**64 - 1, None, 0, 2**64 - 1, 5], dtype=pl.UInt64),
    "number": [0.5, None, float("nan"), 0.5, -0.0],
    "boolean": [True, None, False, True, False],
    "day": [date(2020, 1, 2), None, date(1900, 1, 1), date(2020, 1, 2), date(1999, 9, 9)],
    "moment": [datetime(2020, 1, 2, 3), None, datetime(1900, 1, 1), datetime(2020, 1, 2, 3), None],
    "hour": [time(3), None, time(1), time(3), time(2)],
    "length": [timedelta(3), None, timedelta(1), timedelta(3), timedelta(2)],
    "decimal": [Decimal("1.50"), None, Decimal("-2"), Decimal("1.50"), Decimal("0")],
    "nothing": pl.Series([None] * 5, dtype=pl.Null),
    "no text": pl.Series([None] * 5, dtype=pl.String),
}


@pytest.mark.parametrize("kind", VALUES)
def test_codes_are_the_ranks_of_values_of_any_type(kind):
    series = pl.Series("x", VALUES[kind])
    codes = keys.encode_series(series)
    plain = [None if v is None or v != v else v for v in series.to_list()]
    ranks = {v: i for i, v in enumerate(sorted({v for v in plain if v is not None}))}
    assert codes.dtype == np.int32
    assert codes.tolist() == [-1 if v is None else ranks[v] for v in plain]


def test_many_distinct_texts_are_coded_like_few():
    texts = pl.Series([f"unité {i:06d}" for i in range(keys._MANY_TEXTS + 10)] + [None])
    np.testing.assert_array_equal(keys.encode_series(texts), [*range(keys._MANY_TEXTS + 10), -1])


def test_encode_takes_columns_in_the_order_asked_and_leaves_the_input():
    frame = pl.DataFrame({"a": [3, 1, None], "b": ["x", None, "x"], "other": [1, 2, 3]})
    data = Microdata.of(frame)
    assert keys.encode(data, ["b", "a"]).tolist() == [[0, 1], [-1, 0], [0, -1]]
    assert keys.encode(data, []).shape == (3, 0)
    assert keys.encode(Microdata.of(frame.clear()), ["a", "b"]).shape == (0, 2)
    with pytest.raises(SchemaError, match="no column 'c'"):
        keys.encode(data, ["c"])


def test_engines_give_the_same_codes():
    import duckdb

    frame = pl.DataFrame({"a": [3, 1, None], "b": ["x", None, "ö"], "c": [0.5, float("nan"), 2]})
    expected = keys.encode(Microdata.of(frame), ["a", "b", "c"])
    for other in (frame.to_pandas(), frame.to_arrow(), duckdb.from_arrow(frame.to_arrow())):
        np.testing.assert_array_equal(keys.encode(Microdata.of(other), ["a", "b", "c"]), expected)
