"""Microaggregation of one variable at a time."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.core.data import Microdata
from tacit.core.method import Columns
from tacit.mask._grouped import MeansOfGroups
from tacit.mask._ordered import groups_in_order


class IndividualRanking(
    MeansOfGroups,
    key="individual-ranking",
    title="Microaggregation of each variable by itself",
    cites=("hansen2003", "domingoferrer2002"),
    example={"columns": ["income", "taxes"], "k": 3},
    at_scale="blocks",
):
    r"""Replace each value by the mean of at least ``k`` values next to it in rank.

    Each variable is grouped by itself, so little is lost, and little is protected: an intruder who
    knows several variables of a record can still tell it from others. When not to use it: alone,
    on variables that an intruder may know together.

    Missing values: stay missing; the others are grouped. Weights: means are weighted where the
    schema has a weight. Households: not considered.

    Notes
    -----
    The groups are optimal: of all groupings with at least :math:`k` members they have the least
    :math:`SSE = \sum_i \sum_j (x_{ij} - \bar x_i)^2`. In one dimension an optimal group holds
    neighbours, :math:`k` to :math:`2k-1` of them [domingoferrer2002]_, and the best cuts are a
    shortest path [hansen2003]_, found in :math:`O(n \log n + kn)`. Groups of exactly :math:`k` in
    rank order, the older practice, are there for comparison.

    Examples
    --------
    >>> import polars as pl
    >>> import tacit
    >>> from tacit import mask
    >>> ages = pl.DataFrame({"age": [20, 21, 22, 40, 41, 60, 61, 62]})
    >>> tacit.Plan([mask.IndividualRanking(columns=["age"], k=2)]).apply(ages).frame[
    ...     "age"
    ... ].to_list()
    [21.0, 21.0, 21.0, 40.5, 40.5, 61.0, 61.0, 61.0]
    """

    hides_blanks: ClassVar[bool] = False

    columns: Columns
    """Numeric variables, each grouped by itself."""
    optimal: bool = True
    """Use the groups of least loss; otherwise groups of exactly k in rank order."""

    def _sets(self, data: Microdata) -> list[list[str]]:
        return [[column] for column in self.columns]

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return groups_in_order(values[:, 0], self.k, optimal=self.optimal)
