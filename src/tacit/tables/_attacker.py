"""The attacker's linear programme on a whole table: what must be hidden to confuse them.

For a pattern of suppressed cells an intruder's possible tables are ``value + change`` with
``relations @ change = 0``, change zero at published cells and within bounds elsewhere. A sensitive
cell is protected when it can change far enough up and down. `Attacker.protect` finds the cheapest
further suppressions that let it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables._independent import independent_relations
from tacit.tables._linear_program import LinearProgram
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SUPPORT = 1e-7
"""Share of the asked change below which a cell counts as not moving."""


def distinct_relations(relations: csr_array) -> csr_array:
    """Return each relation once; empty ones and repetitions (up to sign) are left out."""
    from scipy.sparse import csr_array

    relations = csr_array(relations)
    relations.eliminate_zeros()
    draws = np.random.default_rng(0).standard_normal((relations.shape[1], 2))
    prints = np.asarray(relations @ draws)
    prints = np.round(prints * np.where(prints[:, :1] < 0, -1.0, 1.0), 9)
    _, first = np.unique(prints, axis=0, return_index=True)
    filled = np.diff(relations.indptr)[first] > 0
    return csr_array(relations[np.sort(first[filled]), :])


class Attacker:
    """An attacker on a table, asked again and again while the pattern of suppressions grows.

    The classical flow heuristic, for any linear relations: minimise the cost of the cells that
    must change when a sensitive cell changes by its protection level; cells already suppressed
    change for free. One programme is set up and only its costs and bounds change.

    Parameters
    ----------
    table
        The table; its bounds are what the intruder knows beforehand.
    suppressed
        Cells already suppressed (flags); sensitive and forced cells belong here.
    cost
        Cost of suppressing each cell, more than 0.
    blocked
        Cells that must stay published (flags): frozen ones, and empty ones unless they may be
        suppressed. See `publishable_only`.
    until
        When to stop (monotonic time): nothing can be protected any more then.
    """

    suppressed: np.ndarray
    """Cells suppressed so far (flags)."""

    def __init__(
        self,
        table: Table,
        suppressed: np.ndarray,
        *,
        cost: np.ndarray | None = None,
        blocked: np.ndarray | None = None,
        until: float = np.inf,
    ) -> None:
        self._until = until
        self.table = table
        self.suppressed = np.array(suppressed, dtype=bool)
        self.blocked = publishable_only(table) if blocked is None else np.asarray(blocked)
        self.cost = _relative(np.abs(table.value) if cost is None else cost)
        self._build()

    def _build(self) -> None:
        """Set up columns for the changes up and the changes down of cells that may change."""
        from scipy.sparse import csc_array, hstack

        lower, upper = self.table.bounds
        free = (~self.blocked | self.suppressed) & (upper > lower)
        self._cells = np.flatnonzero(free)
        self._place = np.full(self.table.n_cells, -1)
        self._place[self._cells] = np.arange(len(self._cells))
        self._scale = _unit(self.table.value[self._cells])
        value = self.table.value[self._cells]
        self._up = np.maximum(upper[self._cells] - value, 0.0)
        self._down = np.maximum(value - lower[self._cells], 0.0)
        rows = distinct_relations(self.table.relations[:, self._cells])
        part = csc_array(independent_relations(rows))
        limits = np.concatenate([self._up, self._down]) / self._scale
        self._program = LinearProgram(
            csc_array(hstack([part, -part], format="csc")),
            np.zeros(2 * len(self._cells)),
            limits,
            cost=np.tile(self._prices(), 2),
        )
        self._program.until = self._until

    def restart(self, suppressed: np.ndarray, cost: np.ndarray, until: float = np.inf) -> None:
        """Begin anew with a pattern of suppressions and costs; the programme stays set up."""
        self.suppressed, self.cost = np.array(suppressed, dtype=bool), _relative(cost)
        self._until = self._program.until = until
        self._program.set_cost(np.arange(2 * len(self._cells)), np.tile(self._prices(), 2))

    @property
    def work(self) -> float:
        """Work of the programme so far (see `LinearProgram`)."""
        return self._program.work

    def _prices(self) -> np.ndarray:
        return np.where(self.suppressed[self._cells], 0.0, self.cost[self._cells])

    # -- the pattern ----------------------------------------------------------------------------

    def suppress(self, cells: np.ndarray) -> None:
        """Add cells (positions) to the pattern; from now on they change for free."""
        cells = np.asarray(cells, dtype=np.int64)
        self.suppressed[cells] = True
        place = self._place[cells]
        if (place < 0).any():
            self._build()
            return
        self._program.set_cost(self._columns(place), 0.0)

    def _columns(self, place: np.ndarray) -> np.ndarray:
        return np.concatenate([place, place + len(self._cells)])

    # -- questions ------------------------------------------------------------------------------

    def protect(
        self,
        cell: int,
        below: float,
        above: float,
        width: float = 0.0,
        known: Iterable[int] = (),
    ) -> np.ndarray:
        """Suppress the cheapest further cells that let a sensitive cell change far enough.

        Parameters
        ----------
        cell
            Position of the sensitive cell; it is suppressed if it was not.
        below, above, width
            How far its interval must reach, and how wide it must be.
        known
            Positions of cells this attacker knows (a respondent's own).

        Returns
        -------
        numpy.ndarray
            Positions of the cells newly suppressed; none if it was protected already.

        Raises
        ------
        ProtectionError
            If no suppression of cells that may be suppressed protects it.
        """
        before = self.suppressed.copy()
        if not self.suppressed[cell]:
            self.suppress(np.array([cell]))
        known = np.array([k for k in known if k != cell and self._place[k] >= 0], dtype=np.int64)
        up, down = self._asked(cell, below, above, width)
        self._hold(known)
        try:
            change = self._move(cell, up, known) if up > 0 else None
            if down > 0 and not self._mirrors(change, cell, down):
                self._move(cell, -down, known)
        finally:
            self._release(known)
        return np.flatnonzero(self.suppressed & ~before)

    def _asked(self, cell: int, below: float, above: float, width: float) -> tuple[float, float]:
        """Return how far up and down to go; what is missing of the width goes up if it can."""
        place = self._place[cell]
        if place < 0:
            raise _no_pattern(self.table, cell)
        missing = max(width - below - above, 0.0)
        more_up = min(missing, max(self._up[place] - above, 0.0))
        return above + more_up, below + missing - more_up

    def _move(self, cell: int, amount: float, known: np.ndarray) -> np.ndarray:
        """Let a cell change by an amount at least cost, and suppress what changes with it."""
        place, n = self._place[cell], len(self._cells)
        pair = np.array([place, place + n])
        size = abs(amount) / self._scale
        fixed = (size, 0.0) if amount > 0 else (0.0, size)
        self._program.set_bounds(pair, fixed, fixed)
        self._program.forget()
        status = self._program.solve()
        values = self._program.values if status == "optimal" else None
        limits = np.array([self._up[place], self._down[place]]) / self._scale
        self._program.set_bounds(pair, 0.0, limits)
        room = self._up[place] if amount > 0 else self._down[place]
        if values is None or abs(amount) > room * (1 + SUPPORT):
            raise _no_pattern(self.table, cell)
        change = (values[:n] - values[n:]) * self._scale
        moved = self._cells[np.abs(change) > SUPPORT * abs(amount)]
        self.suppress(moved[~self.suppressed[moved]])
        return np.asarray(change)

    def _mirrors(self, change: np.ndarray | None, cell: int, down: float) -> bool:
        """Return whether the change found, turned round, also fits within the bounds."""
        if change is None:
            return False
        turned = -change * (down / change[self._place[cell]])
        return bool(np.all((turned <= self._up) & (turned >= -self._down)))

    def _hold(self, known: np.ndarray) -> None:
        if len(known):
            self._program.set_bounds(self._columns(self._place[known]), 0.0, 0.0)

    def _release(self, known: np.ndarray) -> None:
        if len(known):
            place = self._place[known]
            limits = np.concatenate([self._up[place], self._down[place]]) / self._scale
            self._program.set_bounds(self._columns(place), 0.0, limits)


def publishable_only(table: Table) -> np.ndarray:
    """Return the cells that may not become secondary suppressions: frozen and empty ones."""
    frozen = np.zeros(table.n_cells, dtype=bool) if table.frozen is None else table.frozen
    return np.asarray(frozen | table.is_empty)


def _relative(cost: np.ndarray) -> np.ndarray:
    """Return costs around 1, none of them zero, so that the solver sees ordinary numbers."""
    cost = np.asarray(cost, dtype=float)
    positive = cost[cost > 0]
    middle = float(np.median(positive)) if len(positive) else 1.0
    return np.clip(cost / middle, 1e-6, 1e6)


def _unit(values: np.ndarray) -> float:
    """Return the unit in which changes are counted: that of a usual cell."""
    size = np.abs(values)
    size = size[size > 0]
    return float(np.median(size)) if len(size) else 1.0


def _no_pattern(table: Table, cell: int) -> Any:
    return ProtectionError(
        "no suppression can protect a sensitive cell",
        got=table.describe(np.array([cell])),
        do="allow frozen or empty cells around it to be suppressed, widen the bounds, or "
        "redesign the table",
    )
