"""CSV: what is found out, what is refused and with which line, and exact round trips."""

import datetime as dt
import gzip
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.errors import ParameterError, ReadError, WriteError
from tacit.core.schema import Kind


def rows(path, **options):
    return tacit.read(path, **options).frame.rows()


# -- separators, quotes, encodings ----------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(text_file, separator):
    text = "a,b,c\n1,x y,2.5\n2,z,3\n".replace(",", separator)
    assert rows(text_file(text)) == [(1, "x y", 2.5), (2, "z", 3.0)]


def test_the_separator_is_found_among_decimal_commas_and_quoted_separators(text_file):
    path = text_file('name;income;note\n"a;b";1,5;"x,y,z"\nc;2,25;",,,"\n')
    assert rows(path, decimal=",") == [("a;b", 1.5, "x,y,z"), ("c", 2.25, ",,,")]


def test_one_column_has_no_separator(text_file):
    assert rows(text_file("a\n1\n2\n")) == [(1,), (2,)]


def test_a_given_separator_wins(text_file):
    path = text_file("a;b,c\n1;2,3\n")
    assert tacit.read(path, separator=",").columns == ["a;b", "c"]
    assert tacit.read(path, separator=";").columns == ["a", "b,c"]


def test_tab_may_be_named(text_file):
    assert rows(text_file("a\tb\n1\t2\n", "data.txt"), separator="tab") == [(1, 2)]


def test_quoted_fields_hold_newlines_quotes_and_separators(text_file):
    path = text_file('a,b\n"two\nlines, and ""quotes""",1\nplain,2\n')
    assert rows(path) == [('two\nlines, and "quotes"', 1), ("plain", 2)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems(text_file, end):
    assert rows(text_file(f"a,b{end}1,x{end}2,y{end}")) == [(1, "x"), (2, "y")]


def test_no_newline_at_the_end(text_file):
    assert rows(text_file("a,b\n1,2")) == [(1, 2)]


def test_a_byte_order_mark_is_not_part_of_the_first_name(text_file):
    assert tacit.read(text_file(b"\xef\xbb\xbfa,b\n1,2\n")).columns == ["a", "b"]


def test_other_encodings(text_file):
    assert rows(text_file("a,b\nMüller,1\n".encode("latin-1")), encoding="latin-1") == [
        ("Müller", 1)
    ]
    assert rows(text_file("a,b\nMüller,1\n".encode("utf-16")), encoding="utf-16") == [("Müller", 1)]


def test_gzip_is_read_without_saying_so(text_file):
    path = text_file(gzip.compress(b"a,b\n1,2\n"), "data.csv.gz")
    assert rows(path) == [(1, 2)]


def test_a_field_longer_than_a_block(text_file):
    long = "x" * (5 << 20)
    assert rows(text_file(f'a,b\n"{long}",1\n')) == [(long, 1)]


# -- types ----------------------------------------------------------------------------------------


def test_types_are_found_from_all_values(text_file):
    n = 5000
    late = "a\n" + "1\n" * n + "1.5\n"
    assert tacit.read(text_file(late)).frame["a"].dtype == pl.Float64
    text = "a\n" + "1\n" * n + "x\n"
    assert tacit.read(text_file(text)).frame["a"].dtype == pl.String


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["1", "-2", "0"], pl.Int64),
        (["1", "2.5", "1e-3", "-.5"], pl.Float64),
        ([" 1", "2 "], pl.Int64),
        (["1", "nan", "inf"], pl.Float64),
        (["true", "FALSE", "True"], pl.Boolean),
        (["2020-01-31", "1900-02-28"], pl.Date),
        (["2020-01-31T10:20:30", "2020-01-31 10:20"], pl.Datetime("us")),
        (["007", "123"], pl.String),
        (["+49151", "123"], pl.String),
        (["12345678901234567890", "1"], pl.String),
        (["2020-02-30", "2020-01-01"], pl.String),
        (["nan", "inf"], pl.String),
        (["T", "F"], pl.String),
        (["1,5", "2"], pl.String),
        (["1_000"], pl.String),
        (["0x10"], pl.String),
    ],
)
def test_found_types(text_file, values, dtype):
    path = text_file("a;b\n" + "".join(f"{v};x\n" for v in values))
    column = tacit.read(path, separator=";").frame["a"]
    assert column.dtype == dtype
    assert column.null_count() == sum(v == "nan" for v in values if dtype == pl.Float64)


def test_missing_words(text_file):
    path = text_file("a,b,c\n1,x,1\nNA,NA,\n,,NA\n")
    assert rows(path) == [(1, "x", 1), (None, None, None), (None, None, None)]


def test_a_quoted_word_is_text_but_a_quoted_blank_is_missing(text_file):
    path = text_file('country,n\n"NA",1\nNA,2\n"",3\nDE,"NA"\n')
    assert rows(path) == [("NA", 1), (None, 2), (None, 3), ("DE", None)]


