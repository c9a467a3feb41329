"""A protected table as rows of coloured cells, cut to what a page can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._precision import decimals
from tacit.tables.publication import MARK

if TYPE_CHECKING:
    from tacit.tables import Dimension, ProtectedTable

MOST_ROWS, MOST_COLUMNS = 150, 40
"""Codes down and across that a page shows."""


@dataclass(frozen=True)
class Square:
    """One cell of the page."""

    text: str
    status: str
    hint: str


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    code: str
    label: str
    depth: int
    squares: tuple[Square | None, ...]


@dataclass(frozen=True)
class TableView:
    """The part of a table that a page shows."""

    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: str
    """What is not shown, in words."""


def table_view(protected: ProtectedTable) -> TableView | None:
    """Return the upper levels of the first two dimensions, the others at their totals."""
    table = protected.original
    if not table.dimensions:
        return None
    down, *others = table.dimensions
    across = others[0] if others else None
    i = _shown(down, MOST_ROWS)
    j = np.array([0]) if across is None else _shown(across, MOST_COLUMNS)
    at = np.full((len(down.codes), 1 if across is None else len(across.codes)), -1, dtype=np.int64)
    flat = (table.codes[:, 2:] == 0).all(axis=1) if len(table.dimensions) > 2 else slice(None)
    cells = np.arange(table.n_cells)[flat]
    at[table.codes[cells, 0], 0 if across is None else table.codes[cells, 1]] = cells
    status, texts = protected.status, _Texts(protected)
    rows = tuple(
        Row(
            down.codes[r], down.labels.get(down.codes[r], ""), int(down.depth[r]),
            tuple(None if at[r, c] < 0 else texts.square(at[r, c], status[at[r, c]]) for c in j),
        )
        for r in i
    )  # fmt: skip
    heads = (table.variable or "count",) if across is None else tuple(_head(across, c) for c in j)
    return TableView(
        down.name, "" if across is None else across.name, heads, rows,
        _left_out(protected, (down, len(i)), (across, len(j))),
    )  # fmt: skip


def _head(dimension: Dimension, place: int) -> str:
    code = dimension.codes[place]
    return f"{code} {dimension.labels.get(code, '')}".strip()


def _shown(dimension: Dimension, most: int) -> np.ndarray:
    """Return the codes that fit: whole levels from the top, or the first of the second level."""
    for depth in range(int(dimension.depth.max(initial=0)), 0, -1):
        chosen = np.flatnonzero(dimension.depth <= depth)
        if len(chosen) <= most:
            return chosen
    return np.flatnonzero(dimension.depth <= 1)[:most]


def _left_out(
    protected: ProtectedTable,
    down: tuple[Dimension, int],
    across: tuple[Dimension | None, int],
) -> str:
    said = [
        f"{shown} of {len(dimension.codes)} codes of {dimension.name}"
        for dimension, shown in (down, across)
        if dimension is not None and shown < len(dimension.codes)
    ]
    rest = [d.name for d in protected.original.dimensions[2:]]
    said += [f"totals over {', '.join(rest)}"] if rest else []
    return f"Shown are {' and '.join(said)}." if said else ""


class _Texts:
    """Numbers of cells as the page shows them."""

    def __init__(self, protected: ProtectedTable) -> None:
        self.original, self.published = protected.original.value, protected.published
        self.n_decimals = decimals(self.original)
        rules: dict[int, list[str]] = {}
        for rule, hit in protected.sensitive.hits.items():
            for cell in np.flatnonzero(hit & protected.sensitive.cells):
                rules.setdefault(int(cell), []).append(rule)
        self.rules = rules

    def number(self, value: float) -> str:
        return f"{value:,.{self.n_decimals}f}" if self.n_decimals is not None else f"{value:,.6g}"

    def square(self, cell: int, status: str) -> Square:
        """Return a cell: what is published, or the original with a mark where nothing is."""
        original, published = self.original[cell], self.published[cell]
        hint = f"{status}: {', '.join(self.rules[cell])}" if cell in self.rules else str(status)
        if np.isnan(published):
            return Square(f"{self.number(original)} {MARK}", str(status), hint)
        if published != original:
            return Square(
                self.number(published), str(status), f"{hint}, was {self.number(original)}"
            )
        return Square(self.number(original), str(status), hint)
