"""Microaggregation along one direction."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from tacit.core.method import Try
from tacit.mask._grouped import MeansOfGroups, standardised
from tacit.mask._ordered import groups_in_order


class ProjectedMicroaggregation(
    MeansOfGroups,
    key="projected-microaggregation",
    title="Microaggregation along one direction",
    cites=("defays1993", "hansen2003"),
    example={"columns": ["income", "taxes", "hours"], "k": 3},
    at_scale="blocks",
):
    r"""Replace values by means of at least ``k`` records next to each other on one ranking.

    Fast, in :math:`O(n \log n)`, at a higher loss than MDAV unless the variables move together.
    When not to use it: on variables that are weakly related.

    Missing values: records are grouped with records that miss the same columns; where fewer than
    ``k`` records share a pattern, all the columns are blanked on them, and on one more group if
    fewer than ``k`` records are blank then. Weights: means are weighted
    where the schema has a weight. Households: not considered.

    Notes
    -----
    Records are ranked on the first principal component of the standardised variables, or on the sum
    of their z-scores :math:`\sum_j (x_{ij} - \bar x_j)/s_j` [defays1993]_, and cut into groups that
    are optimal on that ranking variable [hansen2003]_. Means are taken on the variables themselves.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> method = mask.ProjectedMicroaggregation(columns=["income", "taxes"], k=3)
    >>> release = tacit.Plan([method]).apply(tacit.datasets.census(200), seed=1)
    >>> bool(release.frame.group_by("income", "taxes").len()["len"].min() >= 3)
    True
    """

    direction: Annotated[Literal["principal", "z-scores"], Try("principal", "z-scores")] = (
        "principal"
    )
    """Rank by the first principal component, or by the sum of the standardised values."""

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        z = standardised(values)
        projected = z.sum(axis=1) if self.direction == "z-scores" else z @ _first_direction(z)
        return groups_in_order(projected, self.k, optimal=True)


def _first_direction(z: np.ndarray) -> np.ndarray:
    """Return the first principal direction, its largest loading positive."""
    _, vectors = np.linalg.eigh(z.T @ z)
    direction = vectors[:, -1]
    return np.asarray(direction * np.sign(direction[np.argmax(np.abs(direction))]))
