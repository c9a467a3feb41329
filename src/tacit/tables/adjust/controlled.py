"""Controlled tabular adjustment."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.errors import ProtectionError
from tacit.tables.adjust._nearest import Adjustment
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

Weights = Literal["unity", "inverse", "root", "user"]
Kept = Literal["nothing", "total", "margins"]
_SMALL = 40
"""With at most so many sensitive cells all senses are chosen at once."""


class ControlledAdjustment(
    Protection,
    key="adjust-controlled",
    title="Controlled tabular adjustment",
    cites=("dandekar2002", "castro2006", "castro2011"),
):
    r"""Publish the nearest table that adds up and whose sensitive cells are far from the truth.

    Every sensitive cell leaves its protection interval, up or down; other cells change as little
    as the sums require, or stay where they must. A table that does not add up (counts with noise)
    comes out additive. When not to use it: where users must know which cells are exact, since any
    cell may have moved.

    Notes
    -----
    Find :math:`d` that minimises :math:`\sum_i w_i |d_i|` (or :math:`d_i^2`) subject to
    :math:`R(x+d) = 0`, :math:`l_i \le d_i \le u_i`, and for each sensitive cell
    :math:`d_p \ge u_p` or :math:`d_p \le -l_p` [castro2006]_; levels may be negative where the
    input does not add up [castro2011]_. The senses (up or down) are binary variables: all at once
    when there are few, else a first choice by the relaxation, improved block by block. Squares are
    minimised with the senses found for absolute values.

    Examples
    --------
    >>> from tacit import tables
    >>> tables.ControlledAdjustment(keep="total", whole=True).keep
    'total'
    """

    norm: Literal["absolute", "squares"] = "absolute"
    """What is minimised: weighted absolute changes, or weighted squares."""
    weights: Weights = "unity"
    """Weight of a cell's change: 1, one over its value, over its root, or the table's own cost."""
    keep: Kept = "nothing"
    """What must not change beside empty and frozen cells: the grand total, or every total."""
    within: Annotated[float, Gt(0)] | None = None
    """Percent of its value by which a cell that is not sensitive may change at most."""
    whole: bool = False
    """Whether changes must be whole numbers."""
    block: Annotated[int, Ge(1)] = 150
    """How many senses are chosen at once where there are many sensitive cells."""
    gap: Annotated[float, Ge(0)] = 1e-3
    """Distance from the optimum, as a share, at which a choice of senses is good enough."""
    seconds: Annotated[float, Gt(0)] = 300.0
    """Time limit; the best safe table found by then is returned."""

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the nearest safe table, or refuse if there is none."""
        problem = self._problem(table, sensitive)
        best = problem.start()
        if best is None and len(problem.sensitive):
            best = problem.solve(np.ones(len(problem.sensitive), bool), None, problem.left)
        if best is None:
            raise ProtectionError(
                "no table within these bounds adds up and protects every sensitive cell",
                got=f"sensitive cells {table.describe(sensitive.primary)}",
                do="keep fewer cells as they are, or allow larger changes",
            )
        best = self._searched(problem, best)
        change = best[0] if self.norm == "absolute" else _squared(problem, best[1])
        published = _without_dust(table, table.value + change, problem)
        check_adjusted(table, sensitive, published)
        notes = {
            "distance": float(problem.weight @ np.abs(published - table.value)),
            "largest_change": float(np.abs(published - table.value).max(initial=0.0)),
            "additive": True,
            "optimal": bool(best[3]) and self.norm == "absolute",
            "seconds": problem.seconds - problem.left,
        }
        return ProtectedTable(table, sensitive, published, self.describe(), notes)

    def _searched(
        self, problem: Adjustment, best: tuple[np.ndarray, np.ndarray, float, bool]
    ) -> tuple[np.ndarray, np.ndarray, float, bool]:
        m = len(problem.sensitive)
        if not m:
            return best
        if m <= _SMALL:
            found = problem.solve(np.ones(m, dtype=bool), None, problem.left)
            return found if found is not None and found[2] <= best[2] + 1e-9 else (*best[:3], False)
        return problem.improve((*best[:3], False), self.block, np.random.default_rng(0))

    def _problem(self, table: Table, sensitive: Sensitive) -> Adjustment:
        """Return the programme of the whole table."""
        lower, upper = table.bounds
        low, high = lower - table.value, upper - table.value
        if self.within is not None:
            most = np.where(sensitive.cells, np.inf, self.within / 100.0 * np.abs(table.value))
            low, high = np.maximum(low, -most), np.minimum(high, most)
        kept = self._kept(table)
        low, high = np.where(kept, 0.0, low), np.where(kept, 0.0, high)
        cells = sensitive.primary
        down = np.maximum(sensitive.below, sensitive.width)[cells]
        up = np.maximum(sensitive.above, sensitive.width)[cells]
        return Adjustment(
            table.relations, table.value, low, high, self._weight(table), cells, down, up,
            integer=self.whole, gap=self.gap, seconds=self.seconds,
        )  # fmt: skip

    def _kept(self, table: Table) -> np.ndarray:
        """Return the cells that must stay: empty ones, frozen ones, and the totals asked for."""
        kept: np.ndarray = table.is_empty & (table.value == 0)
        if table.frozen is not None:
            kept = kept | table.frozen
        if self.keep == "margins":
            kept = kept | table.is_total
        if self.keep == "total":
            kept = kept | _grand_total(table)
        return kept

    def _weight(self, table: Table) -> np.ndarray:
        size = np.maximum(np.abs(table.value), 1.0)
        match self.weights:
            case "inverse":
                return np.asarray(1.0 / size)
            case "root":
                return np.asarray(1.0 / np.sqrt(size))
            case "user" if table.cost is not None:
                return np.asarray(table.cost, dtype=float)
            case "user":
                raise ProtectionError(
                    "the table has no costs of its own", do="set them, or choose other weights"
                )
        return np.ones(table.n_cells)


