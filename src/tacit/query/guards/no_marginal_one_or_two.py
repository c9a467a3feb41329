"""No Marginal 1 or 2."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class NoMarginalOneOrTwo(
    Guard, key="no-marginal-one-or-two", title="No Marginal 1 or 2", cites=("lucero2011",)
):
    """Refuse universes whose variables have a marginal total of one or two units.

    The table of all variables that define the universe is looked at, not only the cells chosen:
    who knows the others can tell a single unit from its margin. Missing values are a category.
    Weights play no part. Units with several records are counted by record.

    A unit may be a household.

    Notes
    -----
    For a universe of m variables no marginal total of dimension m - 1 may be 1 or 2, section 3.1.1
    of [lucero2011]_. It costs one sum over the atoms for each variable; it stops universes built
    around one person, and by itself no difference of two universes.

    Examples
    --------
    >>> NoMarginalOneOrTwo().describe()
    'No Marginal 1 or 2'
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "universes built around one or two units"
    misses: ClassVar[str] = "differences of two universes"
    costs: ClassVar[str] = "universes of variables with rare combinations are refused"
    largest: int = 2
    """Marginal totals from 1 to this are refused."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse where some marginal total is too small."""
        names = request.universe.variables
        for left_out in names:
            kept = [name for name in names if name != left_out]
            totals = _totals(context.state.cube.over(names), kept)
            if np.any((totals >= 1) & (totals <= self.largest)):
                raise self.refuse(
                    "the variables of the universe single out too few units",
                    "use fewer or coarser variables",
                )
        return context


def _totals(cube: Any, names: list[str]) -> np.ndarray:
    """Return the counts of the table of some variables."""
    if not names:
        return np.array([cube.n.sum()])
    flat = cube.cell_of(names, tuple(range(len(names))))
    _, group = np.unique(flat, return_inverse=True)
    return np.bincount(group, weights=cube.n)
