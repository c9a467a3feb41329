"""Controlled tabular adjustment."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt
from pydantic import model_validator

from tacit.core.errors import ProtectionError
from tacit.tables._changeable import check_changeable, without_level
from tacit.tables._precision import Steps
from tacit.tables.adjust._in_steps import in_steps
from tacit.tables.adjust._nearest import Adjustment
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

Weights = Literal["unity", "inverse", "root", "user"]
Kept = Literal["nothing", "total", "margins"]
_SMALL = 40
"""With at most so many sensitive cells all senses are chosen at once."""
_EASY = (1e3, 1e9)
"""Largest values that the solver handles as they are; its tolerances are not relative."""
_MISS = 2e-6
"""By how much, in units of the solver, a level may be missed."""
Found = tuple[np.ndarray, np.ndarray, float, bool]


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

    Warning: cells move to the edge of what is safe. Who takes a published total as it is misses by
    the level; who knows the method divides that out again, up or down, and is right in about half
    of the sensitive cells. Suppress where readers may know the method and its parameters.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    Find :math:`d` that minimises :math:`\sum_i w_i |d_i|` (or :math:`d_i^2`) subject to
    :math:`R(x+d) = 0`, :math:`l_i \le d_i \le u_i`, and for each sensitive cell
    :math:`d_p \ge u_p` or :math:`d_p \le -l_p` [castro2006]_. One of the two levels may be
    negative, where the input was changed before and lies beside the interval to be left
    [castro2011]_. A cell whose rule states no level moves by `margin` percent. The senses (up or
    down) are binary variables: all at once when there are few, else a first choice by the
    relaxation, improved block by block. Squares are minimised with the senses found for absolute
    values.

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
    """Whether changes must be whole numbers even where the source has decimals; not with squares.
    Values are always published with the decimals of the source."""
    margin: Annotated[float, Gt(0)] = 10.0
    """Percent of its value by which a sensitive cell moves at least where its rule states no level;
    one at least where all values are whole."""
    block: Annotated[int, Ge(1)] = 150
    """How many senses are chosen at once where there are many sensitive cells."""
    gap: Annotated[float, Ge(0)] = 1e-3
    """Distance from the optimum, as a share, at which a choice of senses is good enough."""
    seconds: Annotated[float, Gt(0)] = 300.0
    """Time limit; the best safe table found by then is returned."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.whole and self.norm == "squares":
            raise ValueError("whole changes are found for absolute changes only, not for squares")
        return self

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the nearest safe table, or refuse if there is none."""
        check_changeable(table)
        sensitive = self._with_levels(table, sensitive)
        steps = Steps.of(table)
        scale = _scale(table, sensitive) if not self.whole else max(1.0, steps.size if steps else 1)
        problem = self._problem(table, sensitive, scale, steps)
        best = self._first(problem)
        if best is None and problem.late:
            raise ProtectionError(
                "time ran out before a safe table was found",
                got=f"{self.seconds:g} seconds, {table.n_cells:,} cells",
                do="allow more seconds, or wider bounds",
            )
        if best is None:
            raise ProtectionError(
                "no table within these bounds adds up and protects every sensitive cell",
                got=f"sensitive cells {table.describe(sensitive.primary)}",
                do="keep fewer cells as they are, or allow larger changes",
            )
        best = self._searched(problem, best)
        change = best[0] if self.norm == "absolute" else _squared(problem, best[1])
        solved = _tidied(table, sensitive, change * scale, problem, scale)
        published = solved if steps is None else self._in_steps(table, solved, best[1], problem,
                                                                 scale, steps)  # fmt: skip
        check_adjusted(table, sensitive, published, scale)
        distance = np.abs(published - table.value)
        kept = np.allclose(published, solved, rtol=1e-9, atol=1e-6 * scale)
        notes = {
            "distance": float(problem.weight @ distance),
            "largest_change": float(distance.max(initial=0.0)),
            "additive": True,
            "moved cells": "outside intervals",
            "optimal": bool(best[3]) and self.norm == "absolute" and kept,
            "seconds": problem.seconds - problem.left,
        }
        return ProtectedTable(table, sensitive, published, self.describe(), notes)

    def _with_levels(self, table: Table, sensitive: Sensitive) -> Sensitive:
        """Return the sensitive cells, each with a level: what has none could stay as it is."""
        bare = without_level(sensitive)
        if not bare.any():
            return sensitive
        least = np.abs(table.value) * self.margin / 100.0
        least = np.maximum(least, 1.0) if table.integral else least
        stuck = np.flatnonzero(bare & (least == 0))
        if len(stuck):
            raise ProtectionError(
                "sensitive cells of value zero need a protection level to move by",
                got=table.describe(stuck),
                do="give one (table.with_levels), or count zeros as safe",
            )
        below, above = (np.where(bare, least, s) for s in (sensitive.below, sensitive.above))
        return replace(sensitive, below=below, above=above)

    def _first(self, problem: Adjustment) -> Found | None:
        """Return any safe table."""
        found = problem.start()
        if found is None and len(problem.sensitive):
            return problem.solve(np.ones(len(problem.sensitive), bool), None, problem.left)
        return found

    def _searched(self, problem: Adjustment, best: Found) -> Found:
        m = len(problem.sensitive)
        if not m:
            return best
        if m <= _SMALL:
            found = problem.solve(np.ones(m, dtype=bool), None, problem.left)
            better = found is not None and found[2] <= best[2] + 1e-9
            best = found if found is not None and better else (*best[:3], False)
        else:
            best = problem.improve((*best[:3], False), self.block, np.random.default_rng(0))
        # Integer programming leaves sums and levels missed by its tolerance; with the senses known
        # a linear programme does not.
        exact = None if self.whole else problem.solve(np.zeros(m, bool), best[1], problem.left)
        return best if exact is None else (*exact[:3], best[3])

    def _problem(
        self, table: Table, sensitive: Sensitive, scale: float, steps: Steps | None = None
    ) -> Adjustment:
        """Return the programme of the whole table, limits and levels in steps of the source."""
        lower, upper = table.bounds
        low, high = lower - table.value, upper - table.value
        if self.within is not None:
            most = np.where(sensitive.cells, np.inf, self.within / 100.0 * np.abs(table.value))
            low, high = np.maximum(low, -most), np.minimum(high, most)
        kept = self._kept(table)
        low, high = np.where(kept, 0.0, low), np.where(kept, 0.0, high)
        cells = sensitive.primary
        down, up = (level[cells] for level in _to_leave(sensitive))
        if steps is not None and not self.whole:
            low, high, down, up = steps.up(low), steps.down(high), steps.up(down), steps.up(up)
        return Adjustment(
            table.relations, table.value / scale, low / scale, high / scale, self._weight(table),
            cells, down / scale, up / scale, integer=self.whole, gap=self.gap,
            seconds=self.seconds,
        )  # fmt: skip

    def _in_steps(
        self, table: Table, solved: np.ndarray, rises: np.ndarray, problem: Adjustment,
        scale: float, steps: Steps,
    ) -> np.ndarray:  # fmt: skip
        """Return the solved table in the steps of the source, each cell on the side it was on."""
        if self.whole:
            return steps.beside(table.value, solved)
        low, high = table.value + problem.low * scale, table.value + problem.high * scale
        at, up, down = problem.sensitive, problem.up * scale, problem.down * scale
        low[at] = np.where(rises, np.maximum(low[at], table.value[at] + up), low[at])
        high[at] = np.where(rises, high[at], np.minimum(high[at], table.value[at] - down))
        return in_steps(table, solved, low, high, steps, problem.left)

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


def _to_leave(sensitive: Sensitive) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much each cell must fall, or rise; a sliding level counts for both."""
    slides = sensitive.width > 0
    down, up = (
        np.where(slides, np.maximum(level, sensitive.width), level)
        for level in (sensitive.below, sensitive.above)
    )
    return down, up


