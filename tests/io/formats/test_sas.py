"""SAS: transport files are written, datasets only read."""

import polars as pl
import pytest

import tacit
from tacit.core.errors import WriteError


def test_datasets_are_not_written(tmp_path, people):
    with pytest.raises(WriteError, match=r"write \.xpt"):
        tacit.write(people, tmp_path / "data.sas7bdat")


def test_long_names_and_texts_survive(tmp_path):
    frame = pl.DataFrame({"a_name_of_more_than_8": ["x" * 500, None]})
    tacit.write(frame, tmp_path / "data.xpt")
    assert tacit.read(tmp_path / "data.xpt").frame.equals(frame)


def test_no_clock_is_written(tmp_path):
    tacit.write(pl.DataFrame({"a": [1]}), tmp_path / "data.xpt")
    head = (tmp_path / "data.xpt").read_bytes()[:640]
    assert head.count(b"01JAN00:00:00:00") == 4


def test_doubles_survive_exactly(tmp_path):
    frame = pl.DataFrame({"a": [1 / 3, 1e-70, -1e70, 0.1 + 0.2]})
    tacit.write(frame, tmp_path / "data.xpt")
    assert tacit.read(tmp_path / "data.xpt").frame.equals(frame)
