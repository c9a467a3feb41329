"""The attacker's problem of a small table, in one dense tableau instead of many programmes.

The set-up of a programme takes longer than its solution where a table has a hundred cells. Here
all threats to a pattern are answered in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables._attacker import _relative, distinct_relations
from tacit.tables._independent import independent_relations

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_problem import Problem, Threat

LARGEST = 900_000
"""Relations times cells up to which a table is small."""


class Dense:
    """A small table whose cells are or may be suppressed.

    Parameters
    ----------
    problem
        The problem of which it is the table.
    """

    def __init__(self, problem: Problem) -> None:
        table = problem.table
        lower, upper = table.bounds
        self.cells = np.union1d(problem.candidates, np.flatnonzero(problem.fixed))
        self.place = np.full(table.n_cells, -1)
        self.place[self.cells] = np.arange(len(self.cells))
        self.up = np.maximum(upper - table.value, 0.0)[self.cells]
        self.down = np.maximum(table.value - lower, 0.0)[self.cells]
        self._fixed, self._primary = problem.fixed[self.cells], problem.primary[self.cells]
        self._cost = problem.cost[self.cells]
        rows = distinct_relations(table.relations[:, self.cells])
        self._rows = rows.toarray()
        self._independent = np.ascontiguousarray(independent_relations(rows).toarray())
        self.work = 0.0
        """Work of letting patterns grow (see `LinearProgram`)."""

    @cached_property
    def tableau(self) -> tuple[np.ndarray, np.ndarray]:
        """The relations of all cells, solved for some of them, and for which."""
        from tacit.tables.suppress import _optimal_kernel as kernel

        solved: tuple[np.ndarray, np.ndarray] = kernel.echelon(self._independent)
        return solved

    def prices(
        self, place: int, sign: int, up: np.ndarray, down: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return how far a cell moves, as a share of one, and what the room of each is worth to it.

        Room `up` and `down` is that of all cells; less than 0 is returned where no answer was
        found.
        """
        from tacit.tables.suppress import _optimal_kernel as kernel

        ask: Any = kernel.prices
        reached, worth = ask(*self.tableau, up, down, place, float(sign), np.zeros(len(up)))
        return float(reached), np.asarray(worth)

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Return whether a problem is small enough."""
        n = len(problem.candidates) + int(problem.fixed.sum())
        return n * min(n, int(problem.table.relations.shape[0])) <= LARGEST

    def open_threats(self, pattern: np.ndarray, threats: Sequence[Threat]) -> list[Threat]:
        """Return the threats that a pattern (flags of the table's cells) does not stand."""
        from tacit.tables.suppress import _optimal_kernel as kernel

        hidden = pattern[self.cells]
        part = np.ascontiguousarray(self._independent[:, hidden])
        asked = self._asked(np.cumsum(hidden) - 1, hidden, threats)
        failed = kernel.open_threats(part, self.up[hidden], self.down[hidden], *asked)
        return [threat for threat, bad in zip(threats, failed, strict=True) if bad]

    def proofs(
        self, pattern: np.ndarray, targets: np.ndarray, amounts: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray] | None]:
        """Return how cells of a pattern move when each target moves by an amount: cells, changes.

        Cells are those of the table. None where a target does not get as far.
        """
        from tacit.tables.suppress import _optimal_kernel as kernel

        hidden = pattern[self.cells]
        part, cells = np.ascontiguousarray(self._independent[:, hidden]), self.cells[hidden]
        places = (np.cumsum(hidden) - 1)[self.place[targets]]
        moves, reached = kernel.movements(part, self.up[hidden], self.down[hidden], places, amounts)
        return [
            (cells[move != 0], move[move != 0]) if far >= 1.0 else None
            for move, far in zip(moves, reached, strict=True)
        ]

    def thinned(
        self,
        pattern: np.ndarray,
        threats: Sequence[Threat],
        among: np.ndarray | None = None,
        cost: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return a pattern without the cells that protect nobody, dearest tried first.

        Only cells `among` (flags) are tried where given; `cost` (of the table's cells) is that of
        the problem unless given.
        """
        from tacit.tables.suppress import _optimal_kernel as kernel

        hidden = pattern[self.cells]
        part, cells = np.ascontiguousarray(self._rows[:, hidden]), self.cells[hidden]
        part = part[np.any(part, axis=1)]
        fixed = self._fixed[hidden]
        extra = np.flatnonzero(~fixed if among is None else ~fixed & among[cells])
        price = self._cost[hidden] if cost is None else cost[cells]
        order = extra[np.argsort(-price[extra], kind="stable")]
        left = kernel.thinned(
            part, order, fixed, self._primary[hidden], self.up[hidden], self.down[hidden],
            *self._asked(np.cumsum(hidden) - 1, hidden, threats),
        )  # fmt: skip
        thin = pattern.copy()
        thin[cells[~left]] = False
        return thin

    def grown(
        self,
        pattern: np.ndarray,
        threats: Sequence[Threat],
        cost: np.ndarray,
        shut: Iterable[int] = (),
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return a pattern with cells added, threat by threat, and which nothing can protect.

        None where that is not known. Cells that are `shut` are not added.
        """
        from tacit.tables.suppress import _optimal_growth_kernel as kernel

        every = np.ones(len(self.cells), dtype=bool)
        places, known, goals = self._asked(np.arange(len(self.cells)), every, threats)
        known[:, self.place[np.fromiter(shut, dtype=np.int64)]] = True
        hidden = pattern[self.cells]
        failed, steps = kernel.grown(
            self._independent, hidden, _relative(cost)[self.cells], self.up, self.down, places,
            known, goals,
        )  # fmt: skip
        if steps < 0:
            return None
        self.work += float(steps * sum(self._independent.shape))
        made = pattern.copy()
        made[self.cells[hidden]] = True
        return made, failed

    def _asked(
        self, number: np.ndarray, hidden: np.ndarray, threats: Sequence[Threat]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the places, the cells known and the levels of threats, among hidden cells."""
        places = self.place[[threat.cell for threat in threats]]
        known = np.zeros((len(threats), int(hidden.sum())), dtype=bool)
        for k, threat in enumerate(threats):
            if len(threat.known):
                at = self.place[threat.known]
                at = at[at >= 0]
                known[k, number[at[hidden[at]]]] = True
        goals = np.array([(t.below, t.above, t.width) for t in threats]).reshape(-1, 3)
        return number[places], known, goals
