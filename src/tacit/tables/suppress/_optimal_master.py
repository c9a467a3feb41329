"""The master problem: the cheapest choice of cells that satisfies every cut found so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables._linear_program import LinearProgram, UnsolvedError
from tacit.tables.suppress._optimal_cuts import Cut

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CAUTION = 1e-8
"""Share of a cost that may be wrong by rounding."""


class Master:
    """Suppression variables, their costs, and the cuts."""

    def __init__(self, cost: np.ndarray, until: float = np.inf) -> None:
        from scipy.sparse import csc_array

        self._unit = float(cost.mean()) if len(cost) else 1.0
        self.cost = cost / self._unit
        self.cuts: list[Cut] = []
        n = len(cost)
        self._program = LinearProgram(csc_array((0, n)), np.zeros(n), np.ones(n), cost=self.cost)
        self._program.until = until
        self.bound = 0.0
        self.reduced = np.zeros(n)
        self._rows: list[Cut] = []
        self.open = np.ones(n, dtype=bool)
        self._spent = 0.0
        self._chosen: dict[int, float] = {}

    @property
    def work(self) -> float:
        """Work of all programmes solved so far."""
        return self._spent + self._program.work

    def add(self, cuts: Iterable[Cut]) -> None:
        """Add cuts to the problem."""
        for cut in cuts:
            self.cuts.append(cut)
            self._rows.append(cut)
            self._program.add_row(cut.least, np.inf, cut.columns, cut.weights)

    def relaxed(self) -> np.ndarray:
        """Solve without integrality; return the choice, and keep its cost as a bound."""
        status = self._program.settle("optimal", "time")
        if status != "optimal":
            raise UnsolvedError("the relaxed programme of the pattern was not solved", got=status)
        self.bound = max(self.bound, self._program.objective * self._unit)
        self.reduced = self._program.reduced_costs * self._unit
        return np.asarray(np.clip(self._program.values, 0.0, 1.0))

    def choose(self, chosen: dict[int, float]) -> None:
        """Fix some cells at 0 or 1 until the next call; all others are free."""
        freed = np.array([cell for cell in self._chosen if cell not in chosen], dtype=np.int64)
        fixed = np.array(list(chosen), dtype=np.int64)
        values = np.array(list(chosen.values()), dtype=float)
        lower = np.concatenate([np.zeros(len(freed)), values])
        upper = np.concatenate([self.open[freed].astype(float), values])
        self._program.set_bounds(np.concatenate([freed, fixed]), lower, upper)
        self._chosen = dict(chosen)

    def solved(self) -> tuple[np.ndarray | None, float]:
        """Solve without integrality under what is chosen; return the choice and its cost."""
        status = self._program.settle("optimal", "infeasible")
        if status != "optimal":
            return None, np.inf if status == "infeasible" else -np.inf
        choice = np.clip(self._program.values, 0.0, 1.0)
        return np.asarray(choice), self._program.objective * self._unit

    def close(self, allowance: float) -> None:
        """Rule out cells whose reduced cost alone exceeds what may still be spent."""
        allowance += CAUTION * (abs(allowance) + self._unit)  # patterns of the same cost stay
        shut = np.flatnonzero(self.open & (self.reduced > allowance))
        self.open[shut] = False
        self._program.set_bounds(shut, 0.0, 0.0)

    def count(self, price: float, step: float) -> None:
        """Count cells from now on, in patterns that cost no more than a price.

        `step` is the least difference of the costs of two patterns, 0 if it is not known.
        """
        most = (price + max(step / 2, CAUTION * price)) / max(price, self._unit)
        every = np.arange(len(self.cost))
        weights = self.cost * (self._unit / max(price, self._unit))
        self.choose({})
        self._program.add_row(-np.inf, most, every, weights)
        self._program.set_cost(every, 1.0)
        self.cost, self._unit, self.bound = np.ones(len(every)), 1.0, 0.0

    def integer(
        self, start: np.ndarray, seconds: float, gap: float, nodes: int | None = None
    ) -> tuple[np.ndarray | None, float]:
        """Solve with integrality from a start; return a choice and what none can cost less than."""
        from scipy.sparse import csc_array

        open_cells = np.flatnonzero(self.open)
        matrix = _matrix(self.cuts, len(self.open))[:, open_cells]
        program = LinearProgram(
            csc_array(matrix),
            np.zeros(len(open_cells)),
            np.ones(len(open_cells)),
            cost=self.cost[open_cells],
            row_lower=np.array([cut.least for cut in self.cuts]),
            row_upper=np.inf,
            integer=True,
        )
        program.set_option("time_limit", max(seconds, 0.1))
        program.set_option("mip_rel_gap", max(gap, 0.0))
        program.set_option("mip_abs_gap", 0.0)
        program.set_option("mip_detect_symmetry", False)
        if nodes is not None:
            program.set_option("mip_max_nodes", nodes)
        inside = start[open_cells].astype(float)
        at = np.arange(len(open_cells), dtype=np.int32)
        program.solver.setSolution(len(at), at, inside)
        status = program.solve()
        self._spent += program.work
        bound = program.bound * self._unit if status in ("optimal", "time") else np.inf
        if status == "failed":
            bound = -np.inf
        if not program.has_solution:
            return None, bound
        choice = np.zeros(len(self.open), dtype=bool)
        choice[open_cells] = program.values > 0.5
        return choice, bound


def _matrix(cuts: list[Cut], n: int) -> csr_array:
    from scipy.sparse import csr_array

    lengths = np.array([len(cut.columns) for cut in cuts], dtype=np.int64)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([cut.columns for cut in cuts]) if cuts else np.empty(0, np.int64)
    weights = np.concatenate([cut.weights for cut in cuts]) if cuts else np.empty(0)
    return csr_array((weights, columns, pointers), shape=(len(cuts), n))
