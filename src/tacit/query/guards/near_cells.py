"""No two cells that differ by a few units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells, Sums
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.history import SetHistory

_RELEASED = "released"


class NearCells(
    Guard, key="near-cells", title="Cells must differ by enough units", cites=("gadotti2019",)
):
    """Release for a cell what was released for an earlier cell that differs by a few units only.

    Noise that sticks to the units of a cell shows when two cells are equal: a cell with and one
    without a condition that only one person fails then tell about that person. Every cell released
    or withheld before, to whomever, is remembered; a cell near one of them is taken for it.
    Distinct units are counted; weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    Of all cells the server ever speaks about, any two have the same units or differ by at least
    `minimum`. This is what stops the attack of [gadotti2019]_ on sticky noise. Totals of a variable
    are remembered with the cell when first asked for; where fewer than `minimum` of its units lack
    a value, they count as if they had the mean.

    Examples
    --------
    >>> NearCells().key
    'near-cells'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "tables"
    stops: ClassVar[str] = "differences between cells, and equality of sticky noise (T10)"
    misses: ClassVar[str] = "equality of large groups"
    costs: ClassVar[str] = "a cell near an earlier one is answered as that one"
    minimum: Annotated[int, Ge(2)] = 5
    """Fewest units by which two cells may differ."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with each cell replaced by the earlier one it is near to."""
        cells = context.cells
        if cells is None or not len(cells):
            return context
        history = context.state.history(self.key, self.minimum)
        sketches = context.state.cube.cell_sketches(context.selection, cells)
        # Margins come last in a table and first in importance.
        order = np.arange(len(cells))[::-1]
        at = np.empty(len(cells), dtype=int)
        at[order] = history.place(sketches[order])
        known = _remembered(cells, at, history)
        known = known.with_(
            sums={name: _filled(s, known, self.minimum) for name, s in known.sums.items()}
        )
        fresh = {s: _first_of(at, history.kept, _kind(s, cells)) for s in ("count", *cells.sums)}
        context = context.amended(evidence=known, fresh=fresh)
        marks = {_kind(s, cells): new for s, new in fresh.items()}
        return context.and_then(lambda: _mark(history.kept, at, marks))


def _kind(statistic: str, cells: Cells) -> str:
    """Return under what a statistic is remembered: weighted sums are other numbers than plain."""
    return f"{statistic} weighted" if cells.weighted else statistic


def _first_of(at: np.ndarray, kept: list[Any], statistic: str) -> np.ndarray:
    """Return which cells are the first to speak of a set of which it was not released yet."""
    new = np.zeros(len(at), dtype=bool)
    for found, cell in zip(*np.unique(at, return_index=True), strict=True):
        new[cell] = statistic not in kept[found].get(_RELEASED, ())
    return new


def _mark(kept: list[Any], at: np.ndarray, fresh: Mapping[str, np.ndarray]) -> None:
    for statistic, new in fresh.items():
        for found in at[new]:
            kept[found].setdefault(_RELEASED, set()).add(statistic)


def _filled(sums: Sums, cells: Cells, minimum: int) -> Sums:
    """Return sums over all units of the cells where fewer than `minimum` lack a value.

    Else the number of units with a value, which means tell, would be near that of the cell.
    """
    few = (cells.units - sums.units < minimum) & (sums.n > 0)
    grown = np.where(few, cells.n / np.maximum(sums.n, 1), 1.0)
    return replace(
        sums,
        n=np.where(few, cells.n, sums.n),
        units=np.where(few, cells.units, sums.units),
        keys=np.where(few[:, None], cells.keys, sums.keys),
        **{name: getattr(sums, name) * grown for name in ("weight", "total", "square")},
    )


def _remembered(cells: Cells, at: np.ndarray, history: SetHistory) -> Cells:
    """Return the cells with what is remembered of each set, and remember what is new."""
    kept = history.kept
    parts: dict[str, np.ndarray] = {
        "n": cells.n, "units": cells.units, "keys": cells.keys, "weight": cells.weight
    }  # fmt: skip
    known = _known(kept, at, "count", parts)
    sums = {}
    for name, total in cells.sums.items():
        own = {field.name: getattr(total, field.name) for field in fields(Sums)}
        sums[name] = replace(total, **_known(kept, at, f"total {_kind(name, cells)}", own))
    return cells.with_(**known, sums=sums)


def _known(
    kept: list[Any], at: np.ndarray, statistic: str, own: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return each array with the rows that were remembered for its cells."""
    taken = {name: values.copy() for name, values in own.items()}
    for cell in range(len(at) - 1, -1, -1):
        memory = kept[at[cell]]
        if statistic in memory:
            for name, value in memory[statistic].items():
                taken[name][cell] = value
        else:
            memory[statistic] = {name: values[cell].copy() for name, values in own.items()}
    return taken
