"""Writing: whole or not at all, only what is released, never over something unasked."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.core.errors import ParameterError, WriteError
from tacit.io.formats.csv import Csv

ENDINGS = [".csv", ".parquet", ".arrow", ".xlsx", ".sav", ".dta", ".xpt", ".asc"]


@pytest.fixture
def release(people):
    data = tacit.read(people).with_roles(identifiers=["name"], keys=["number"])
    return tacit.Plan([]).apply(data, seed=1)


@pytest.mark.parametrize("ending", ENDINGS)
def test_identifiers_and_the_hidden_column_are_never_written(tmp_path, release, ending):
    path = tmp_path / f"data{ending}"
    tacit.write(release, path)
    assert tacit.read(path).columns == [
        "number", "amount", "employed", "born", "seen", "code",
    ]  # fmt: skip
    assert all(b"__tacit" not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_of_all_kinds(tmp_path, make):
    tacit.write(make({"a": [1, 2]}), tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_bytes() == b"a\n1\n2\n"


def test_an_existing_file_is_kept_unless_forced(tmp_path, people):
    path = tmp_path / "data.csv"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(WriteError, match=r"exists already.*use force"):
        tacit.write(people, path)
    assert path.read_text(encoding="utf-8") == "precious"
    tacit.write(people, path, force=True)
    assert len(tacit.read(path)) == len(people)


def test_a_folder_is_never_replaced(tmp_path, people):
    (tmp_path / "data.csv").mkdir()
    with pytest.raises(WriteError, match=r"is a folder"):
        tacit.write(people, tmp_path / "data.csv", force=True)


def test_folders_on_the_way_are_made(tmp_path, people):
    tacit.write(people, tmp_path / "deep" / "down" / "data.csv")
    assert (tmp_path / "deep" / "down" / "data.csv").is_file()


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_partial_is_left(tmp_path, people, monkeypatch, problem):
    def fail(self, data, path):
        path.write_text("half", encoding="utf-8")
        raise problem

    monkeypatch.setattr(Csv, "write", fail)
    with pytest.raises((WriteError, KeyboardInterrupt)):
        tacit.write(people, tmp_path / "data.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_survives_a_failure(tmp_path, people, monkeypatch):
    tacit.write(people, tmp_path / "data.csv")
    before = (tmp_path / "data.csv").read_bytes()
    monkeypatch.setattr(Csv, "write", lambda *_: (_ for _ in ()).throw(OSError(5, "broken disk")))
    with pytest.raises(WriteError, match=r"broken disk"):
        tacit.write(people, tmp_path / "data.csv", force=True)
    assert (tmp_path / "data.csv").read_bytes() == before


def test_unwritable_place(people):
    with pytest.raises(WriteError, match=r"could not write"):
        tacit.write(people, "/proc/nowhere/data.csv")


def test_unknown_endings_options_and_tables(tmp_path, people):
    with pytest.raises(WriteError, match=r"names no format"):
        tacit.write(people, tmp_path / "data.doc")
    with pytest.raises(ParameterError, match=r"did you mean 'separator'"):
        tacit.write(people, tmp_path / "data.csv", seperator=";")
    with pytest.raises(ParameterError, match=r"table= has no meaning"):
        tacit.write(people, tmp_path / "data.csv", table="x")
    with pytest.raises(ParameterError, match=r"name of a table"):
        tacit.write(people, f"sqlite:///{tmp_path}/x.db")
    with pytest.raises(ParameterError, match=r"has no meaning for a database"):
        tacit.write(people, f"sqlite:///{tmp_path}/x.db", table="x", separator=";")
    with pytest.raises(WriteError, match=r"written unpacked"):
        tacit.write(people, tmp_path / "data.parquet.gz")
    assert list(tmp_path.iterdir()) == []


def test_the_input_is_not_changed(tmp_path, people):
    before = people.clone()
    for ending in ENDINGS:
        tacit.write(people, tmp_path / f"data{ending}")
    assert people.equals(before)