def check_adjusted(table: Table, sensitive: Sensitive, published: np.ndarray) -> None:
    """Refuse a result that does not add up or leaves a sensitive cell within its interval."""
    table.replace(value=published).check_additive()
    change = published - table.value
    up = np.maximum(sensitive.above, sensitive.width)
    down = np.maximum(sensitive.below, sensitive.width)
    slack = 1e-7 * np.maximum(1.0, np.abs(table.value))
    near = sensitive.cells & (change < up - slack) & (change > -down + slack)
    if near.any():
        raise ProtectionError(
            "the solver left sensitive cells within their protection intervals",
            got=table.describe(np.flatnonzero(near)),
            do="give it more time, or allow larger changes",
        )


def _grand_total(table: Table) -> np.ndarray:
    """Return the cell at the total of every dimension; without dimensions the largest total."""
    if table.dimensions:
        return np.asarray((table.codes == 0).all(axis=1))
    found = np.zeros(table.n_cells, dtype=bool)
    found[np.argmax(np.where(table.is_total, np.abs(table.value), -1))] = True
    return found


def _squared(problem: Adjustment, rises: np.ndarray) -> np.ndarray:
    """Return the change of least weighted squares with given senses."""
    from tacit.tables.adjust._squares import least_squares

    low, high = problem.low.copy(), problem.high.copy()
    up, down = problem._levels()
    low[problem.sensitive] = np.where(rises, up, low[problem.sensitive])
    high[problem.sensitive] = np.where(rises, high[problem.sensitive], -down)
    return least_squares(problem, low, high)


def _without_dust(table: Table, published: np.ndarray, problem: Adjustment) -> np.ndarray:
    """Put cells back that moved by less than a rounding error."""
    if problem.integer:
        return np.round(published)
    still = np.abs(published - table.value) <= 1e-9 * np.maximum(1.0, np.abs(table.value))
    return np.where(still, table.value, published)
