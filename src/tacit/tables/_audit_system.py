"""What an intruder can vary: suppressed cells, the relations among them, and their bounds.

Before any linear programme: relations seen twice are dropped, bounds are propagated along the
relations, cells that turn out to be known are taken out, and the rest falls into components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._attacker import distinct_relations

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDS = 30
"""Passes of bound propagation; more than enough for usual hierarchies."""
KNOWN = 1e-9
"""Width, as a share of the value (of 1 when smaller), at which a cell counts as known."""
ROUNDED = 1e-14
"""The same where there are smaller cells, which may be all that moves a large one."""


@dataclass(frozen=True, eq=False)
class System:
    """Changes of some cells that an intruder cannot rule out."""

    cells: np.ndarray
    """Positions of the cells in the table."""
    relations: csr_array
    """Relations among the changes, restricted to these cells."""
    lower: np.ndarray
    """Least change of each cell (0 or less)."""
    upper: np.ndarray
    """Largest change of each cell (0 or more)."""

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, kept: np.ndarray) -> System:
        """Return the system of some of its cells (positions within it), the others known."""
        part = distinct_relations(self.relations[:, kept])
        return System(self.cells[kept], part, self.lower[kept], self.upper[kept])


def system_of(
    value: np.ndarray,
    relations: csr_array,
    hidden: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
) -> System:
    """Return the system of the suppressed cells (flags) with their propagated bounds."""
    cells = np.flatnonzero(hidden)
    part = distinct_relations(relations[:, cells])
    lower = np.minimum(bounds[0][cells] - value[cells], 0.0)
    upper = np.maximum(bounds[1][cells] - value[cells], 0.0)
    lower, upper = propagated(part, lower, upper, np.maximum(np.abs(value[cells]), 1.0))
    return System(cells, part, lower, upper)


def propagated(
    relations: csr_array, lower: np.ndarray, upper: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tighten bounds by what each relation says of one cell given the bounds of the others."""
    coo = relations.tocoo()
    row, column, weight = coo.coords[0], coo.coords[1], coo.data
    narrow = np.maximum(KNOWN * size.min(initial=np.inf), ROUNDED * size)
    for _ in range(ROUNDS):
        tight = _one_pass(row, column, weight, relations.shape[0], lower, upper)
        new_lower, new_upper = np.maximum(lower, tight[0]), np.minimum(upper, tight[1])
        known = new_upper - new_lower <= narrow
        new_lower, new_upper = np.where(known, 0.0, new_lower), np.where(known, 0.0, new_upper)
        gain = _gain(lower, new_lower, size) | _gain(new_upper, upper, size)
        lower, upper = new_lower, new_upper
        if not gain.any():
            break
    return lower, upper


def _gain(low: np.ndarray, high: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return where a bound has moved by more than a hair."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(high - low, nan=0.0) > 1e-6 * size)


def _one_pass(
    row: np.ndarray,
    column: np.ndarray,
    weight: np.ndarray,
    n_rows: int,
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds each cell gets from its relations and the bounds of the other cells."""
    ends = weight * lower[column], weight * upper[column]
    least, most = np.minimum(*ends), np.maximum(*ends)
    # In each relation the others sum to minus this cell's term.
    high = -_rest(least, row, n_rows, -np.inf)
    low = -_rest(most, row, n_rows, np.inf)
    low, high = (np.where(weight > 0, a, b) / weight for a, b in ((low, high), (high, low)))
    tight_low, tight_high = np.full(len(lower), -np.inf), np.full(len(lower), np.inf)
    np.maximum.at(tight_low, column, low)
    np.minimum.at(tight_high, column, high)
    return np.minimum(tight_low, 0.0), np.maximum(tight_high, 0.0)


def _rest(term: np.ndarray, row: np.ndarray, n_rows: int, infinite: float) -> np.ndarray:
    """Return for each term the sum of the others of its relation, infinite if one of them is."""
    finite = np.isfinite(term)
    sums = np.bincount(row, np.where(finite, term, 0.0), n_rows)
    unbounded = np.bincount(row, ~finite, n_rows)
    rest = sums[row] - np.where(finite, term, 0.0)
    return np.where(unbounded[row] - ~finite > 0, infinite, rest)


def components(system: System) -> list[np.ndarray]:
    """Return groups of cells (positions within the system) that no relation joins to others."""
    open_cells = np.flatnonzero(system.upper > system.lower)
    if not len(open_cells):
        return []
    label = _labels(system.relations[:, open_cells])
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order])) + 1
    return [open_cells[group] for group in np.split(order, starts)]


def _labels(relations: csr_array) -> np.ndarray:
    """Return a label per cell, the same for cells that a chain of relations joins."""
    coo = relations.tocoo()
    row, column = coo.coords
    label = np.arange(relations.shape[1])
    while True:
        least = np.full(relations.shape[0], len(label))
        np.minimum.at(least, row, label[column])
        new = label.copy()
        np.minimum.at(new, column, least[row])
        # A label is itself a cell: follow labels to their ends, so that long chains take few turns.
        while (new[new] != new).any():
            new = new[new]
        if np.array_equal(new, label):
            return np.asarray(label)
        label = new
