"""Reading: what may be a source, what is remembered about it, and what is refused."""

import json
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.core.errors import DataError, ParameterError, ReadError, SchemaError
from tacit.core.schema import Kind, Role, Schema, Variable


@pytest.fixture
def survey(text_file):
    return text_file("zip;age;income\n01234;30;1,5\n99999;;2,5\n", "survey.csv")


def test_paths_as_text_or_path(survey):
    assert tacit.read(str(survey)).frame.equals(tacit.read(survey).frame)


def test_source_and_reading_are_remembered(survey):
    data = tacit.read(survey, decimal=",", types={"zip": "text"})
    assert data.source == str(survey)
    assert data.reading == {
        "format": "csv", "options": {"decimal": ","}, "types": {"zip": "text"},
    }  # fmt: skip
    assert json.loads(json.dumps(data.reading)) == data.reading
    assert data.with_roles(keys=["age"]).reading == data.reading


def test_a_relative_path_is_remembered_as_a_whole_one(survey, monkeypatch):
    monkeypatch.chdir(survey.parent)
    assert tacit.read("survey.csv").source == str(survey)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_of_all_kinds(make):
    frame = make({"a": [1, 2], "b": ["x", "y"]})
    data = tacit.read(frame, types={"a": "nominal"})
    assert type(data.frame) is type(frame)
    assert data.schema["a"].kind is Kind.NOMINAL
    assert data.source is None
    assert data.reading == {"types": {"a": "nominal"}}


def test_microdata_pass_through():
    data = tacit.read(pl.DataFrame({"a": [1]})).with_roles(keys=["a"])
    assert tacit.read(data).schema == data.schema


def test_a_schema_and_its_kinds(survey, tmp_path):
    schema = Schema(
        variables=(
            Variable(name="zip", kind=Kind.TEXT, roles=frozenset({Role.KEY})),
            Variable(name="income", kind=Kind.NUMERIC),
        )
    )
    schema.save(tmp_path / "schema.toml")
    for given in (schema, tmp_path / "schema.toml", str(tmp_path / "schema.toml")):
        data = tacit.read(survey, schema=given, decimal=",")
        assert data.schema.keys == ["zip"]
        assert data.frame["income"].to_list() == [1.5, 2.5]
        assert data.reading["types"] == {"zip": "text", "income": "numeric"}


def test_types_win_over_the_schema(survey):
    schema = Schema(variables=(Variable(name="age", kind=Kind.NUMERIC),))
    data = tacit.read(survey, schema=schema, types={"age": "ordinal"})
    assert data.schema["age"].kind is Kind.ORDINAL
    assert data.frame["age"].to_list() == ["30", None]


def test_format_wins_over_the_ending(text_file):
    assert tacit.read(text_file("a,b\n1,2\n", "data.dat"), format="csv").columns == ["a", "b"]


def test_unknown_columns_in_types_or_schema(survey):
    with pytest.raises(SchemaError, match=r"no column 'agee'; did you mean 'age'"):
        tacit.read(survey, types={"agee": "numeric"})
    with pytest.raises(SchemaError, match=r"no column 'nope'"):
        tacit.read(survey, schema=Schema(variables=(Variable(name="nope", kind=Kind.TEXT),)))
    with pytest.raises(SchemaError, match=r"no schema file"):
        tacit.read(survey, schema="nothing.toml")


@pytest.mark.parametrize(
    ("name", "says"),
    [("nothing.csv", "no such file"), ("", "folder"), ("data.doc", "names no format")],
)
def test_sources_that_cannot_be_read(tmp_path, name, says):
    (tmp_path / "data.doc").write_text("x", encoding="utf-8")
    with pytest.raises(ReadError, match=says) as caught:
        tacit.read(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(survey):
    survey.chmod(0)
    with pytest.raises(ReadError, match=r"Permission denied"):
        tacit.read(survey)


def test_packed_files_of_other_formats(text_file):
    with pytest.raises(ReadError, match=r"Parquet files are read unpacked"):
        tacit.read(text_file(b"x", "data.parquet.gz"))


@pytest.mark.parametrize("arguments", [{"format": "csv"}, {"table": "x"}, {"separator": ";"}])
def test_arguments_that_mean_nothing_for_a_frame(arguments):
    with pytest.raises(ParameterError, match=r"has no meaning"):
        tacit.read(pl.DataFrame({"a": [1]}), **arguments)


def test_a_table_means_nothing_for_a_file(survey):
    with pytest.raises(ParameterError, match=r"table= has no meaning"):
        tacit.read(survey, table="x")


@pytest.mark.parametrize("thing", [None, 7, {"a": 1}, [1, 2]])
def test_things_that_are_no_data(thing):
    with pytest.raises(DataError, match=r"not a dataframe"):
        tacit.read(thing)


@pytest.mark.parametrize(
    "name", ["data.parquet", "data.sav", "data.xlsx", "data.arrow", "data.dta"]
)
def test_declared_types_for_files_with_types(tmp_path, name):
    tacit.write(pl.DataFrame({"a": ["1", "2"], "b": [1, 2]}), tmp_path / name)
    data = tacit.read(tmp_path / name, types={"a": "numeric", "b": "text"})
    assert data.frame.rows() == [(1, "1"), (2, "2")]
