"""Excel: values as they were, text never run as a formula, limits refused."""

import datetime as dt
import time

import polars as pl
import pytest
import xlsxwriter

import tacit
from tacit.core.errors import ReadError, WriteError


def book(path, rows, sheet="data"):
    with xlsxwriter.Workbook(path) as made:
        page = made.add_worksheet(sheet)
        for position, row in enumerate(rows):
            page.write_row(position, 0, row)
    return path


def test_round_trip(tmp_path, people):
    path = tmp_path / "data.xlsx"
    tacit.write(people, path)
    back = tacit.read(path).frame
    assert back.drop("amount").equals(people.drop("amount"))
    amounts = [frame["amount"].drop_nulls().to_list() for frame in (back, people)]
    assert amounts[0] == pytest.approx(amounts[1], rel=1e-15)
    assert back["amount"].null_count() == 1
    assert back.schema == people.schema


def test_same_bytes_whenever_written(tmp_path, people):
    tacit.write(people, tmp_path / "one.xlsx")
    time.sleep(1.1)
    tacit.write(people, tmp_path / "two.xlsx")
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()


def test_text_stays_text(tmp_path):
    frame = pl.DataFrame({"a": ["=1+1", "http://x.y", "12", "@sum", "1e5"]})
    tacit.write(frame, tmp_path / "data.xlsx")
    assert tacit.read(tmp_path / "data.xlsx").frame.equals(frame)


def test_sheets_by_name_and_number(tmp_path):
    path = tmp_path / "data.xlsx"
    with xlsxwriter.Workbook(path) as made:
        for name in ("first", "second"):
            made.add_worksheet(name).write_column(0, 0, [name, 1])
    assert tacit.read(path).columns == ["first"]
    assert tacit.read(path, sheet=2).columns == ["second"]
    assert tacit.read(path, sheet="second").columns == ["second"]
    with pytest.raises(ReadError, match=r"no sheet 3; choose 1 to 2"):
        tacit.read(path, sheet=3)
    with pytest.raises(ReadError, match=r"did you mean 'second'"):
        tacit.read(path, sheet="secnd")


def test_duplicate_names_are_refused(tmp_path):
    path = book(tmp_path / "data.xlsx", [["a", "b", "a"], [1, 2, 3]])
    with pytest.raises(ReadError, match=r"duplicate column names: 'a'"):
        tacit.read(path)


def test_nameless_columns_are_numbered(tmp_path):
    path = book(tmp_path / "data.xlsx", [["a", None, "c"], [1, 2, 3]])
    assert tacit.read(path).columns == ["a", "column_2", "c"]


def test_types_are_found_from_all_rows(tmp_path):
    rows = [["a", "b"], *[[1, 1]] * 1500, ["x", 1.5]]
    frame = tacit.read(book(tmp_path / "data.xlsx", rows)).frame
    assert frame["a"].to_list()[-2:] == ["1", "x"]
    assert frame["b"].dtype == pl.Float64


def test_records_without_a_value_stay_in_their_place(tmp_path):
    path = book(tmp_path / "data.xlsx", [["a", "b"], [1, 2], [None, None], [3, 4]])
    assert tacit.read(path).frame.rows() == [(1, 2), (None, None), (3, 4)]


def test_header_only_and_empty(tmp_path):
    assert len(tacit.read(book(tmp_path / "data.xlsx", [["a", "b"]]))) == 0
    with pytest.raises(ReadError, match=r"is empty"):
        tacit.read(book(tmp_path / "empty.xlsx", []))


def test_no_records_written(tmp_path, people):
    tacit.write(people.clear(), tmp_path / "data.xlsx")
    data = tacit.read(tmp_path / "data.xlsx")
    assert (data.columns, len(data)) == (people.columns, 0)


def test_broken_files(text_file):
    with pytest.raises(ReadError, match=r"cannot be read as Excel") as caught:
        tacit.read(text_file(b"not a workbook", "data.xlsx"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pl.DataFrame({"a": ["x" * 40_000]}), "too long"),
        (pl.DataFrame({"a": [2**60]}), "more digits"),
        (pl.DataFrame({"a": [dt.timedelta(1)]}), "."),
        (pl.DataFrame({"a": range(1_048_576)}), "do not fit"),
    ],
)
def test_limits_are_refused(tmp_path, frame, says):
    if says == ".":
        tacit.write(frame, tmp_path / "data.xlsx")  # a duration is a number of days in Excel
        return
    with pytest.raises(WriteError, match=says):
        tacit.write(frame, tmp_path / "data.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_only_xlsx_is_written(tmp_path, people):
    with pytest.raises(WriteError, match=r"written as \.xlsx"):
        tacit.write(people, tmp_path / "data.xls")
