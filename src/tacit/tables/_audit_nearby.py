"""Proofs in large systems: most are found among the few hundred cells around a cell."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tacit.tables._audit_proof import ANYWHERE, Flows
from tacit.tables._audit_system import System

LARGE = 3_000
"""Cells of a system from which on movements are looked for nearby before anywhere."""
NEAR = (400, 3_000, 10_000)
"""Cells around a cell among which they are, in turn."""


class Neighbourhood:
    """Cuts the cells around a cell out of a system."""

    def __init__(self, system: System) -> None:
        from scipy.sparse import csc_array

        self.system = system
        self._columns = csc_array(system.relations)

    def around(self, place: int, limit: int, *, above: bool = False) -> np.ndarray:
        """Return the cells around a cell that share most relations, the cell first.

        With `above`, the sums it is part of, those these are part of, and so on come next: all
        can grow together.
        """
        from tacit.tables._ball_kernel import ball

        a, b = self._columns, self.system.relations
        every, missing, crossed = self._scratch
        start = self._above(place) if above else np.array([place])
        found = ball(
            start, every, a.indptr, a.indices, b.indptr, b.indices, missing, crossed, limit
        )
        return np.asarray(found)

    def _above(self, place: int) -> np.ndarray:
        """Return a cell and the sums above it."""
        rows, found = self.system.relations, np.array([place])
        frontier = found
        while len(frontier):
            entries = _entries(self._columns.indptr, frontier)
            lines = np.unique(self._columns.indices[entries[self._columns.data[entries] > 0]])
            at = _entries(rows.indptr, lines)
            totals = np.unique(rows.indices[at[rows.data[at] < 0]])
            frontier = totals[~np.isin(totals, found)]
            found = np.concatenate([found, frontier])
        return found

    @cached_property
    def _scratch(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return flags of all cells, and what the search for a ball counts in."""
        n_rows, n = self.system.relations.shape
        return np.ones(n, dtype=bool), np.full(n, -1, np.int64), np.zeros(n_rows, np.int8)

    def _lines(self, places: np.ndarray) -> np.ndarray:
        """Return the relations of some cells."""
        return np.unique(self._columns.indices[_entries(self._columns.indptr, places)])

    def closed(self, near: np.ndarray) -> System:
        """Return the system of the relations of some cells, with all cells that these hold."""
        from scipy.sparse import csr_array

        system, rows, lines = self.system, self.system.relations, self._lines(near)
        entries = _entries(rows.indptr, lines)
        places, cell = np.unique(rows.indices[entries], return_inverse=True)
        line = np.repeat(np.arange(len(lines)), np.diff(rows.indptr)[lines])
        part = csr_array((rows.data[entries], (line, cell)), shape=(len(lines), len(places)))
        return System(system.cells[places], part, system.lower[places], system.upper[places])

    def part(self, near: np.ndarray) -> System:
        """Return the system of some cells, all others staying where they are."""
        from scipy.sparse import csr_array

        system, columns = self.system, self._columns
        entries = _entries(columns.indptr, near)
        lines, line = np.unique(columns.indices[entries], return_inverse=True)
        cell = np.repeat(np.arange(len(near)), np.diff(columns.indptr)[near])
        rows = csr_array((columns.data[entries], (line, cell)), shape=(len(lines), len(near)))
        return System(system.cells[near], rows, system.lower[near], system.upper[near])


class NearbyFlows:
    """Smallest changes that move one cell, everything farther away staying where it is.

    What is possible among some cells is possible among all. Where nothing is found nearby the whole
    system is asked, so that no conclusion rests on what was left out.
    """

    def __init__(self, system: System, until: float = np.inf) -> None:
        self._system, self._until = system, until
        self._cut = Neighbourhood(system)
        self._place = -1
        self._local: dict[int, tuple[np.ndarray, Flows]] = {}
        self._n_before = 0

    @cached_property
    def _whole(self) -> Flows:
        return Flows(self._system, self._until)

    @property
    def n_solved(self) -> int:
        """Programmes solved so far."""
        made = [flows for _, flows in self._local.values()]
        made += [self._whole] if "_whole" in vars(self) else []
        return self._n_before + sum(one.n_solved for one in made)

    def move(self, place: int, amount: float, known: np.ndarray = ANYWHERE) -> np.ndarray | None:
        """Return changes that move a cell by an amount, or nothing if there are none."""
        change = self.nearby(place, amount, known)
        return self._whole.move(place, amount, known) if change is None else change

    def nearby(self, place: int, amount: float, known: np.ndarray = ANYWHERE) -> np.ndarray | None:
        """Return such changes if there are any among the cells around the cell."""
        for limit in NEAR:
            near, local = self._around(place, limit)
            found = local.move(0, amount, np.flatnonzero(np.isin(near, known)))
            if found is not None:
                change = np.zeros(len(self._system))
                change[near] = found
                return change
            if len(near) == len(self._system):
                break
        return None

    def _around(self, place: int, limit: int) -> tuple[np.ndarray, Flows]:
        """Return the surroundings of a cell, which is the first of them, and their programme."""
        if place != self._place:
            self._n_before += sum(flows.n_solved for _, flows in self._local.values())
            self._place, self._local = place, {}
        if limit not in self._local:
            near = self._cut.around(place, limit)
            self._local[limit] = near, Flows(self._cut.part(near), self._until, seldom=True)
        return self._local[limit]


def _entries(pointers: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return where the entries of some lines of a sparse matrix stand."""
    sizes = pointers[at + 1] - pointers[at]
    shift = pointers[at] - np.cumsum(sizes) + sizes
    return np.asarray(np.repeat(shift, sizes) + np.arange(sizes.sum()))
