"""A protected table for readers: flat, pivoted, as CSV and Excel, with a note on its protection.

Nothing here shows the original of a cell that is suppressed or changed, which cells are sensitive,
how much protection a rule asks for, or a seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.atomic import new_file
from tacit.core.errors import SchemaError, nearest
from tacit.tables._precision import decimals
from tacit.tables.protected import ProtectedTable

if TYPE_CHECKING:
    from tacit.tables.rule import Rule

MARK = "c"
"""Stands in place of a value that is not published (confidential), as in SDMX and at Eurostat."""
FLAG = "flag"
"""Name of the column of marks."""
_EXACT = 2**53
_FORMULA = re.compile(r"^[=+@\t\r-]")


def public_frame(protected: ProtectedTable) -> Any:
    """Return the cells as a Polars frame: codes, value, and ``c`` where none is published.

    A reader cannot tell sensitive cells from those suppressed to protect them, nor changed values
    from others.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNSSEE"), "x": [90, 1, 20, 25, 30, 33]})
    >>> table = tacit.tabulate(frame, "region", "x")
    >>> made = table.protect(tables.SuppressModular(), tables.Dominance(n=1, k=80))
    >>> public_frame(made).rows()
    [('Total', 199, ''), ('E', 63, ''), ('N', None, 'c'), ('S', None, 'c')]
    """
    import polars as pl

    table = protected.original
    value = published_values(protected)
    series = [value, pl.Series(FLAG, np.where(protected.suppressed, MARK, ""), dtype=pl.String)]
    taken = [s.name for s in series if s.name in table.code_frame.columns]
    if taken:
        raise SchemaError("a dimension has the name of another column", got=taken[0])
    return table.code_frame.with_columns(series).filter(pl.Series(protected.listed))


def published_values(protected: ProtectedTable) -> Any:
    """Return what is published as a column, missing where suppressed, without binary dust."""
    import polars as pl

    name = protected.original.variable or "count"
    shown = protected.published[~protected.suppressed]
    n_decimals = decimals(shown)
    value = pl.Series(name, protected.published, nan_to_null=True)
    if n_decimals is None:
        return value
    value = value.round(n_decimals)
    small = len(shown) == 0 or np.abs(shown).max() < _EXACT
    return value.cast(pl.Int64) if n_decimals == 0 and small else value


def pivoted(protected: ProtectedTable, columns: str | None = None) -> Any:
    """Return the table with one dimension across and the others down, missing where suppressed.

    Parameters
    ----------
    protected
        A table with dimensions.
    columns
        The dimension that goes across; the last unless given.
    """
    import polars as pl

    layout = Layout(protected, columns)
    value = published_values(protected)
    at = np.full(layout.shape, -1, dtype=np.int64)
    listed = np.flatnonzero(protected.listed)
    at[layout.row[listed], layout.column[listed]] = listed
    left = {name: list(codes) for name, codes in layout.row_codes()}
    indices = pl.Series(value.name, at.ravel()).replace([-1], [None])
    filled = value.gather(indices)
    n_rows, n_columns = layout.shape
    across = {
        code: filled.gather(np.arange(n_rows) * n_columns + j)
        for j, code in enumerate(layout.across.codes)
    }
    taken = sorted(left.keys() & across.keys())
    if taken:
        raise SchemaError("a code has the name of a dimension", got=taken[0])
    return pl.DataFrame({**left, **across})


class Layout:
    """Where each cell stands when one dimension goes across and the others down."""

    def __init__(self, protected: ProtectedTable, columns: str | None = None) -> None:
        table = protected.original
        if not table.dimensions:
            raise SchemaError("only a table with dimensions can be pivoted", got=repr(table))
        names = [d.name for d in table.dimensions]
        if columns is not None and columns not in names:
            raise SchemaError(f"there is no dimension {columns!r}", do=nearest(columns, names))
        j = len(names) - 1 if columns is None else names.index(columns)
        self.across = table.dimensions[j]
        self.down = [d for k, d in enumerate(table.dimensions) if k != j]
        others = np.delete(table.codes, j, axis=1)
        self.rows, row = np.unique(others, axis=0, return_inverse=True)
        self.row = row.ravel()
        self.column = table.codes[:, j]
        self.shape = (len(self.rows), len(self.across.codes))

    def row_codes(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each dimension that goes down with its code in every row."""
        for k, dimension in enumerate(self.down):
            yield dimension.name, [dimension.codes[int(code)] for code in self.rows[:, k]]


