"""Counting before and after, without naming anybody."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from tacit.core.data import Microdata
from tacit.report._tally import MISSING, ORIGINAL, RELEASE, compare, short


def data(**columns):
    return Microdata.of(pl.DataFrame(columns))


def test_categories_count_missing_and_rare_ones():
    before = data(x=["a"] * 6 + ["b"] * 3 + ["rare", None])
    after = data(x=["a"] * 5 + ["b"] * 2 + ["rare", None, None])
    (tally,) = compare(before, after, "x")
    assert tally.labels == ("a", "b", "1 other category", MISSING)
    assert tally.counts == {ORIGINAL: (6, 3, 1, 1), RELEASE: (5, 2, 1, 2)}


def test_shares_are_of_all_records():
    (tally,) = compare(data(x=["a"] * 8 + [None] * 2), data(x=["a"] * 5), "x")
    assert tally.shares(ORIGINAL).tolist() == [0.8, 0.2]
    assert tally.shares(RELEASE).tolist() == [1.0, 0.0]
    assert tally.rows()[0] == ("a", [(8, 0.8), (5, 1.0)])


def test_many_categories_are_cut_to_the_largest():
    values = [f"c{i:02}" for i in range(30) for _ in range(3 + i)]
    (tally,) = compare(data(x=values), data(x=values), "x")
    assert len(tally.labels) == 11
    assert tally.labels[0] == "c29"
    assert tally.labels[-1] == "20 other categories"
    assert sum(tally.counts[ORIGINAL]) == len(values)


def test_ordinal_categories_keep_their_order():
    original = data(x=["high"] * 9 + ["low"] * 5 + ["middle"] * 7)
    original = original.with_categories(x=["low", "middle", "high"])
    (tally,) = compare(original, original, "x")
    assert tally.labels == ("low", "middle", "high")


def test_regrouped_categories_get_two_charts():
    first, second = compare(data(x=["a", "b", "c"] * 5), data(x=["A", "B", "B"] * 5), "x")
    assert list(first.counts) == [ORIGINAL]
    assert list(second.counts) == [RELEASE]


def test_numbers_released_as_classes_are_put_in_order():
    classes = ["[10, 20)", "< 10", "[20, 30)", "[20, 30)"] * 5
    first, second = compare(data(x=[12, 5, 24, 21] * 5), data(x=classes), "x")
    assert first.edges is not None
    assert second.labels == ("< 10", "[10, 20)", "[20, 30)")


def test_numbers_with_a_top_category_stay_on_their_scale():
    ages = np.arange(40, 95)
    coded = [str(a) if a < 85 else "85+" for a in ages]
    (tally,) = compare(data(x=ages), data(x=coded), "x")
    assert sum(tally.counts[RELEASE]) == len(ages)
    above = [i for i, start in enumerate(tally.edges[:-1]) if start >= 90]
    assert sum(tally.counts[RELEASE][i] for i in above) == 0


def test_dates_are_counted_by_period():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=40 * i) for i in range(60)]
    (tally,) = compare(data(x=days), data(x=days[:30]), "x")
    assert tally.is_date
    assert sum(tally.counts[RELEASE]) == 30


@pytest.mark.parametrize(
    ("values", "note"),
    [([dt.timedelta(days=i) for i in range(9)], "In days"), ([dt.time(9)] * 5, "Hour of the day")],
)
def test_durations_and_times(values, note):
    (tally,) = compare(data(x=values), data(x=values), "x")
    assert tally.note.startswith(note)


def test_unique_and_empty_columns_have_nothing_to_show():
    assert compare(data(x=["u", "v"]), data(x=["u", "v"]), "x") == ()
    empty = pl.Series([None, None], dtype=pl.Int64)
    assert compare(data(x=empty), data(x=empty), "x") == ()
    infinite = [float("inf")] * 4
    assert compare(data(x=infinite), data(x=infinite), "x") == ()


def test_a_new_variable_is_counted_alone():
    (tally,) = compare(None, data(x=["a"] * 4 + ["b"]), "x")
    assert tally.counts == {RELEASE: (4, 1)}
    assert tally.labels == ("a", "1 other category")


def test_labels_that_look_alike_are_told_apart():
    values = ["a\x00"] * 3 + ["a\x01"] * 4 + [MISSING] * 3 + [None]
    (tally,) = compare(data(x=values), data(x=values), "x")
    assert len(set(tally.labels)) == 4
    assert short("x" * 200) == "x" * 80 + "…"


def test_a_column_called_like_the_counts():
    (tally,) = compare(data(n=["a"] * 4), data(n=["a"] * 4), "n")
    assert tally.counts[ORIGINAL] == (4,)
