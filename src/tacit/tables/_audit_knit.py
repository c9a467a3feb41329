"""Attacks on closely knit systems, where relations leave a few cells free and tie all others.

A table of many dimensions may have more relations than suppressed cells: of thousands of cells a
few dozen determine the rest. A programme in these few is hundreds of times smaller than one in all
cells, and finds the same intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._audit_proof import ANYWHERE, SLACK, sure, unit_of
from tacit.tables._audit_system import System
from tacit.tables._independent import independent_rows
from tacit.tables._linear_program import LinearProgram, UnsolvedError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FROM = 500
"""Cells of a system from which on the few that determine the others are looked for."""
FEW = 0.15
"""Share of the cells that they may be."""
MOST = 5_000_000
"""Numbers that say how the others depend on them, at most."""
TINY = 1e-9
"""What a relation may be off by for rounding's sake, when one free cell changes by one."""


def free_changes(relations: csr_array) -> np.ndarray | None:
    """Return every cell as a combination of a few that can change freely, if they are few.

    Returns
    -------
    array or None
        Cells by free cells: whatever the free cells change by, these combinations keep all
        relations, and no other changes do.
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n = relations.shape[1]
    if n < FROM or relations.shape[0] < (1 - FEW) * n:
        return None
    rows = independent_rows(relations)
    if rows is None or not 0 < n - len(rows) <= min(FEW * n, MOST / n):
        return None
    needed = relations[rows, :]
    tied = independent_rows(needed.T.tocsr())
    if tied is None or len(tied) != len(rows):
        return None
    free = np.setdiff1d(np.arange(n), tied)
    square, others = csc_array(needed[:, tied]).astype(float), needed[:, free].toarray()
    try:
        solved = splu(square)
    except RuntimeError:  # singular as far as rounding can tell
        return None
    made = -solved.solve(others)
    made -= solved.solve(square @ made + others)
    changes = np.zeros((n, len(free)))
    changes[tied], changes[free, np.arange(len(free))] = made, 1.0
    changes[np.abs(changes) < TINY] = 0.0
    return changes if np.abs(relations @ changes).max(initial=0.0) < TINY else None


class KnitChanges:
    """Changes of a closely knit system, by how its free cells change.

    Parameters
    ----------
    system
        The intruder's system.
    free
        Its cells as combinations of the free ones.
    until
        When to stop (monotonic time).
    """

    def __init__(self, system: System, free: np.ndarray, until: float = np.inf) -> None:
        from scipy.sparse import csc_array

        self._system, self._until = system, until
        self._free, self._unit = free, unit_of(system)
        self._limits = system.lower / self._unit, system.upper / self._unit
        anything = np.full(free.shape[1], np.inf)
        self._program = LinearProgram(
            csc_array(free), -anything, anything,
            row_lower=self._limits[0], row_upper=self._limits[1],
        )  # fmt: skip
        self._program.until = until
        self._program.set_option("simplex_strategy", 4)
        self.n_solved = 0

    def largest(
        self, places: np.ndarray, weights: np.ndarray, known: np.ndarray = ANYWHERE
    ) -> tuple[float, np.ndarray | None]:
        """Return the largest weighted sum of changes, and the changes that reach it if finite.

        Raises
        ------
        UnsolvedError
            If the solver does not find it: nothing may be concluded then.
        """
        self.n_solved += 1
        self._program.set_row_bounds(known, 0.0, 0.0)
        self._program.set_cost(np.arange(self._free.shape[1]), -(weights @ self._free[places]))
        status = self._program.settle("optimal", "unbounded")
        change = self._free @ self._program.values * self._unit if status == "optimal" else None
        self._program.set_row_bounds(known, *(side[known] for side in self._limits))
        if status not in ("optimal", "unbounded"):
            raise UnsolvedError.of(status)
        if change is None:
            return np.inf, None
        return sure(self._system, change, (places, weights, known), self._until)

    def move(self, place: int, amount: float, known: np.ndarray = ANYWHERE) -> np.ndarray | None:
        """Return changes that move a cell by an amount or more, or nothing if there are none."""
        at, side = np.array([place]), np.array([np.sign(amount)])
        reached, change = self.largest(at, side, known)
        if np.isinf(reached):
            change = self._as_far(place, amount, known)
        return change if reached >= abs(amount) * (1 - SLACK) else None

    def _as_far(self, place: int, amount: float, known: np.ndarray) -> np.ndarray | None:
        """Return changes that move a cell by an amount and no farther."""
        size = abs(amount) / self._unit
        before = [side[[place]] for side in self._limits]
        self._program.set_row_bounds(place, *(np.clip(side, -size, size) for side in before))
        _, change = self.largest(np.array([place]), np.array([np.sign(amount)]), known)
        self._program.set_row_bounds(place, *before)
        return change
