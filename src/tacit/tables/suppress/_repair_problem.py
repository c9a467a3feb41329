"""What a suppression must achieve: cells that may be hidden, how far sensitive ones must move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._attacker import distinct_relations
from tacit.tables._levels import required_levels
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

ANY_WIDTH = 1e12
"""Room of a cell without bound, as a multiple of the largest value."""
EMPTY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Needs:
    """Movements that must be possible: a cell, how far, and which cells the intruder knows."""

    cell: np.ndarray
    """Places of the cells among the open ones."""
    amount: np.ndarray
    """How far each must be able to move, more than 0."""
    sign: np.ndarray
    """1 for up, -1 for down."""
    known: list[np.ndarray]
    """Places the intruder knows and that stay where they are."""

    def __len__(self) -> int:
        return len(self.cell)

    def join(self, other: Needs) -> Needs:
        """Return these needs and others."""
        cell, amount, sign = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("cell", "amount", "sign")
        )
        return Needs(cell, amount, sign, [*self.known, *other.known])


@dataclass(frozen=True, eq=False)
class Problem:
    """The cells that are or may be suppressed, their relations, room and cost."""

    table: Table
    sensitive: Sensitive
    cells: np.ndarray
    """Positions of the open cells in the table."""
    rows: csr_array
    columns: csc_array
    up: np.ndarray
    """Room of each cell upwards."""
    down: np.ndarray
    """Room of each cell downwards."""
    cost: np.ndarray
    fixed: np.ndarray
    """Cells that are suppressed whatever happens: sensitive and forced ones."""
    needs: Needs
    empty: bool = False
    """Whether empty cells may be suppressed."""

    @property
    def n_cells(self) -> int:
        """Number of open cells."""
        return len(self.cells)

    @property
    def n_rows(self) -> int:
        """Number of relations among them."""
        return int(self.columns.shape[0])

    def place(self, flags: np.ndarray) -> np.ndarray:
        """Return flags of the table's cells at the open ones."""
        return np.asarray(np.asarray(flags)[self.cells])

    def spread(self, flags: np.ndarray) -> np.ndarray:
        """Return flags of the open cells at all cells of the table."""
        out = np.zeros(self.table.n_cells, dtype=bool)
        out[self.cells] = flags
        return out


def to_suppress(table: Table, sensitive: Sensitive) -> tuple[Sensitive, np.ndarray]:
    """Return the sensitive cells without a waiver, and all cells that must be suppressed.

    Raises
    ------
    ProtectionError
        If a cell must be both published and suppressed.
    """
    if table.waived is not None:
        sensitive = sensitive.without(table.waived)
    must = sensitive.cells if table.forced is None else sensitive.cells | table.forced
    if table.frozen is not None and (must & table.frozen).any():
        raise ProtectionError(
            "cells that must be published must also be suppressed",
            got=table.describe(np.flatnonzero(must & table.frozen)),
            do="unfreeze them, waive them, or change the rule",
        )
    return sensitive, must


def blocked_cells(table: Table, must: np.ndarray, empty: bool) -> np.ndarray:
    """Return the cells that may not become secondary suppressions."""
    blocked = np.zeros(table.n_cells, bool) if table.frozen is None else table.frozen.copy()
    return np.asarray((blocked if empty else blocked | table.is_empty) & ~must)


def problem_of(
    table: Table, sensitive: Sensitive, cost: np.ndarray, *, empty: bool = False
) -> Problem:
    """Set up the search for a pattern on a table.

    Parameters
    ----------
    table, sensitive
        What to protect.
    cost
        Cost of suppressing each cell.
    empty
        Whether empty cells may be suppressed.
    """
    from scipy.sparse import csc_array

    sensitive, must = to_suppress(table, sensitive)
    lower, upper = table.bounds
    open_ = (~blocked_cells(table, must, empty) & (upper > lower)) | must
    cells = np.flatnonzero(open_)
    rows = distinct_relations(table.relations[:, cells])
    limit = ANY_WIDTH * max(float(np.abs(table.value).max(initial=0.0)), 1.0)
    up = np.clip(upper[cells] - table.value[cells], 0.0, limit)
    down = np.clip(table.value[cells] - lower[cells], 0.0, limit)
    needs = _needs(table, sensitive, cells)
    columns = csc_array(rows)
    return Problem(
        table, sensitive, cells, rows, columns, up, down, _relative(cost[cells]), must[cells],
        needs, empty,
    )  # fmt: skip


def _relative(cost: np.ndarray) -> np.ndarray:
    """Return costs around 1, so that the solver sees ordinary numbers."""
    positive = cost[cost > 0]
    middle = float(np.median(positive)) if len(positive) else 1.0
    return np.clip(cost / middle, 1e-5, 1e6)


def _needs(table: Table, sensitive: Sensitive, cells: np.ndarray) -> Needs:
    """Return one need per sensitive cell and side; what is missing of the width goes up."""
    levels = required_levels(table, sensitive)
    at = np.flatnonzero(sensitive.cells[cells])
    here = cells[at]
    room = np.maximum(table.bounds[1][here] - table.value[here], 0.0)
    below, above = levels.below[here], levels.above[here]
    missing = np.maximum(levels.width[here] - below - above, 0.0)
    extra = np.minimum(missing, np.maximum(room - above, 0.0))
    above, below = above + extra, below + missing - extra
    amount = np.concatenate([above, below])
    kept = amount > 0
    sign = np.repeat([1.0, -1.0], len(at))
    return Needs(np.tile(at, 2)[kept], amount[kept], sign[kept], [EMPTY] * int(kept.sum()))
