"""What the attacks on tables share: which tables they can read, and how cells are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.target import TableTarget

if TYPE_CHECKING:
    from tacit.tables import Audit, ProtectedTable


def sensitive_tables(target: TableTarget) -> list[ProtectedTable]:
    """Return the tables with sensitive cells whose published values say something exact."""
    return [
        table
        for table in target.tables
        if table.sensitive.cells.any() and (not table.changed.any() or "intervals" in table.notes)
    ]


def count_tables(target: TableTarget) -> list[ProtectedTable]:
    """Return the tables of unweighted counts."""
    return [t for t in target.tables if t.original.is_count and t.original.weighted_count is None]


def named(table: ProtectedTable, cells: np.ndarray, most: int = 5) -> list[str]:
    """Return the names of some cells."""
    return ["(" + ", ".join(table.original.labels(int(cell))) + ")" for cell in cells[:most]]


def narrow_before(found: Audit, known_within: float | None = None) -> np.ndarray:
    """Say of which attacked cells a narrow interval is known before publication.

    Everybody knows the table's own bounds; somebody may know every value within some percent.
    """
    lower, upper = (bound[found.cells] for bound in found.table.bounds)
    value = found.table.value[found.cells]
    short = (value - lower < found.below) | (upper - value < found.above)
    narrow = short & (upper - lower < found.width) & (upper > lower)
    if known_within is not None:
        reach = np.abs(value) * known_within / 100
        narrow |= (reach < found.below) | (reach < found.above) | (2 * reach < found.width)
    return np.asarray(narrow)
