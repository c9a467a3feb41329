"""The p % rule on released totals."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class PercentRule(Guard, key="p-percent", title="p % rule", cites=("hundepool2012",)):
    r"""Withhold totals from which the second largest unit could tell the largest too well.

    Contributions are those of distinct units, unweighted and without regard to sign. Missing
    values are left out.

    A unit may be a household.

    Notes
    -----
    A total X of contributions :math:`x_1 \ge x_2 \ge \dots` is withheld if
    :math:`X - x_1 - x_2 < p/100 \cdot x_1`.

    Examples
    --------
    >>> PercentRule().key
    'p-percent'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "totals that give a unit away to the second largest (D2)"
    misses: ClassVar[str] = "inference from what is withheld"
    costs: ClassVar[str] = "such totals are withheld"
    p: Annotated[float, Gt(0)] = 10.0
    """Percentage within which the largest contribution must not be known."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with totals that are too telling withheld."""
        cells = context.cells
        if cells is None or not cells.sums:
            return context
        for name, sums in cells.sums.items():
            total = np.maximum(np.abs(sums.plain_total), sums.top.sum(axis=1))
            rest = total - sums.top[:, 0] - sums.top[:, 1]
            telling = (rest < self.p / 100 * sums.top[:, 0]) & (sums.n > 0)
            cells = cells.withholding_totals(name, telling)
        return context.amended(
            "Totals that would tell a contribution are withheld.", evidence=cells
        )