def _scale(table: Table, sensitive: Sensitive) -> float:
    """Return a power of two by which values are divided for the solver."""
    sizes = (np.abs(table.value), *map(np.abs, _to_leave(sensitive)))
    largest = max(float(size.max(initial=0.0)) for size in sizes)
    if largest == 0 or _EASY[0] <= largest <= _EASY[1] or (table.integral and largest < _EASY[0]):
        return 1.0
    return float(2.0 ** np.floor(np.log2(largest / 1e6)))


def check_adjusted(
    table: Table, sensitive: Sensitive, published: np.ndarray, scale: float = 1.0
) -> None:
    """Refuse a result that does not add up or leaves a sensitive cell within its interval."""
    table.replace(value=published).check_additive()
    change = published - table.value
    down, up = _to_leave(sensitive)
    slack = _MISS * scale + 4 * np.spacing(np.abs(table.value))
    slack = np.minimum(slack, 1e-3 * np.maximum(np.abs(up), np.abs(down)))
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
    at = problem.sensitive
    low[at] = np.where(rises, np.maximum(up, low[at]), low[at])
    high[at] = np.where(rises, high[at], np.minimum(-down, high[at]))
    return least_squares(problem, low, high)


def _tidied(
    table: Table, sensitive: Sensitive, change: np.ndarray, problem: Adjustment, scale: float
) -> np.ndarray:
    """Return the published values without the dust of the solver, where they hold without it."""
    if problem.integer:
        return np.asarray(table.value + np.round(change))
    still = np.abs(change) <= 1e-9 * np.maximum(scale, np.abs(table.value))
    published = np.where(still, table.value, table.value + change)
    tidy = np.where(still, table.value, np.round(published, _decimals(scale)))
    missed, before = (np.abs(table.relations @ v).max(initial=0.0) for v in (tidy, published))
    down, up = _to_leave(sensitive)
    moved = tidy - table.value
    out = ~sensitive.cells | (moved >= up) | (moved <= -down)
    return tidy if missed <= before and out.all() else published


def _decimals(scale: float) -> int:
    """Return the decimals that are dust in units of the solver."""
    return int(6 - np.round(np.log10(scale)))
