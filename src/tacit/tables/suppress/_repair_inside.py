"""Proofs against one respondent after the other, each looked for nearby before anywhere else."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.suppress._repair_local import Surroundings

if TYPE_CHECKING:
    from tacit.tables.suppress._repair_search import Search

Proof = tuple[np.ndarray, np.ndarray]
"""Cells and how far they move."""
HIDDEN = 300
"""Suppressed cells around a cell among which a proof that costs nothing is looked for first."""
ANY = 1_500
"""Cells of any kind around it among which it is looked for next; then the whole table."""
WIDE = 5_000
"""Cells of any kind around it in a large table, where tableaux of fewer were tried before."""
FAR = 20_000
"""Cells among which it is looked for there before the whole table is asked."""
DEAR = 100.0
"""Cost, in median cells, of a proof above which a cheaper one is looked for among these."""


class Inside:
    """Looks for a proof that leaves alone what respondents know, in small programmes.

    Such needs cannot be asked for together, and there are many. Most find a proof among the cells
    that are suppressed already, a few relations away.
    """

    def __init__(self, search: Search) -> None:
        self._search = search

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self._search.problem)

    def proof(self, need: int, charge: np.ndarray) -> Proof | None:
        """Return cells and moves that prove a need, or nothing if none was found nearby."""
        problem = self._search.problem
        free = (charge <= 0) | problem.fixed
        for usable, limit in ((free, HIDDEN), (np.ones_like(free), ANY)):
            if problem.n_cells > 2 * limit:
                found = self._among(need, usable, limit, charge)
                if found is not None:
                    return found
        return None

    def widely(self, need: int, charge: np.ndarray) -> Proof | None:
        """Return the cheapest proof of a need among many cells around it, or nothing."""
        return self._among(need, np.ones(len(charge), dtype=bool), WIDE, charge)

    def cheaply(self, need: int, charge: np.ndarray) -> Proof | None:
        """Return such a proof; a dear one only if there is no cheaper one farther away.

        Often there is one that costs nothing.
        """
        found = self.widely(need, charge)
        if found is None or charge[found[0]].sum() <= DEAR:
            return found
        other = self._among(need, np.ones(len(charge), dtype=bool), FAR, charge)
        return min((found, other or found), key=lambda one: float(charge[one[0]].sum()))

    def anywhere(self, need: int, charge: np.ndarray) -> Proof | None:
        """Return a proof of a need from farther and farther away, or nothing if there is none."""
        every = np.ones(len(charge), dtype=bool)
        for limit in (FAR, len(charge)):
            found = self._among(need, every, limit, charge)
            if found is not None:
                return found
        return None

    def _among(self, need: int, usable: np.ndarray, limit: int, charge: np.ndarray) -> Proof | None:
        needs = self._search.problem.needs
        cell, known = needs.cell[[need]], needs.known[need]
        usable = usable.copy()
        usable[known] = False
        near = self._around.movable(self._around.near(cell, usable, limit))
        if not len(near) or near[0] != cell[0]:
            return None
        program, _ = self._around.program(near)
        program.stop_at(self._search.until)
        amount = needs.amount[[need]] * needs.sign[need]
        change = program.cheapest(np.array([0]), amount, charge[near], np.empty(0, dtype=np.int64))
        if change is None:
            return None
        moved = np.flatnonzero(change)
        return near[moved], change[moved]
