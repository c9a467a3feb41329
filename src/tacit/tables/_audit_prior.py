"""What respondents know of a table before anything of it is published: their own cells."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tacit.tables._attacker import distinct_relations
from tacit.tables._audit_proof import Extremes
from tacit.tables._audit_system import System
from tacit.tables.table import Table


class Beforehand:
    """How far a cell can differ from its value for someone who knows some cells and no others.

    Nobody can be made more uncertain than this, so requirements end here. A respondent who has
    most of a sum knows that the sum is not less than that.

    Parameters
    ----------
    table
        The table.
    bounds
        What anyone knows beforehand of each cell; those of the table unless given.
    """

    def __init__(self, table: Table, bounds: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        self._table = table
        self._bounds = table.bounds if bounds is None else bounds

    @cached_property
    def _extremes(self) -> Extremes:
        value, (lower, upper) = self._table.value, self._bounds
        return Extremes(
            System(
                np.arange(len(value)), distinct_relations(self._table.relations),
                np.minimum(lower - value, 0.0), np.maximum(upper - value, 0.0),
            )
        )  # fmt: skip

    def reach(self, cell: int, sign: float, known: np.ndarray) -> float:
        """Return how far a cell can move up (1) or down (-1)."""
        at, weight = np.array([cell]), np.array([float(sign)])
        return max(self._extremes.largest(at, weight, known)[0], 0.0)