def test_other_missing_words(text_file):
    path = text_file("a,b\n1,NA\n.,x\n-9,y\n")
    assert rows(path, missing=[".", "-9"]) == [(1, "NA"), (None, "x"), (None, "y")]


def test_blank_lines_are_left_out_except_in_a_single_column(text_file):
    assert rows(text_file("a,b\n\n1,2\n\n3,4\n\n")) == [(1, 2), (3, 4)]
    assert rows(text_file("a\n1\n\n3\n")) == [(1,), (None,), (3,)]


def test_declared_types_win(text_file):
    path = text_file("zip,age,sex,day,flag\n01234,007,1,2020-01-01,true\n99999,8,2,,false\n")
    types = {"zip": "text", "age": "numeric", "sex": "nominal", "day": "date", "flag": "nominal"}
    data = tacit.read(path, types=types)
    assert data.frame.rows() == [
        ("01234", 7, "1", dt.date(2020, 1, 1), True),
        ("99999", 8, "2", None, False),
    ]
    assert [str(v.kind) for v in data.schema.variables] == list(types.values())


def test_declared_text_keeps_what_looks_like_a_number(text_file):
    path = text_file("id,b\n10,1\n1.50,2\n")
    assert tacit.read(path, types={"id": "ordinal"}).frame["id"].to_list() == ["10", "1.50"]


def test_a_date_format(text_file):
    path = text_file("d;t\n31.12.1999;31/12/99 23:59\n;\n")
    data = tacit.read(path, types={"d": "date"}, dates="%d.%m.%Y")
    assert data.frame["d"].to_list() == [dt.date(1999, 12, 31), None]


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [("numeric", "abc", 4), ("date", "31.12.2020", 4), ("numeric", "1.2.3", 4)],
)
def test_a_value_that_does_not_fit_is_named_with_its_line(text_file, kind, value, line):
    good = "2020-01-01" if kind == "date" else "5"
    path = text_file(f'a,b\n{good},"two\nlines"\n{value},x\n')
    with pytest.raises(ReadError, match=rf"'a' is declared {kind}, but line {line} of data.csv"):
        tacit.read(path, types={"a": kind})


def test_a_value_that_does_not_fit_in_a_single_column(text_file):
    with pytest.raises(ReadError, match=r"line 4 of data.csv holds 'x'"):
        tacit.read(text_file("a\n1\n\nx\n"), types={"a": "numeric"})


# -- names ----------------------------------------------------------------------------------------


def test_names_are_trimmed_and_nameless_columns_numbered(text_file):
    assert tacit.read(text_file('"", age \n1,2\n')).columns == ["column_1", "age"]


def test_without_a_header(text_file):
    data = tacit.read(text_file("1,x\n2,y\n"), header=False)
    assert data.columns == ["column_1", "column_2"]
    assert len(data) == 2


def test_header_only_is_no_records(text_file):
    for text in ("a,b\n", "a,b", "a,b\r\n\r\n"):
        data = tacit.read(text_file(text))
        assert (data.columns, len(data)) == (["a", "b"], 0)


def test_unicode_names(text_file):
    assert tacit.read(text_file("âge,年\n1,2\n")).columns == ["âge", "年"]


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no header"),
        (b"a,b\n1,2\n3\n", "line 3 of data.csv has 1 field, not 2"),
        (b"a,b\n1,2,3\n", "line 2 of data.csv has 3 fields, not 2"),
        (b'a,b\n"x\ny",2\n3,4,5\n', "line 4 of data.csv has 3 fields"),
        (b"a,b,a\n1,2,3\n", "duplicate column names: 'a'"),
        (b"a,b\n1,2\nM\xfcller,3\n", "line 3 of data.csv is not UTF-8 text.*encoding="),
        (b"a,M\xfcller\n1,2\n", "line 1 of data.csv is not UTF-8"),
        (b'a,b\n1,"x\n2,y\n3,z\n', "line 2 of data.csv has a quoted field"),
        (b'a,b\n1,"x"y\n', "line 2 of data.csv has a quoted field"),
        (b'a,b\n1,"abc\n2,"def\n', "of data.csv has a quoted field"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16.*encoding='utf-16'"),
    ],
)  # fmt: skip
def test_bad_files_give_one_line(text_file, content, says):
    with pytest.raises(ReadError, match=says) as caught:
        tacit.read(text_file(content))
    assert "\n" not in str(caught.value)


def test_wrong_encoding_given(text_file):
    with pytest.raises(ReadError, match=r"not ascii text.*encoding="):
        tacit.read(text_file("a\né\n"), encoding="ascii")


def test_broken_gzip(text_file):
    with pytest.raises(ReadError, match=r"gzip"):
        tacit.read(text_file(b"not gzip", "data.csv.gz"))


def test_a_stray_quote_inside_a_field_is_text(text_file):
    assert rows(text_file('size,n\n5" pipe,1\n6" pipe,2\n')) == [('5" pipe', 1), ('6" pipe', 2)]


