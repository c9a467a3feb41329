"""The largest contributions to each cell, and what all of them add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNNAMED = 2**62
"""Numbers of units without a name start here; they say nothing outside their table."""


WEIGHT_SLACK = 1e-9
"""Share by which rounding may lift the mean weight of a unit above its largest."""


def weighed(
    size: np.ndarray, amount: np.ndarray, largest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return contributions of units and the weights that turn them into weighted ones.

    A unit's weight is the mean of its records' weights. Where records of different sign and weight
    have no such mean, a unit has its largest weight, and the contribution that goes with it.

    Parameters
    ----------
    size, amount
        The sums of each unit's records, unweighted and weighted.
    largest
        Its largest weight.
    """
    weight = np.divide(amount, size, out=np.zeros(len(size)), where=size != 0)
    fits = (weight > 0) & (weight <= largest * (1 + WEIGHT_SLACK))
    return np.where(fits, size, amount / largest), np.where(fits, weight, largest)


@dataclass(frozen=True, eq=False)
class Contributions:
    """The largest contributions to each cell, by respondents or by holdings.

    Contributions keep their sign and are ordered by their absolute value, largest first. They are
    unweighted; `weight` stands beside them.
    """

    top: np.ndarray
    """Contributions largest in absolute value, largest first; cells by places, 0 where none."""
    n_units: np.ndarray
    """How many distinct units contribute to each cell."""
    absolute: np.ndarray
    """Sum of all contributions in absolute value, weighted as the table is."""
    weight: np.ndarray | None = None
    """Sampling weights of the largest contributions, 0 where none; nothing if all are 1."""
    unit: np.ndarray | None = None
    """Number of the unit each of the largest contributions came from, -1 where none.

    A unit that was named has the same number in every table.
    """
    requested: np.ndarray | None = None
    """Which of the largest contributors asked for protection."""
    net: np.ndarray | None = None
    """Sum of all contributions with their sign, where it is not the value of the cell."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions are known."""
        return int(self.top.shape[1])

    def take(self, cells: np.ndarray) -> Contributions:
        """Return the contributions of some cells, by position."""

        def of(kept: np.ndarray | None) -> np.ndarray | None:
            return None if kept is None else kept[cells]

        return Contributions(
            top=self.top[cells],
            n_units=self.n_units[cells],
            absolute=self.absolute[cells],
            weight=of(self.weight),
            unit=of(self.unit),
            requested=of(self.requested),
            net=of(self.net),
        )
