"""Record linkage that knows the data were microaggregated: which group would a person be in."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair
from tacit.risk._linkage_fields import (
    attribute_warnings,
    chosen_attributes,
    linkage_fields,
    objection_without_numbers,
)
from tacit.risk._linkage_index import distinct_points, own_shares
from tacit.risk._linkage_pair import linked_pair
from tacit.risk._linkage_result import linkage_measurement
from tacit.risk._linkage_space import Space, space


class MicroaggregationLinkage(
    Risk,
    key="microaggregation-linkage",
    title="Microaggregation-aware record linkage",
    cites=("nin2008b", "domingoferrer2005"),
    example={"blocks": [["age", "hours"], ["income", "taxes"]]},
):
    r"""Report the share of people found by asking which group of each block they would be in.

    An intruder who knows that attributes were microaggregated in blocks puts each person into the
    group with the nearest centroid of each block, and keeps the records in all these groups.

    Missing values: where a person or a record lacks a value of a block, the block excludes nothing.
    Weights: not used; each record is one person. Households: not considered; records are linked one
    by one.

    Notes
    -----
    Released records that are equal on a block of attributes form a group :math:`G`, and their
    common values are its centroid. With :math:`G_b(i)` the groups of block :math:`b` with centroids
    nearest to :math:`x_i` (``centroids`` of them, in standardised distance), the candidates and the
    value are [nin2008b]_

    .. math:: B_i = \bigcap_b \bigcup G_b(i), \qquad
       \frac{1}{n} \sum_{i=1}^{n} \frac{[i \in B_i]}{|B_i|}.

    With one block and one centroid this is distance-based linkage with ties split. Several blocks
    show what it costs to microaggregate attributes apart: groups of at least :math:`k` records
    intersect in fewer. Groups of a block of a single attribute are intervals, so the candidates
    there are the groups with the centroids next below and above :math:`x_i`, or the one that equals
    it. People who were not released count as not linked.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> steps = [
    ...     mask.Mdav(columns=["age", "hours"], k=5),
    ...     mask.Mdav(columns=["income", "taxes"], k=5),
    ... ]
    >>> linkage = risk.MicroaggregationLinkage(blocks=[["age", "hours"], ["income", "taxes"]])
    >>> 0.3 < linkage.measure(data, tacit.Plan(steps).apply(data, seed=1)).value < 1
    True
    """

    default: ClassVar[bool] = False

    blocks: tuple[Columns, ...] | None = None
    """Sets of columns that were microaggregated together; by default one of all shared numbers."""
    centroids: Annotated[int, Ge(1)] = 1
    """Number of nearest centroids that the intruder takes into account, in blocks of several
    attributes."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, if there is none."""
        return objection_without_numbers(original, named=self.blocks is not None)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of right links among the original records."""
        both, warnings = linked_pair(original, release, self.record_id, by=self.key)
        blocks = self._blocks(both)
        names = [name for block in blocks for name in block]
        groups, candidates = self._grouped(both, blocks)
        share, n_candidates = candidate_links(groups, candidates, *both.matched)
        details = {
            "blocks": blocks,
            "groups": [int(g.max()) + 1 for g in groups],
            "smallest_group": [_smallest(g) for g in groups],
            "median_candidates": float(np.median(n_candidates)),
            "without_candidate": int(np.sum(n_candidates == 0)),
        }
        warnings += attribute_warnings(both, names, self.blocks is not None)
        return linkage_measurement(self, both, share, names, details=details, warnings=warnings)

    def _blocks(self, both: Pair) -> list[list[str]]:
        if self.blocks is None:
            return [chosen_attributes(both, None, by=self.key)]
        if not self.blocks:
            raise DataError(f"{self.key} needs at least one block of attributes")
        return [chosen_attributes(both, block, by=self.key) for block in self.blocks]

    def _grouped(self, both: Pair, blocks: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the group of each released record, and each original's candidates, by block."""
        found = []
        for block in blocks:
            fields = linkage_fields(both, block)
            if any(f.scale == "nominal" for f in fields):
                raise DataError(f"{self.key}: centroids need numbers", got=", ".join(block))
            where = space(fields, "standardised", by=self.key)
            found.append(groups_and_candidates(where, self.centroids))
        widest = max(nearest.shape[1] for _, nearest in found)
        padded = [
            np.pad(c, ((0, 0), (0, widest - c.shape[1])), constant_values=-1) for _, c in found
        ]
        return np.stack([g for g, _ in found]), np.stack(padded)


def groups_and_candidates(where: Space, n_nearest: int) -> tuple[np.ndarray, np.ndarray]:
    """Group equal released records of a block, and find the centroids nearest to each original.

    Returns
    -------
    Group of each released record, -1 if a value is missing; and for each original the nearest
    groups, all -1 if a value is missing.
    """
    groups = np.full(len(where.points), -1, dtype=np.int64)
    complete = ~np.isnan(where.points).any(axis=1)
    known = ~np.isnan(where.targets).any(axis=1)
    if not complete.any():
        return groups, np.full((len(known), 1), -1, dtype=np.int64)
    first, members = distinct_points(where.points[complete])
    # In an order of their own: which of two equally near centroids is taken must not depend on
    # the order of the records.
    order = np.lexsort(where.points[complete][first].T)
    centroids = where.points[complete][first][order]
    groups[complete] = np.argsort(order)[members]
    found = _nearest(centroids, where.targets[known], n_nearest)
    candidates = np.full((len(known), found.shape[1]), -1, dtype=np.int64)
    candidates[known] = found
    return groups, candidates


def _nearest(centroids: np.ndarray, targets: np.ndarray, n_nearest: int) -> np.ndarray:
    """Positions of the centroids whose groups a target may be in."""
    from scipy.spatial import cKDTree

    if centroids.shape[1] == 1:
        return _around(centroids[:, 0], targets[:, 0])
    ranks = [*range(1, min(n_nearest, len(centroids)) + 1)]
    return np.asarray(cKDTree(centroids).query(targets, k=ranks)[1]).reshape(len(targets), -1)


def _around(centroids: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Positions of the centroids next below and above a value, twice the one that equals it."""
    order = np.argsort(centroids)
    ordered = centroids[order]
    last = len(ordered) - 1
    above = np.searchsorted(ordered, values).clip(0, last)
    below = (np.searchsorted(ordered, values, side="right") - 1).clip(0, last)
    return np.column_stack([order[below], order[above]])


def candidate_links(
    groups: np.ndarray, candidates: np.ndarray, at: np.ndarray, to: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each original's chance of a right link, and its number of candidates."""
    from tacit.risk import _microaggregation_kernel as kernel

    members = np.argsort(groups, axis=1, kind="stable")
    bounds = np.arange(-1, int(groups.max()) + 2)
    starts = np.stack(
        [np.searchsorted(g[order], bounds) for g, order in zip(groups, members, strict=True)]
    )
    counts = np.asarray(kernel.count_candidates(groups, candidates, members, starts))
    is_in = np.asarray(kernel.are_candidates(groups, candidates, to, at))
    return own_shares(at, is_in, counts, candidates.shape[1]), counts


def _smallest(groups: np.ndarray) -> int:
    sizes = np.bincount(groups[groups >= 0])
    return int(sizes.min()) if len(sizes) else 0
