"""The summary of a protected table: cells and values per status, as users of tau-ARGUS know it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.protected import SUPPRESSED, ProtectedTable, Status

if TYPE_CHECKING:
    from tacit.tables.table import Table

WORDS = {
    Status.SAFE: "Safe",
    Status.FROZEN: "Safe, must be published",
    Status.WAIVED: "Safe, protection waived",
    Status.PRIMARY: "Unsafe",
    Status.FORCED: "Unsafe, must be suppressed",
    Status.SECONDARY: "Secondary",
    Status.CHANGED: "Changed",
    Status.PERTURBED: "Perturbed",
    Status.EMPTY: "Empty",
}
"""The statuses in words, in reading order."""
_FOUND = "Sensitive before"
"""Sensitive cells of a table whose values were changed; they bear another status."""


@dataclass(frozen=True)
class Line:
    """One line of the summary."""

    title: str
    """What the cells have in common."""
    cells: int
    """How many they are."""
    records: int | None
    """How many records contribute to them, where that is known."""
    value: float
    """What they add up to, totals counted as cells."""
    part_of: str = ""
    """The line above that this one breaks down."""


@dataclass(frozen=True)
class Summary:
    """What was protected, how, and what it cost."""

    table: str
    """What the table holds."""
    method: str
    """The protection, in words."""
    lines: tuple[Line, ...]
    """Cells per status; unsafe ones also by rule. The last line is all cells."""
    facts: dict[str, Any]
    """What the protection has to report."""

    @property
    def frame(self) -> Any:
        """The lines as a Polars data frame."""
        import polars as pl

        rows = [
            {"status": f"  {x.title}" if x.part_of else x.title, "cells": x.cells,
             "records": x.records, "value": x.value}
            for x in self.lines
        ]  # fmt: skip
        types = {"status": pl.String, "cells": pl.Int64, "records": pl.Int64, "value": pl.Float64}
        return pl.DataFrame(rows, schema=types)

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            "table": self.table,
            "method": self.method,
            "cells": [
                {"status": x.title, "part_of": x.part_of or None, "cells": x.cells,
                 "records": x.records, "value": x.value}
                for x in self.lines
            ],
            **{name: _plain(fact) for name, fact in self.facts.items()},
        }  # fmt: skip

    def __str__(self) -> str:
        rows = [("Status", "Cells", "Records", "Value"), *map(_written, self.lines)]
        widths = [max(len(row[j]) for row in rows) for j in range(4)]
        lines = [self.table, self.method, ""]
        for first, *others in rows:
            right = (text.rjust(w) for text, w in zip(others, widths[1:], strict=True))
            lines.append("  ".join([first.ljust(widths[0]), *right]))
        return "\n".join([*lines, *(f"{name}: {fact}" for name, fact in self.facts.items())])


def _written(line: Line) -> tuple[str, str, str, str]:
    title = f"  {line.title}" if line.part_of else line.title
    return title, f"{line.cells:,}", _records(line), f"{line.value:,.10g}"


def _records(line: Line) -> str:
    return "" if line.records is None else f"{line.records:,}"


def _plain(fact: Any) -> Any:
    return fact.item() if isinstance(fact, np.generic) else fact


def summarise(protected: ProtectedTable) -> Summary:
    """Return cells, records and value per status, unsafe cells also by the rule that hit them.

    The summary holds original values: it stays inside.
    """
    table = protected.original
    what = "Counts" if table.is_count else f"Totals of {table.variable}"
    by = " x ".join(d.name for d in table.dimensions) or f"{table.n_cells:,} cells"
    everything = np.ones(table.n_cells, dtype=bool)
    return Summary(
        table=f"{what} by {by}",
        method=protected.method,
        lines=(*_lines(protected), _line(table, "All cells", everything)),
        facts=dict(_facts(protected)),
    )


def _lines(protected: ProtectedTable) -> Iterator[Line]:
    table, status = protected.original, protected.status
    suppresses = protected.suppressed.any() or not protected.changed.any()
    shown = (Status.SAFE, *SUPPRESSED[::2]) if suppresses and not protected.hides_changes else ()
    for word, title in WORDS.items():
        cells = status == word
        if cells.any() or word in shown:
            yield _line(table, title, cells)
            if word == Status.PRIMARY:
                yield from _by_rule(protected, title)
    if len(protected.sensitive) and not shown:
        yield _line(table, _FOUND, protected.sensitive.cells)
        yield from _by_rule(protected, _FOUND)


def _by_rule(protected: ProtectedTable, title: str) -> Iterator[Line]:
    for rule, hit in protected.sensitive.hits.items():
        yield _line(protected.original, rule, hit & protected.sensitive.cells, part_of=title)


def _line(table: Table, title: str, cells: np.ndarray, part_of: str = "") -> Line:
    records = None if table.count is None else int(table.count[cells].sum())
    return Line(title, int(cells.sum()), records, float(table.value[cells].sum()), part_of)


def _facts(protected: ProtectedTable) -> Iterator[tuple[str, Any]]:
    """Yield what the protection reports that is short, and no secret."""
    for name, fact in protected.notes.items():
        short = isinstance(fact, bool | int | float | str | np.number | np.bool_)
        if short and name not in ("seed", "public note"):
            yield name, fact
