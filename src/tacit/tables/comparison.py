"""Protections of one table side by side: what each costs, and what it still tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError, SchemaError, nearest
from tacit.core.table_measures import (
    cramers_v_change,
    entropy_change,
    fill_suppressed,
    rank_tests,
    variance_change,
)
from tacit.core.table_risk import error_risk
from tacit.tables._selection import code_keys
from tacit.tables.protected import ProtectedTable
from tacit.tables.table import Table

LEVEL = 0.05
"""Rows and columns whose rank test is below this count as changed."""
_MEASURES = {
    "absolute loss per cell": "sum of absolute differences of the inner cells",
    "absolute loss per cell (%)": "the same, in percent of the inner cells",
    "absolute loss of the total": "absolute difference of the grand total",
    "absolute loss of the total (%)": "the same, in percent",
    "entropy (6)": "change of the entropy inside rows, in percent",
    "relative variance (7)": "change of the variance inside rows, in percent",
    "relative Cramér's V (8)": "change of the association, in percent",
    "sensitive cells": "inner cells that the rule found sensitive",
    "risk (9)": "100 over the variance of the differences",
    "modified or suppressed cells": "inner cells that differ or are not published",
    "modified or suppressed cells (%)": "the same, in percent of the inner cells not empty",
    "rows changed": "rows whose distribution a rank test finds changed",
    "columns changed": "columns whose distribution a rank test finds changed",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several protections of one table, measured alike."""

    original: np.ndarray
    """Inner cells of the original, rows by columns."""
    released: Mapping[str, np.ndarray]
    """Inner cells as published, suppressed ones filled."""
    measures: Mapping[str, Mapping[str, float]]
    """For each protection the value of each measure."""
    rows: tuple[str, ...]
    """Codes of the rows."""
    columns: tuple[str, ...]
    """Codes of the columns."""

    @cached_property
    def frame(self) -> Any:
        """The measures as a Polars frame in the layout of M3A's Table 1: one column each."""
        import polars as pl

        columns = {name: list(found.values()) for name, found in self.measures.items()}
        return pl.DataFrame({"measure": list(_MEASURES), **columns}, strict=False)

    @cached_property
    def rank_tests(self) -> Any:
        """The p-value of the Mann-Whitney test of every row and column, by protection."""
        import polars as pl

        lines: list[dict[str, Any]] = []
        for side, codes in (("rows", self.rows), ("columns", self.columns)):
            tests = {
                name: rank_tests(self.original, cells, by=side)  # type: ignore[arg-type]
                for name, cells in self.released.items()
            }
            lines += [
                {"side": side, "code": code, **{n: float(p[i]) for n, p in tests.items()}}
                for i, code in enumerate(codes)
            ]
        return pl.DataFrame(lines)

    def chart(self) -> Any:
        """Draw the risk-utility map: loss across, risk up; the best are near the lower left."""
        import altair as alt

        points = [
            {
                "protection": name,
                "loss": found["absolute loss per cell (%)"],
                "risk": min(found["risk (9)"], 1e12),
            }
            for name, found in self.measures.items()
        ]
        base = alt.Chart({"values": points}).encode(
            x=alt.X("loss:Q", title="absolute loss per cell, %"),
            y=alt.Y("risk:Q", title="risk: 100 / variance of changes", scale=alt.Scale(type="log")),
        )
        words = base.mark_text(align="left", dx=8).encode(text="protection:N")
        return (base.mark_point(filled=True, size=70) + words).properties(width=420, height=300)