def test_quotes_can_be_switched_off(text_file):
    assert rows(text_file('a,b\n"x,1\n'), quote="") == [('"x', 1)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seperator": ";"}, "no parameter 'seperator'; did you mean 'separator'"),
        ({"separator": ";;"}, "one ASCII character"),
        ({"encoding": "klingon"}, "encoding"),
        ({"decimal": ";"}, "decimal"),
        ({"decimal": ",", "separator": ","}, "different characters"),
    ],
)
def test_bad_options_name_the_option(text_file, options, says):
    with pytest.raises(ParameterError, match=says):
        tacit.read(text_file("a;b\n1;2\n"), **options)


# -- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.csv.gz", "data.txt"])
def test_round_trip(tmp_path, people, name):
    tacit.write(people, tmp_path / name)
    assert tacit.read(tmp_path / name).frame.equals(people)


def test_round_trip_with_options(tmp_path, people):
    options = {"decimal": ",", "encoding": "utf-16"}
    tacit.write(people, tmp_path / "data.csv", **options)
    assert tacit.read(tmp_path / "data.csv", **options).frame.equals(people)


def test_bytes_are_plain_and_the_same_each_time(tmp_path, people):
    for name in ("one.csv", "two.csv", "one.csv.gz", "two.csv.gz"):
        tacit.write(people, tmp_path / name)
    content = (tmp_path / "one.csv").read_bytes()
    assert content == (tmp_path / "two.csv").read_bytes()
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert b"\r" not in content
    assert content.splitlines()[1] == (
        b"1,1.5,\xc3\x85ngstr\xc3\xb6m,true,1950-01-02,2020-01-02T03:04:05.000000,01234"
    )
    assert b"-2e-7" in content
    assert b"0.3333333333333333" in content


def test_a_text_like_a_missing_word_is_told_apart(tmp_path):
    frame = pl.DataFrame({"country": ["NA", None, "DE"], "n": [1, 2, None]})
    tacit.write(frame, tmp_path / "data.csv")
    assert tacit.read(tmp_path / "data.csv").frame.equals(frame)


def test_what_csv_cannot_hold_is_refused(tmp_path):
    frame = pl.DataFrame({"a": [dt.timedelta(days=1)]})
    with pytest.raises(WriteError, match=r"cannot be written as CSV"):
        tacit.write(frame, tmp_path / "data.csv")
    with pytest.raises(WriteError):
        tacit.write(pl.DataFrame({"a": ["語"]}), tmp_path / "data.csv", encoding="latin-1")
    assert list(tmp_path.iterdir()) == []


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
_record = st.tuples(
    _text | st.none(),
    st.floats(allow_nan=False) | st.none(),
    st.integers(-(2**63), 2**63 - 1) | st.none(),
    st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)) | st.none(),
    st.booleans() | st.none(),
)
_dtypes = [pl.String, pl.Float64, pl.Int64, pl.Date, pl.Boolean]


@settings(max_examples=150, deadline=None)
@given(st.lists(_record, min_size=1, max_size=12), st.sampled_from([",", ";", "\t", "|"]))
def test_any_values_survive(records, separator):
    schema = dict(zip("abcde", _dtypes, strict=True))
    frame = pl.DataFrame(records, schema=schema, orient="row")
    kinds = {"a": "text", "b": "numeric", "c": "numeric", "d": "date", "e": "nominal"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        tacit.write(frame, path, separator=separator)
        back = tacit.read(path, separator=separator, types=kinds).frame
    blank_is_missing = frame.with_columns(pl.col("a").replace([""], [None]))
    for name in "abcde":
        assert back[name].to_list() == blank_is_missing[name].to_list()


@settings(max_examples=100, deadline=None)
@given(st.lists(_text | st.none(), max_size=8))
def test_any_single_column_survives(values):
    frame = pl.DataFrame({"a": pl.Series(values, dtype=pl.String)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        tacit.write(frame, path)
        back = tacit.read(path, types={"a": Kind.TEXT}).frame["a"].to_list()
    assert back == [v or None for v in values]


# -- shared data ----------------------------------------------------------------------------------


def test_reference_files(shared_data):
    adult = tacit.read(shared_data / "adult" / "adult.csv")
    assert (len(adult), len(adult.columns)) == (30_162, 9)
    assert adult.schema["age"].kind is Kind.NUMERIC
    census = tacit.read(shared_data / "casc" / "CASCrefmicrodata.csv")
    assert (len(census), len(census.columns)) == (1080, 13)
    assert all(v.kind is Kind.NUMERIC for v in census.schema.variables)
    eia = tacit.read(shared_data / "casc" / "EIA.csv")
    assert len(eia) == 4092
    individuals = tacit.read(shared_data / "tables" / "rtauargus" / "indiv_dt.csv.gz")
    assert len(individuals) == 9786
