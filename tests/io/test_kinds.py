"""From text to values, and data that came with types of their own."""

import datetime as dt

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import ReadError, SchemaError
from tacit.core.schema import Kind
from tacit.io.kinds import Misfit, Notation, conform, declared, found, whole_as_integers

PLAIN = Notation(missing=("", "NA"))


def text(*values):
    return pl.Series("a", values, dtype=pl.String)


def test_a_column_of_missing_values_is_text():
    assert found(text(None, None), PLAIN).dtype == pl.String
    assert found(text("", "NA"), PLAIN).to_list() == [None, "NA"]
    assert found(text(), PLAIN).dtype == pl.String


def test_a_type_is_found_behind_many_quoted_blanks():
    assert found(text(*[""] * 500, "7", "8"), PLAIN).to_list() == [None] * 500 + [7, 8]


def test_blanks_around_numbers_are_taken_off_but_text_is_left_alone():
    assert found(text(" 1", "2", " NA "), PLAIN).to_list() == [1, 2, None]
    assert found(text(" x", "y "), PLAIN).to_list() == [" x", "y "]


def test_a_decimal_comma_leaves_no_room_for_points():
    comma = Notation(decimal=",")
    assert found(text("1,5", "2"), comma).to_list() == [1.5, 2.0]
    assert found(text("1.500", "2,5"), comma).dtype == pl.String
    with pytest.raises(Misfit):
        declared(text("1.500", "2,5"), Kind.NUMERIC, comma)


def test_dates_and_moments():
    assert found(text("2020-01-31 10:20:30.25"), PLAIN)[0] == dt.datetime(
        2020, 1, 31, 10, 20, 30, 250_000
    )
    assert declared(text("2020-01-31T10:20"), Kind.DATE, PLAIN)[0] == dt.datetime(
        2020, 1, 31, 10, 20
    )
    stamped = Notation(dates="%d/%m/%Y %H:%M")
    assert declared(text("31/01/2020 10:20"), Kind.DATE, stamped)[0] == dt.datetime(
        2020, 1, 31, 10, 20
    )


def test_misfit_names_the_first_bad_record():
    with pytest.raises(Misfit) as caught:
        declared(text("1", None, "x", "y"), Kind.NUMERIC, PLAIN)
    assert (caught.value.record, caught.value.value) == (2, "x")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.none()))
def test_finding_a_type_never_loses_a_value(values):
    series = text(*values)
    result = found(series, PLAIN)
    assert len(result) == len(series)
    if result.dtype == pl.String:
        assert result.to_list() == [v or None for v in values]
    else:
        kept = [v is not None and v.strip() not in ("", "NA") for v in values]
        assert result.is_not_null().to_list() == kept


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-(10**20), 10**20).map(str), min_size=1))
def test_whole_numbers_come_back_digit_by_digit(values):
    assert found(text(*values), PLAIN).cast(pl.String).to_list() == values


def test_whole_as_integers():
    assert whole_as_integers(pl.Series([1.0, None, float("nan")])).dtype == pl.Int64
    assert whole_as_integers(pl.Series([1.5])).dtype == pl.Float64
    assert whole_as_integers(pl.Series([1e300])).dtype == pl.Float64
    assert whole_as_integers(pl.Series([float("inf")])).dtype == pl.Float64
    assert whole_as_integers(pl.Series([None], dtype=pl.Float64)).dtype == pl.Float64


# -- conform --------------------------------------------------------------------------------------


def test_conform_parses_text_and_leaves_codes_alone():
    data = tacit.read(pl.DataFrame({"n": ["1", None], "c": [1, 2], "d": ["2020-01-01", None]}))
    result = conform(data, {"n": Kind.NUMERIC, "c": Kind.NOMINAL, "d": Kind.DATE})
    assert result.frame.rows() == [(1, 1, dt.date(2020, 1, 1)), (None, 2, None)]
    assert data.frame["n"].dtype == pl.String


def test_conform_makes_text_in_the_engine():
    duckdb = pytest.importorskip("duckdb")
    data = tacit.read(duckdb.sql("SELECT 1 AS a, 'x' AS b"))
    result = conform(data, {"a": Kind.TEXT})
    assert result.lazy.implementation is nw.Implementation.DUCKDB
    assert result.local["a"].to_list() == ["1"]
    with pytest.raises(ReadError, match=r"'b' is declared numeric"):
        conform(data, {"b": Kind.NUMERIC})


def test_conform_refuses_what_does_not_fit():
    data = tacit.read(pl.DataFrame({"d": [dt.date(2020, 1, 1)], "x": ["a"]}))
    with pytest.raises(ReadError, match=r"'d' is declared numeric"):
        conform(data, {"d": Kind.NUMERIC})
    with pytest.raises(ReadError, match=r"record 1 holds 'a'"):
        conform(data, {"x": Kind.DATE})


def test_unknown_types_give_the_nearest():
    with pytest.raises(SchemaError, match=r"did you mean 'numeric'"):
        tacit.read(pl.DataFrame({"a": [1]}), types={"a": "numerical"})
