"""Workbooks of a protected table: one to publish, one that stays inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import WriteError, optional
from tacit.tables._precision import decimals
from tacit.tables.protected import ProtectedTable
from tacit.tables.publication import MARK, public_frame, published_values

if TYPE_CHECKING:
    from tacit.tables.dimension import Dimension

_MOST_ROWS, _MOST_COLUMNS, _MOST_TEXT = 1_048_576, 16_384, 32_767
_WIDEST_PIVOT = 500
"""Codes across; a table with more is written as a list."""
_NO_CLOCK = datetime(2000, 1, 1)
"""The time of making that is written, so that equal tables give equal files."""
_SETTINGS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
_TITLE_ROW, _HEAD_ROW = 0, 2
_COLOURS = {"primary": "#F4B6AE", "forced": "#F4B6AE", "secondary": "#FAD9A1", "changed": "#CFE3F5"}


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    xlsxwriter = optional("xlsxwriter", extra="formats")
    if path.suffix.lower() != ".xlsx":
        raise WriteError(f"Excel files are written as .xlsx, not {path.suffix or 'without ending'}")
    with xlsxwriter.Workbook(str(path), _SETTINGS) as book:
        book.set_properties({"created": _NO_CLOCK})
        yield book


# -- for readers -----------------------------------------------------------------------------------


def public_workbook(protected: ProtectedTable, path: Path, title: str, note: str) -> None:
    """Write the sheets ``table`` and ``legend``."""
    with _workbook(path) as book:
        sheet = book.add_worksheet("table")
        sheet.write_string(_TITLE_ROW, 0, title, book.add_format({"bold": True, "font_size": 13}))
        if _fits_a_pivot(protected):
            _Pivot(book, sheet, protected).write()
        else:
            _write_list(book, sheet, protected)
        _write_legend(book, protected, note)


def _fits_a_pivot(protected: ProtectedTable) -> bool:
    dimensions = protected.original.dimensions
    return 1 <= len(dimensions) <= 2 and len(dimensions[-1].codes) <= _WIDEST_PIVOT


class _Pivot:
    """One dimension down, one across; sub-totals are told by indentation."""

    def __init__(self, book: Any, sheet: Any, protected: ProtectedTable) -> None:
        table = protected.original
        self.book, self.sheet, self.protected = book, sheet, protected
        self.down = table.dimensions[0]
        self.across = table.dimensions[1] if len(table.dimensions) > 1 else None
        self.columns = [table.variable or "count"] if self.across is None else self.across.codes
        self.first_column = 2 if self.down.labels else 1
        form = _number_form(protected)
        self.number = book.add_format({"num_format": form})
        self.mark = book.add_format({"align": "right", "italic": True, "font_color": "#777777"})
        self.head = book.add_format({"bold": True, "bottom": 1, "align": "right"})

    def write(self) -> None:
        self._heads()
        table = self.protected.original
        value = published_values(self.protected).to_list()
        for cell in np.flatnonzero(self.protected.listed).tolist():
            number = value[cell]
            row = _HEAD_ROW + 1 + int(table.codes[cell, 0])
            place = 0 if self.across is None else int(table.codes[cell, 1])
            _put(self.sheet, row, self.first_column + place, number, self.number, self.mark)
        self.sheet.freeze_panes(_HEAD_ROW + 1, self.first_column)
        self.sheet.set_column(0, 0, 22)
        self.sheet.set_column(self.first_column, self.first_column + len(self.columns) - 1, 12)

    def _heads(self) -> None:
        left = self.book.add_format({"bold": True, "bottom": 1})
        self.sheet.write_string(_HEAD_ROW, 0, _fitting(self.down.name), left)
        for j, code in enumerate(self.columns):
            self.sheet.write_string(_HEAD_ROW, self.first_column + j, _labelled(self.across, code),
                                    self.head)  # fmt: skip
        deepest = int(self.down.depth.max(initial=0))
        forms = [
            self.book.add_format({"indent": min(k, 15), "bold": k == 0}) for k in range(deepest + 1)
        ]
        for i, (code, depth) in enumerate(zip(self.down.codes, self.down.depth, strict=True)):
            self.sheet.write_string(_HEAD_ROW + 1 + i, 0, _fitting(code), forms[int(depth)])
            if self.down.labels:
                label = self.down.labels.get(code, "")
                self.sheet.write_string(_HEAD_ROW + 1 + i, 1, _fitting(label))


def _put(sheet: Any, row: int, column: int, number: Any, form: Any, mark: Any) -> None:
    """Write a number, or the mark of a value that is not published."""
    if number is None:
        sheet.write_string(row, column, MARK, mark)
    else:
        sheet.write_number(row, column, number, form)


def _labelled(dimension: Dimension | None, code: str) -> str:
    label = "" if dimension is None else dimension.labels.get(code, "")
    return _fitting(f"{code.strip()} {label}" if label else code)


def _number_form(protected: ProtectedTable) -> str:
    n = decimals(protected.published[~protected.suppressed])
    return "#,##0" if not n else "#,##0." + "0" * n


def _write_list(book: Any, sheet: Any, protected: ProtectedTable) -> None:
    """Write one row per cell, for tables with more than two dimensions."""
    frame = public_frame(protected)
    form = book.add_format({"num_format": _number_form(protected)})
    mark = book.add_format({"align": "right", "italic": True, "font_color": "#777777"})
    value = frame.columns[-2]
    shown = frame.drop(frame.columns[-1])
    _check_fits(shown.height + _HEAD_ROW + 1, shown.width)
    _write_heads(book, sheet, shown.columns)
    for j, name in enumerate(shown.columns):
        for i, entry in enumerate(shown[name].to_list(), _HEAD_ROW + 1):
            if name == value:
                _put(sheet, i, j, entry, form, mark)
            else:
                sheet.write_string(i, j, _fitting(entry))
    sheet.autofilter(_HEAD_ROW, 0, _HEAD_ROW + shown.height, shown.width - 1)
    sheet.freeze_panes(_HEAD_ROW + 1, 0)
    sheet.set_column(0, shown.width - 1, 16)


def _write_heads(book: Any, sheet: Any, names: Sequence[str], row: int = _HEAD_ROW) -> None:
    form = book.add_format({"bold": True, "bottom": 1})
    for j, name in enumerate(names):
        sheet.write_string(row, j, _fitting(name), form)


def _write_legend(book: Any, protected: ProtectedTable, note: str) -> None:
    sheet = book.add_worksheet("legend")
    bold = book.add_format({"bold": True})
    wrap = book.add_format({"text_wrap": True, "valign": "top"})
    sheet.set_column(0, 0, 14)
    sheet.set_column(1, 1, 100)
    rows = [
        (MARK, "confidential: the value is not published"),
        ("0", "nothing was counted, or the value is zero"),
    ]
    rows += [("", line) for line in _note_lines(note)]
    for dimension in protected.original.dimensions:
        rows += [("", ""), (dimension.name, "")] if dimension.labels else []
        rows += [(code, dimension.labels[code]) for code in dimension.codes
                 if code in dimension.labels]  # fmt: skip
    sheet.write_string(0, 0, "Legend", bold)
    for i, (left, right) in enumerate(rows, 2):
        sheet.write_string(i, 0, _fitting(left), wrap)
        sheet.write_string(i, 1, _fitting(right), wrap)


def _note_lines(note: str) -> list[str]:
    """Return the lines of a Markdown note as plain text."""
    lines = [line.lstrip("# ").strip() for line in note.splitlines()]
    return ["", *(line for line in lines if line)] if note else []


# -- for the house ---------------------------------------------------------------------------------


def dossier_workbook(
    protected: ProtectedTable, path: Path, frames: dict[str, Any], *, most: int = 200_000
) -> None:
    """Write original and published values, coloured by status, and further sheets of frames."""
    with _workbook(path) as book:
        cells = inside_frame(protected).head(most)
        colours = {name: book.add_format({"bg_color": code}) for name, code in _COLOURS.items()}
        sheet = book.add_worksheet("cells")
        sheet.write_string(0, 0, "Internal: not for publication", book.add_format({"bold": True}))
        _write_frame(book, sheet, cells)
        for i, status in enumerate(cells["status"].to_list(), _HEAD_ROW + 1):
            if status in colours:
                sheet.write_string(i, cells.columns.index("status"), status, colours[status])
        for name, frame in frames.items():
            other = book.add_worksheet(name[:31])
            _write_frame(book, other, frame.head(most))


def inside_frame(protected: ProtectedTable) -> Any:
    """Return all that is known of each cell: original, published, status, rules, levels."""
    import polars as pl

    table, found = protected.original, protected.sensitive
    keys = [d.name for d in table.dimensions] or ["cell"]
    hits = np.full(table.n_cells, "", dtype=object)
    for rule, hit in found.hits.items():
        cells = hit & found.cells
        hits[cells] = [f"{said}; {rule}" if said else rule for said in hits[cells]]
    columns: dict[str, Any] = {
        "original": table.value,
        "published": pl.Series(protected.published, nan_to_null=True),
        "status": protected.status.astype(str),
        "rules": hits.tolist(),
        "required_below": found.below,
        "required_above": found.above,
    }
    if table.count is not None:
        columns["records"] = table.count
    return table.code_frame.with_columns(
        pl.Series(_free(name, keys), given) for name, given in columns.items()
    )


def _free(name: str, taken: Sequence[str]) -> str:
    return f"{name} (cell)" if name in taken else name


def _write_frame(book: Any, sheet: Any, frame: Any) -> None:
    _check_fits(frame.height + _HEAD_ROW + 1, frame.width)
    _write_heads(book, sheet, frame.columns)
    for j, name in enumerate(frame.columns):
        for i, entry in enumerate(frame[name].to_list(), _HEAD_ROW + 1):
            _write_entry(sheet, i, j, entry)
    sheet.set_column(0, max(frame.width - 1, 0), 14)
    sheet.freeze_panes(_HEAD_ROW + 1, 0)


def _write_entry(sheet: Any, row: int, column: int, entry: Any) -> None:
    if entry is None:
        return
    if isinstance(entry, bool):
        sheet.write_boolean(row, column, entry)
    elif isinstance(entry, int | float) and isfinite(entry):
        sheet.write_number(row, column, entry)
    else:
        sheet.write_string(row, column, _fitting(str(entry)))


def _fitting(text: str) -> str:
    """Return a text that a cell can hold."""
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _check_fits(rows: int, columns: int) -> None:
    if rows > _MOST_ROWS or columns > _MOST_COLUMNS:
        raise WriteError(
            "the table does not fit in a sheet",
            got=f"{rows:,} rows, {columns:,} columns",
            do="publish it as CSV",
        )
