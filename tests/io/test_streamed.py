"""Conversion a few megabytes at a time: the same records as in memory, or the same refusal."""

from unittest import mock

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.data import Microdata
from tacit.core.errors import ReadError
from tacit.io import delimited
from tacit.io.streamed import fetched, is_streamed, to_parquet

SMALL = mock.patch.object(delimited, "BLOCK", 64)
"""Blocks of a few records, so that every decision spans several of them."""

WORDS = st.sampled_from(
    ["1", "-3", " 4 ", "2.5", "1e3", "nan", "inf", "007", "+5", "12345678901234567890", "", "NA",
     '"NA"', '""', "true", "False", "2001-05-06", "2001-05-06 07:08", "2001-05-06T07:08:09.5",
     "größe", '"a,b"', '"two\nlines"', " ", "0", '" 9"'],
)  # fmt: skip


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=2, max_size=2), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_a_stream_gives_the_records_and_types_of_reading(tmp_path_factory, kinds, times):
    # Few different values per column, many records: whole columns of one type are common.
    folder = tmp_path_factory.mktemp("streamed")
    records = [",".join(values[i % len(values)] for values in kinds) for i in range(times * 7)]
    path = folder / "data.csv"
    path.write_text("\n".join(["a,b", *records, ""]), encoding="utf-8")
    with SMALL:
        made = to_parquet(path, folder / "made.parquet")
    expected = tacit.read(path)
    assert pl.read_parquet(folder / "made.parquet").equals(expected.local, null_equal=True)
    assert dict(pl.read_parquet_schema(folder / "made.parquet")) == dict(expected.local.schema)
    assert made.schema == expected.schema


@pytest.mark.parametrize("late", ["x", "0123", "1.5", " 7", "NA", "true", "2020-01-01"])
def test_the_last_value_decides_too(tmp_path, late):
    path = tmp_path / "late.csv"
    path.write_text("n\n" + "1\n" * 500 + f"{late}\n", encoding="utf-8")
    with SMALL:
        made = to_parquet(path, tmp_path / "made.parquet")
    assert made.local.equals(tacit.read(path).local, null_equal=True)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a,b\n" + b"1,2\n" * 60 + b"1,2,3\n" + b"1,2\n" * 60, "line 62"),
        (b"a,b\n" + b"1,2\n" * 60 + b"x,\xff\xfe\n", "line 62"),
        (b"a,b\n" + b"1,2\n" * 60 + b'x,"never ends\n' + b"1,2\n" * 60, "line 62"),
        (b"a,a\n1,2\n", "duplicate"),
        (b"a,b\n" + b'1,"' + b"x" * 300 + b'"\n', "record of more"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_left(tmp_path, content, told):
    path = tmp_path / "wrong.csv"
    path.write_bytes(content)
    with SMALL, pytest.raises(ReadError, match=told):
        to_parquet(path, tmp_path / "made.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["wrong.csv"]


def test_parquet_is_taken_as_reading_takes_it(tmp_path):
    frame = pl.DataFrame(
        {"n": [1, 2, None], "x": [1.5, float("nan"), None], "nothing": [None] * 3,
         "size": pl.Series(["s", "l", None], dtype=pl.Enum(["s", "m", "l"]))}
    )  # fmt: skip
    frame.write_parquet(tmp_path / "given.parquet")
    made = to_parquet(tmp_path / "given.parquet", tmp_path / "made.parquet")
    expected = tacit.read(tmp_path / "given.parquet")
    assert made.local.equals(expected.local, null_equal=True)
    assert made.schema == expected.schema


def test_types_that_engines_read_differently_are_not_streamed(tmp_path):
    path = tmp_path / "spans.parquet"
    pl.DataFrame({"d": [1]}, schema={"d": pl.Duration("us")}).write_parquet(path)
    assert not is_streamed(path)


def test_a_relation_is_fetched_in_portions(tmp_path):
    relation = duckdb.sql("SELECT range AS n, 'ä' || range AS t FROM range(250000)")
    data = Microdata.of(relation)
    made = fetched(data, tmp_path / "made.parquet")
    assert made.local.equals(data.local)
    assert pl.scan_parquet(tmp_path / "made.parquet").select(pl.len()).collect().item() == 250_000


def test_a_frame_without_an_engine_is_fetched_at_once(tmp_path):
    data = Microdata.of(pl.DataFrame({"n": [1, None]}))
    assert fetched(data, tmp_path / "made.parquet").local.equals(data.local)


@pytest.mark.postgres
def test_a_table_of_a_server_is_fetched_as_it_is_read(postgres, tmp_path):
    postgres.run(
        "CREATE TABLE fetched_types AS SELECT i, i::smallint AS s, 'ä' || i AS t, i % 2 = 0 AS b, "
        "i / 3.0::float8 AS x, (i * 1.25)::numeric(12,2) AS m, DATE '2020-01-01' + i AS d, "
        "TIMESTAMP '2020-01-01 10:00' + i * INTERVAL '1 hour' AS at, "
        "CASE WHEN i > 3 THEN i END AS gaps FROM generate_series(1, 7) i"
    )
    data = tacit.read(postgres.url, table="fetched_types")
    made = fetched(data, tmp_path / "made.parquet")
    postgres.run("DROP TABLE fetched_types")
    expected = data.schema
    assert made.schema == expected
    assert made.local["t"].to_list() == [f"ä{i}" for i in range(1, 8)]
    assert made.local["gaps"].to_list() == [None, None, None, 4, 5, 6, 7]
    assert [float(m) for m in made.local["m"]] == [1.25 * i for i in range(1, 8)]
    assert made.local["d"].dtype == pl.Date
