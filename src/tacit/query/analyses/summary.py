"""Means, variances and standard deviations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen

from tacit.core.method import Columns
from tacit.query.analysis import Analysis, Names, Needs, View
from tacit.query.answer import Answer
from tacit.query.evidence import Cells
from tacit.query.publication import accuracy, counts, labels, rounded, shown


class Summary(
    Analysis,
    key="summary",
    title="Summary statistics",
    cites=("lucero2011",),
    example={"numbers": ["income"], "by": ["sex"]},
):
    r"""Give the mean, variance and standard deviation of variables; never the least or largest.

    Missing values are left out, variable by variable. With weights, means and variances are those
    of the population. Households: a unit may be one.

    Notes
    -----
    From the sums of values and of squares, after noise: :math:`\bar y = \sum wy / \sum w` and
    :math:`s^2 = \sum wy^2 / \sum w - \bar y^2`, times :math:`n/(n-1)`.

    Examples
    --------
    >>> Summary(numbers="income", by="sex").by
    ('sex',)
    """

    numbers: Annotated[Columns, MaxLen(10)]
    """Variables to be summarised."""
    by: Annotated[Names, MaxLen(4)] = ()
    """Variables whose categories divide the units."""
    weighted: bool = False
    """Whether survey weights are used."""

    @property
    def tells_margins(self) -> bool:
        """No: groups only."""
        return False

    @property
    def numbers_of_totals(self) -> int:
        """Mean and variance."""
        return 2

    def variables(self) -> Needs:
        """Return groups and variables."""
        return Needs(self.by, self.numbers, self.weighted)

    def gather(self, view: View) -> Cells:
        """Ask for sums and sums of squares."""
        return view.table(self.by, totals=self.numbers, weighted=self.weighted)

    def compute(self, evidence: Any) -> Answer:
        """Return one row for each variable and group."""
        cells: Cells = evidence
        rows = shown(cells, margins=not self.by)
        columns: dict[str, list[Any]] = {"variable": []}
        for name in self.numbers:
            part = (
                labels(cells, rows) | {"count": counts(cells, rows)} | _moments(cells, name, rows)
            )
            columns["variable"] += [name] * len(rows)
            for key, values in part.items():
                columns.setdefault(key, []).extend(values)
        return Answer(analysis=self.key, columns=columns, accuracy=accuracy(cells))


def _moments(cells: Cells, name: str, rows: np.ndarray) -> dict[str, list[Any]]:
    """Return mean, variance and standard deviation of the released cells."""
    if name in cells.intervals:
        return _mean_intervals(cells, name, rows)
    weight, n = cells.weight_of(name), cells.sums[name].n * cells.part(name)
    with np.errstate(all="ignore"):
        mean = cells.total(name) / weight
        square = cells.square(name) / weight
        variance = np.maximum(square - mean**2, 0.0) * n / np.maximum(n - 1, 1)
        unsure = cells.noise_size(name) / weight
        unsure_square = cells.noise_size(f"{name} squared") / weight
    deviation = np.sqrt(variance)
    spread = np.divide(unsure_square, 2 * deviation, out=np.zeros(len(n)), where=deviation > 0)
    return {
        "mean": rounded(mean, unsure)[rows].tolist(),
        "variance": rounded(variance, unsure_square)[rows].tolist(),
        "deviation": rounded(deviation, spread)[rows].tolist(),
    }


def _mean_intervals(cells: Cells, name: str, rows: np.ndarray) -> dict[str, list[Any]]:
    """Return the ends of the mean of a camouflaged variable, rounded outwards."""
    low, high = (end / cells.weight_of(name) for end in cells.interval(name))
    room = np.maximum(np.abs(low), np.abs(high)) * 1e-8
    return {
        "mean from": rounded(low - room)[rows].tolist(),
        "mean to": rounded(high + room)[rows].tolist(),
    }