def compare(
    original: Table,
    protected: Mapping[str, ProtectedTable | np.ndarray],
    *,
    rows: str | None = None,
    columns: str | None = None,
) -> Comparison:
    """Measure several protections of one table in the layout of Table 1 of M3A.

    Parameters
    ----------
    original
        The table before protection.
    protected
        Protected tables by name, or their published values in the order of the cells.
    rows, columns
        Dimensions of which the finest codes make rows and columns; by default the first two. All
        others stand at their total.

    Notes
    -----
    Measures (6) to (9) of [matias2013]_ on the inner cells. A suppressed cell gets the average
    value that restores the total of its column, as the paper does; a suppressed grand total counts
    as not lost.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> noisy = {f"D = {d}": table.protect(tables.CellKey(max_change=d)) for d in (3, 5)}
    >>> tables.compare(table, noisy).frame.columns
    ['measure', 'D = 3', 'D = 5']
    """
    if not protected:
        raise ParameterError("there is no protection to compare")
    cells, names = _inner(original, rows, columns)
    before = original.value[cells]
    released, measures = {}, {}
    for name, one in protected.items():
        published = one.published if isinstance(one, ProtectedTable) else np.asarray(one, float)
        if len(published) != original.n_cells:
            raise SchemaError(
                f"{name!r} is not a protection of this table",
                got=f"{len(published)} cells, {original.n_cells} expected",
            )
        sensitive = one.sensitive.cells if isinstance(one, ProtectedTable) else None
        released[name] = fill_suppressed(before, published[cells])
        measures[name] = _measured(original, published, cells, released[name], sensitive)
    return Comparison(before, released, measures, *names)


def _inner(
    table: Table, rows: str | None, columns: str | None
) -> tuple[np.ndarray, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the places of the inner cells, rows by columns, and their codes."""
    known = [d.name for d in table.dimensions]
    if len(known) < 2:
        raise SchemaError("a comparison needs rows and columns", got=f"{len(known)} dimensions")
    first = rows or next(name for name in known if name != columns)
    second = columns or next(name for name in known if name != first)
    for name in (first, second):
        if name not in known:
            raise SchemaError(f"the table has no dimension {name!r}", do=nearest(name, known))
    if first == second:
        raise ParameterError("rows and columns are different dimensions", got=first)
    down, across = (table.dimensions[known.index(name)].leaves for name in (first, second))
    wanted = np.tile([d.index[d.total] for d in table.dimensions], (len(down) * len(across), 1))
    for name, leaves, grid in ((first, down, 0), (second, across, 1)):
        dimension = table.dimensions[known.index(name)]
        codes = np.array([dimension.index[leaf] for leaf in leaves])
        at = np.indices((len(down), len(across)))[grid].ravel()
        wanted[:, known.index(name)] = codes[at]
    keys, order = table.keys
    asked = code_keys(wanted, table.dimensions)
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    if np.any(keys[place] != asked):
        raise SchemaError("a comparison needs every inner cell", do="keep empty cells in the table")
    return order[place].reshape(len(down), len(across)), (tuple(down), tuple(across))


def _measured(
    table: Table,
    published: np.ndarray,
    cells: np.ndarray,
    filled: np.ndarray,
    sensitive: np.ndarray | None,
) -> dict[str, float]:
    before, at = table.value[cells], table.cell()
    loss, size = float(np.abs(filled - before).sum()), float(np.abs(before).sum())
    total = 0.0 if np.isnan(published[at]) else abs(float(published[at] - table.value[at]))
    grand = abs(float(table.value[at]))
    changed = np.isnan(published[cells]) | (published[cells] != before)
    n_inner = max(int((before != 0).sum()), 1)
    found = (
        loss,
        100 * loss / size if size else 0.0,
        total,
        100 * total / grand if grand else 0.0,
        entropy_change(before, filled) if min(before.min(), filled.min()) >= 0 else float("nan"),
        variance_change(before, filled) if before.shape[1] > 1 else float("nan"),
        cramers_v_change(before, filled) if min(before.min(), filled.min()) >= 0 else float("nan"),
        float("nan") if sensitive is None else int(sensitive[cells].sum()),
        error_risk(before, filled) if before.size > 1 else float("nan"),
        int(changed.sum()),
        100 * float(changed.sum()) / n_inner,
        int((rank_tests(before, filled, by="rows") < LEVEL).sum()),
        int((rank_tests(before, filled, by="columns") < LEVEL).sum()),
    )
    return dict(zip(_MEASURES, map(float, found), strict=True))
