"""Excel workbooks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import Any, ClassVar

from tacit.core.data import Microdata
from tacit.core.errors import ReadError, WriteError, nearest, optional
from tacit.core.families import Format
from tacit.io.delimited import column_names
from tacit.io.files import reading, records, writing
from tacit.io.kinds import EXACT, whole_as_integers

_MAX_RECORDS, _MAX_COLUMNS, _MAX_TEXT = 1_048_575, 16_384, 32_767
_NO_CLOCK = datetime(2000, 1, 1)
"""The time of making that is written, so that equal data give equal files."""


class Excel(Format, key="excel", title="Excel"):
    """One sheet of a workbook, with the names of the columns in its first row.

    Needs the extra ``formats``. Numbers keep 16 digits, whole numbers come back as integers, and an
    empty cell is a missing value. Text is written as text, never as a formula or a link.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

    sheet: str | int = 1
    """Name of the sheet, or its number counted from 1."""

    def read(self, path: Path) -> Any:
        """Return the sheet as a Polars frame."""
        fastexcel = optional("fastexcel", extra="formats")
        with reading(path, self.title), _quiet():
            book = fastexcel.read_excel(path)
            sheet = self._sheet(book.sheet_names, path)
            head = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
            if not head.width:
                raise ReadError(f"sheet {sheet!r} of {path.name} is empty")
            names = column_names([text or "" for text in head.row(0)], path)
            table = book.load_sheet(sheet, schema_sample_rows=None).to_polars()
            table.columns = names
            return table.select([_tidy(column) for column in table.get_columns()])

    def _sheet(self, names: list[str], path: Path) -> str:
        if isinstance(self.sheet, int):
            if not 1 <= self.sheet <= len(names):
                raise ReadError(
                    f"{path.name} has no sheet {self.sheet}", do=f"choose 1 to {len(names)}"
                )
            return names[self.sheet - 1]
        if self.sheet not in names:
            raise ReadError(
                f"{path.name} has no sheet {self.sheet!r}", do=nearest(self.sheet, names)
            )
        return self.sheet

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new workbook."""
        xlsxwriter = optional("xlsxwriter", extra="formats")
        table = records(data)
        _check_limits(table, path)
        settings = {
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "nan_inf_to_errors": True,
            "constant_memory": False,
        }
        with writing(path, self.title), xlsxwriter.Workbook(path, settings) as book:
            book.set_properties({"created": _NO_CLOCK})
            sheet = book.add_worksheet("data" if isinstance(self.sheet, int) else self.sheet)
            sheet.write_row(0, 0, table.columns)
            for position, column in enumerate(table.get_columns()):
                layout = book.add_format(_layout(column))
                sheet.write_column(1, position, column.to_list(), layout)


def _tidy(column: Any) -> Any:
    """Undo what a workbook does to values: it knows neither whole numbers nor plain dates."""
    import polars as pl

    if column.dtype == pl.Null:
        return column.cast(pl.String)
    if column.dtype.is_float():
        return whole_as_integers(column)
    if column.dtype == pl.Datetime:
        is_date = (column.dt.time() == time(0)).all() and column.null_count() < len(column)
        return column.cast(pl.Date) if is_date else column.cast(pl.Datetime("us"))
    return column


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the reader from printing its guesses about empty columns."""
    logger = logging.getLogger("fastexcel")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _layout(column: Any) -> dict[str, str]:
    import polars as pl

    if column.dtype == pl.Date:
        return {"num_format": "yyyy-mm-dd"}
    if column.dtype == pl.Time:
        return {"num_format": "hh:mm:ss"}
    return {"num_format": "yyyy-mm-dd hh:mm:ss"} if column.dtype.is_temporal() else {}


def _check_limits(table: Any, path: Path) -> None:
    """Refuse what Excel would cut off without a word."""
    import polars as pl

    if path.suffix.lower() != ".xlsx":
        raise WriteError(f"Excel files are written as .xlsx, not {path.suffix}")
    if table.height > _MAX_RECORDS or table.width > _MAX_COLUMNS:
        raise WriteError(
            "the data do not fit in a sheet",
            got=f"{table.height:,} records, {table.width:,} columns",
            do="write CSV or Parquet",
        )
    for column in table.get_columns():
        if column.dtype == pl.String and (column.str.len_chars().max() or 0) > _MAX_TEXT:
            raise WriteError(f"a text in {column.name!r} is too long for an Excel cell")
        if column.dtype.is_integer() and (column.cast(pl.Int128).abs().max() or 0) > EXACT:
            raise WriteError(
                f"whole numbers in {column.name!r} have more digits than Excel keeps",
                do="make the column text first",
            )
