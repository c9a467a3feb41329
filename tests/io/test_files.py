"""Which format a file is, and how its problems are told."""

from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit.core.errors import ReadError, UnknownMethodError, WriteError
from tacit.io.files import first_line, format_of, is_url, reading, records, suffix_of, writing


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("a.csv", "csv"), ("a.TSV", "csv"), ("a.txt", "csv"), ("a.csv.gz", "csv"),
        ("a.parquet", "parquet"), ("a.feather", "arrow"), ("a.arrow", "arrow"), ("a.xlsx", "excel"),
        ("a.sav", "spss"), ("a.zsav", "spss"), ("a.dta", "stata"), ("a.xpt", "sas"),
        ("a.sas7bdat", "sas"), ("a.asc", "argus"), ("a.asc.gz", "argus"),
    ],
)  # fmt: skip
def test_the_ending_names_the_format(name, key):
    assert format_of(Path(name), None, ReadError).key == key


def test_no_ending_belongs_to_two_formats():
    endings = [s for f in tacit.methods("format") for s in f.suffixes]
    assert len(endings) == len(set(endings))


def test_unknown_endings_list_the_known_ones():
    with pytest.raises(ReadError, match=r"got \.doc.*format='csv'.*\.csv"):
        format_of(Path("a.doc"), None, ReadError)
    with pytest.raises(ReadError, match=r"no ending"):
        format_of(Path("data"), None, ReadError)


def test_unknown_keys_give_the_nearest():
    with pytest.raises(UnknownMethodError, match=r"did you mean 'parquet'"):
        format_of(Path("a"), "parket", ReadError)


def test_urls_and_suffixes():
    assert is_url("postgresql://x/y")
    assert not is_url("C:/x.csv")
    assert not is_url(Path("a.csv"))
    assert suffix_of(Path("a.b.CSV.GZ")) == ".csv"


def test_a_panic_of_compiled_code_is_a_failure_but_an_interrupt_is_not():
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(ReadError, match=r"boom"), reading(Path("a.csv"), "CSV"):
        raise panic("boom\nand a backtrace")
    with pytest.raises(KeyboardInterrupt), reading(Path("a.csv"), "CSV"):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), writing(Path("a.csv"), "CSV"):
        raise KeyboardInterrupt
    with pytest.raises(WriteError, match=r"boom"), writing(Path("a.csv"), "CSV"):
        raise ValueError("boom")
    with pytest.raises(WriteError, match=r"No space left"), writing(Path("a.csv"), "CSV"):
        raise OSError(28, "No space left on device")
    with pytest.raises(MemoryError), reading(Path("a.csv"), "CSV"):
        raise MemoryError


def test_first_line():
    assert first_line(ValueError("\n  a \n b")) == "a"
    assert first_line(ValueError()) == "ValueError"


def test_records_leave_the_hidden_column_out():
    data = tacit.read(pl.DataFrame({"a": [1, 2]})).numbered()
    assert data.local.width == 2
    assert records(data).columns == ["a"]
