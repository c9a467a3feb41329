"""Parquet: types survive, broken files are refused in one line."""

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.core.errors import ParameterError, ReadError


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "lz4", "uncompressed"])
def test_round_trip(tmp_path, people, compression):
    path = tmp_path / "data.parquet"
    tacit.write(people, path, compression=compression)
    assert tacit.read(path).frame.equals(people)
    assert tacit.read(path).frame.schema == people.schema


def test_no_records(tmp_path, people):
    tacit.write(people.clear(), tmp_path / "data.parquet")
    assert tacit.read(tmp_path / "data.parquet").frame.schema == people.schema


def test_same_bytes(tmp_path, people):
    for name in ("one.parquet", "two.parquet"):
        tacit.write(people, tmp_path / name)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_names_with_brackets_are_no_patterns(tmp_path, people):
    tacit.write(people, tmp_path / "data[1].parquet")
    tacit.write(people.head(1), tmp_path / "data1.parquet")
    assert len(tacit.read(tmp_path / "data[1].parquet")) == len(people)


def test_declared_types(tmp_path):
    pl.DataFrame({"sex": [1, 2], "age": ["07", None], "zip": [1, 2]}).write_parquet(
        tmp_path / "data.parquet"
    )
    types = {"sex": "nominal", "age": "numeric", "zip": "text"}
    data = tacit.read(tmp_path / "data.parquet", types=types)
    assert data.frame.rows() == [(1, 7, "1"), (2, None, "2")]
    assert [str(v.kind) for v in data.schema.variables] == list(types.values())


def test_a_value_that_does_not_fit_names_the_record(tmp_path):
    pl.DataFrame({"age": ["1", "x"]}).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(ReadError, match=r"'age' is declared numeric, but record 2 holds 'x'"):
        tacit.read(tmp_path / "data.parquet", types={"age": "numeric"})
    with pytest.raises(ReadError, match=r"'age' is declared date"):
        tacit.read(tmp_path / "data.parquet", types={"age": "date"})


@pytest.mark.parametrize("content", [b"not parquet", b"PAR1" + b"\0" * 40 + b"PAR1"])
def test_broken_files(text_file, content):
    with pytest.raises(ReadError, match=r"cannot be read as Parquet|could not read") as caught:
        tacit.read(text_file(content, "data.parquet"))
    assert "\n" not in str(caught.value)


def test_columns_of_lists_are_refused(tmp_path):
    pl.DataFrame({"a": [[1, 2]]}).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(ReadError, match=r"'a' does not hold plain values"):
        tacit.read(tmp_path / "data.parquet")


def test_duplicate_names(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "data.parquet")
    with pytest.raises(ReadError, match=r"more than one occurrence|duplicate"):
        tacit.read(tmp_path / "data.parquet")


def test_misspelt_option(tmp_path, people):
    with pytest.raises(ParameterError, match=r"did you mean 'compression'"):
        tacit.write(people, tmp_path / "data.parquet", compresion="zstd")
