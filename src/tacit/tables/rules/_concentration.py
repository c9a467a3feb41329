"""What concentration rules look at: the sums of the largest contributions to each cell."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.core.errors import DataError
from tacit.tables._additivity import TOLERANCE
from tacit.tables.contributions import Contributions
from tacit.tables.table import Table

Level = Literal["respondent", "holding"]
"""Who might be disclosed, and who might try: respondents one by one, or holdings."""
_TIE = 1e-10
"""Differences below this share of a cell's total are rounding, and count as a tie."""


def contributions_of(table: Table, level: Level, rule: str) -> Contributions:
    """Return the contributions at a level, or say how to get them."""
    found = table.holdings if level == "holding" else table.respondents
    if found is not None:
        return found
    advice = (
        "build the table with holding=..., naming the column of holdings"
        if level == "holding"
        else "build the table from records with a value"
    )
    raise DataError(f"{rule} needs the largest contributions by {level}", do=advice)


def refuse_negative(table: Table, found: Contributions, absolute: bool, rule: str) -> None:
    """Refuse negative contributions unless their absolute values may be used."""
    if absolute:
        return
    net = table.value if found.net is None else found.net
    slack = TOLERANCE * np.maximum(found.absolute, 1.0)
    negative = (found.top < 0).any(axis=1) | (found.absolute - net > slack)
    if negative.any():
        # A total is negative only through its parts: they are what is to be looked at.
        finest = negative & ~table.is_total
        raise DataError(
            f"{rule} makes no sense for negative contributions",
            got=f"cells {table.describe(np.flatnonzero(finest if finest.any() else negative))}",
            do="say absolute=True to compare absolute values, or use a shadow variable",
        )


def sum_of_largest(found: Contributions, n: int, rule: str) -> np.ndarray:
    """Return the sum of the `n` largest contributions to each cell.

    With sampling weights a contribution of weight w stands for w equal ones; parts of a weight
    count in part. Weights so small that the known contributions do not make up `n` are filled up
    with the smallest known one, which can only overstate the sum.
    """
    size = np.abs(found.top)
    present = size if found.unit is None else np.where(found.unit >= 0, size, 0.0)
    if found.weight is None:
        short = (n > found.depth) & (found.n_units > found.depth)
        if np.any(short):
            raise DataError(
                f"{rule} needs the {n} largest contributions, the table has {found.depth}",
                do=f"build it with top={n} or more",
            )
        return np.asarray(present[:, :n].sum(axis=1))
    before = np.cumsum(found.weight, axis=1) - found.weight
    taken = np.clip(n - before, 0.0, found.weight)
    total = (present * taken).sum(axis=1)
    gap = np.maximum(n - taken.sum(axis=1), 0.0)
    hidden = found.n_units > found.depth
    return np.asarray(total + np.where(hidden, gap * present[:, -1], 0.0))


def above_zero(need: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Tell which cells need protection; a tie, rounding allowed for, is safe."""
    return np.asarray(need > _TIE * np.abs(total))


def in_units_of_value(table: Table, found: Contributions, need: np.ndarray) -> np.ndarray:
    """Return levels found on a shadow variable as the same shares of what is published.

    Intervals are those of the value; a level in the units of another variable says nothing there.
    """
    if found.net is None:
        return need
    size = np.where(found.absolute > 0, found.absolute, 1.0)
    return np.asarray(need * np.abs(table.value) / size)