# -- files -----------------------------------------------------------------------------------------


def write_csv(protected: ProtectedTable, path: str | Path) -> None:
    """Write the cells for publication as CSV, whole or not at all.

    A code that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    frame = public_frame(protected)
    write_frame(frame.with_columns(frame[FLAG].replace([""], [None])), path)


def write_frame(frame: Any, path: str | Path) -> None:
    """Write a frame as CSV, whole or not at all, with no text a spreadsheet takes for a formula."""
    import polars as pl

    text = [name for name, kind in frame.schema.items() if kind == pl.String]
    frame = frame.with_columns(_harmless(frame[name]) for name in text)
    frame.columns = [harmless(name) for name in frame.columns]
    with new_file(Path(path)) as scratch:
        frame.write_csv(scratch)


def _harmless(column: Any) -> Any:
    codes = column.drop_nulls().unique().to_list()
    return column.replace(codes, [harmless(code) for code in codes])


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-5"), harmless("A01")
    ("'=1+1", '-5', 'A01')
    """
    if not _FORMULA.match(text) or re.fullmatch(r"[+-]?\d+([.,]\d+)?", text):
        return text
    return f"'{text}"


def write_excel(
    protected: ProtectedTable, path: str | Path, *, title: str | None = None, note: str = ""
) -> None:
    """Write a workbook to publish: one sheet with the table and one with a legend.

    Parameters
    ----------
    protected
        The table.
    path
        The ``.xlsx`` file; it appears whole or not at all.
    title
        Heading; what the table holds unless given.
    note
        What readers may know about the protection; see `public_note`.
    """
    from tacit.tables._workbook import public_workbook

    with new_file(Path(path)) as scratch:
        public_workbook(protected, scratch, title or heading(protected), note)


def heading(protected: ProtectedTable) -> str:
    """Say what the table holds."""
    table = protected.original
    what = "Number of records" if table.is_count else f"Total of {table.variable}"
    by = " and ".join(d.name for d in table.dimensions)
    return f"{what} by {by}" if by else what


def public_note(
    protected: ProtectedTable, *, rule: Rule | None = None, method: str | None = None
) -> str:
    """Return what readers of the table may know about its protection, as Markdown.

    Parameters
    ----------
    protected
        The table.
    rule
        What was sensitive; its kind is named, its parameters are not.
    method
        What users may know about the method: its title, not its parameters.
    """
    lines = ["# How this table was protected", "", f"{heading(protected)}.", ""]
    lines += [*_words(protected, rule, method), ""]
    lines += [*_merged(protected), ""] if protected.notes.get("merged") else []
    lines += ["Do not try to work out the values of single contributors.", ""]
    return "\n".join(lines)


def _words(protected: ProtectedTable, rule: Rule | None, method: str | None) -> Iterator[str]:
    if rule is not None:
        yield f"A value is confidential by these rules: {', '.join(rule_titles(rule))}. "
    if protected.suppressed.any():
        yield (
            f"Values marked {MARK} are not published: they are confidential, or others could be "
            "worked out from them. Which of the two is not told. "
        )
    said = protected.notes.get("public note")
    if said:
        yield str(said)
        return
    if method:
        yield f"Method: {method}. "
    if protected.hides_changes or "additive" in protected.notes:
        adds_up = "add up" if protected.notes.get("additive") else "may not add up"
        yield f"Any value may have been changed; the published values {adds_up}."
    if "base" in protected.notes and "within" in protected.notes:
        yield (
            f" Values are rounded to multiples of {protected.notes['base']:,g}, each by "
            f"{protected.notes['within']:,g} at most."
        )


def _merged(protected: ProtectedTable) -> Iterator[str]:
    yield "These categories were taken together, each with the finest that it holds:"
    yield ""
    for name, codes in protected.notes["merged"].items():
        for code, several in codes.items():
            yield f"* {name} {code}: {', '.join(several)}"


def rule_titles(rule: Rule) -> list[str]:
    """Return the kinds of rules that a rule is joined from, each once.

    Examples
    --------
    >>> from tacit import tables
    >>> rule_titles(tables.rule("p(10)|p(20)"))
    ['p % rule']
    """
    parts = getattr(rule, "rules", (rule,))
    if parts == (rule,):
        return [rule.title]
    return list(dict.fromkeys(title for part in parts for title in rule_titles(part)))
