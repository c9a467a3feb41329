"""What SPSS, Stata and SAS files share: two types, limits, no clock in the file."""

import datetime as dt
import time

import polars as pl
import pytest

import tacit
from tacit.core.errors import ReadError, WriteError

ENDINGS = [".sav", ".zsav", ".dta", ".xpt"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(tmp_path, people, ending):
    path = tmp_path / f"data{ending}"
    tacit.write(people, path)
    expected = people.with_columns(pl.col("employed").cast(pl.Int64))
    back = tacit.read(path).frame
    assert back.equals(expected)
    assert back.schema == expected.schema


@pytest.mark.parametrize("ending", ENDINGS)
def test_same_bytes_whenever_written(tmp_path, people, ending):
    tacit.write(people, tmp_path / f"one{ending}")
    if ending != ".dta":  # its clock shows minutes
        time.sleep(1.1)
    tacit.write(people, tmp_path / f"two{ending}")
    one, two = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    year = dt.datetime.now(tz=dt.UTC).strftime("%Y").encode()
    assert b" " + year not in one[:1000]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_records(tmp_path, people, ending):
    path = tmp_path / f"data{ending}"
    tacit.write(people.clear(), path)
    data = tacit.read(path)
    assert (data.columns, len(data)) == (people.columns, 0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_too_long_numbers_and_durations_are_refused(tmp_path, ending):
    with pytest.raises(WriteError, match=r"more digits"):
        tacit.write(pl.DataFrame({"a": [2**60]}), tmp_path / f"data{ending}")
    with pytest.raises(WriteError, match=r"durations"):
        tacit.write(pl.DataFrame({"a": [dt.timedelta(1)]}), tmp_path / f"data{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [*ENDINGS, ".sas7bdat"])
def test_broken_files(text_file, ending):
    with pytest.raises(ReadError, match=rf"data\{ending}") as caught:
        tacit.read(text_file(b"certainly not one of these files" * 20, f"data{ending}"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", ENDINGS)
def test_bad_names_are_refused(tmp_path, ending):
    with pytest.raises(WriteError, match=r"cannot be written as"):
        tacit.write(pl.DataFrame({"no spaces please": [1]}), tmp_path / f"data{ending}")
