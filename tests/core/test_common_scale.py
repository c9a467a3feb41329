"""A column of two files on one scale."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.common_scale import as_numbers, as_text, common_codes, compare_as_numbers
from tacit.core.schema import Kind


@settings(deadline=None)
@given(*[st.lists(st.none() | st.text(max_size=2), min_size=1, max_size=8)] * 2)
def test_codes_are_equal_where_values_are(first, second):
    before, after = (pl.Series("x", v, dtype=pl.String) for v in (first, second))
    old, new = common_codes(before, after)
    for i, a in enumerate(first):
        assert (old[i] == -1) == (a is None)
        for j, b in enumerate(second):
            if a is not None and b is not None:
                assert (old[i] == new[j]) == (a == b)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (pl.Series([1, 2, None]), pl.Series([1.0, 2.0, float("nan")])),
        (pl.Series(["1", "2", None]), pl.Series([1.0, 2.0, None])),
        (pl.Series([1, 2, None]), pl.Series(["1", "2", None])),
        (pl.Series(["a", "b", None]), pl.Series(["a", "b", None], dtype=pl.Categorical)),
        (pl.Series([1, 2, None], dtype=pl.Int8), pl.Series([1, 2, None], dtype=pl.UInt32)),
    ],
    ids=["float", "text and float", "text", "categories", "integers"],
)
def test_the_type_a_value_is_stored_in_does_not_matter(before, after):
    old, new = common_codes(before, after)
    assert old.tolist() == new.tolist()
    assert old[2] == -1


def test_numbers_that_are_not_whole_keep_their_digits():
    assert as_text(pl.Series([1.0, 2.5])).to_list() == ["1.0", "2.5"]
    assert as_text(pl.Series([1.0, 2.0, None])).to_list() == ["1", "2", None]
    huge = as_text(pl.Series([1e300, 1.0])).to_list()
    assert huge[1] == "1.0", "too large for whole numbers: floats stay floats"


def test_numbers_and_dates_compare_and_mixtures_do_not():
    numeric = [Kind.NUMERIC]
    number, text = pl.Series([1, 2]), pl.Series(["a", "b"])
    day, moment = pl.Series([date(2020, 1, 2)]), pl.Series([datetime(2020, 1, 2, 12)])
    assert compare_as_numbers(number, number.cast(pl.Float64), numeric)
    assert compare_as_numbers(day, moment, [Kind.DATE])
    assert not compare_as_numbers(number, text, numeric)
    assert not compare_as_numbers(number, day, [Kind.NUMERIC, Kind.DATE])
    assert not compare_as_numbers(number, number, [Kind.NUMERIC, Kind.NOMINAL])
    assert as_numbers(moment)[0] - as_numbers(day)[0] == 0.5


def test_what_is_no_number_is_missing():
    values = as_numbers(pl.Series([1.0, None, float("inf"), float("nan")]))
    assert values[0] == 1
    assert np.isnan(values[1:]).all()
