"""Sums that a table misses, in words: which, by how much, and which cell may be the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.tables.table import Table

TOLERANCE = 1e-6
"""Share of the sizes of its terms by which a sum of numbers without end may miss."""
DUST = 1e-12
"""The same for whole numbers and cents, of which a sum that misses one is wrong."""
SHOWN = 3
"""Sums named at most."""


def missed_sums(table: Table) -> np.ndarray:
    """Return the relations that the values do not fulfil, but for rounding."""
    size = np.asarray(abs(table.relations) @ np.abs(table.value))
    least, places = TOLERANCE * np.maximum(size, 1.0), _exact_decimals(table.value)
    if places is not None:
        least = np.minimum(least, np.maximum(0.5 * 10.0**-places, DUST * size))
    return np.flatnonzero(np.abs(table.residuals()) > least)


def _exact_decimals(values: np.ndarray) -> int | None:
    """Return how many decimals the values have to the last bit; None if more than two."""
    largest = np.abs(values).max(initial=0.0)
    for places in (0, 1, 2):
        if largest * 10**places < 2**50 and np.array_equal(np.round(values, places), values):
            return places
    return None


def describe_missed(table: Table, wrong: np.ndarray) -> str:
    """Say which sums are missed and by how much, and the one cell that would explain it."""
    parts = [_missed_by(table, k, "miss it by") if n == 0 else _missed_by(table, k, "by")
             for n, k in enumerate(wrong[:SHOWN])]  # fmt: skip
    number = "1 sum is missed" if len(wrong) == 1 else f"{len(wrong):,} sums are missed"
    more = ", ..." if len(wrong) > SHOWN else ""
    return f"{number}; the parts of {', of '.join(parts)}{more}{_cause(table, wrong)}"


def _missed_by(table: Table, relation: int, words: str) -> str:
    row = table.relations[[relation], :].tocoo()
    total = table.describe(row.coords[1][row.data < 0])
    return f"{total} {words} {table.residuals()[relation]:g}"


def _cause(table: Table, wrong: np.ndarray) -> str:
    """Name the cell that stands in all sums that are missed and in no other, if there is one."""
    a = table.relations.tocoo()
    relation, cell = a.coords
    off = table.residuals()[relation] / a.data
    low, high = np.full(table.n_cells, np.inf), np.full(table.n_cells, -np.inf)
    np.minimum.at(low, cell, off)
    np.maximum.at(high, cell, off)
    same = np.isclose(low, high, rtol=TOLERANCE) & (low != 0)
    found = np.flatnonzero(same & (np.bincount(cell, minlength=table.n_cells) == len(wrong)))
    if len(found) != 1:
        return ""
    has = float(table.value[found[0]])
    return f"; they would hold if {table.describe(found)} were {has - low[found[0]]:g}, not {has:g}"
