"""Microaggregation with groups of varying size (V-MDAV)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from tacit.core.method import Try
from tacit.core.progress import track
from tacit.mask._grouped import MeansOfGroups, standardised

_GROUPS_PER_REPORT = 200


class VMdav(
    MeansOfGroups,
    key="v-mdav",
    title="Microaggregation with groups of varying size (V-MDAV)",
    cites=("solanas2006",),
    example={"columns": ["income", "taxes"], "k": 3},
    at_scale="blocks",
):
    r"""Replace values by means of groups of ``k`` to ``2k - 1`` records, sized as the data lie.

    Missing values: records are grouped with records that miss the same columns; where fewer than
    ``k`` records share a pattern, all the columns are blanked on them, and on one more group if
    fewer than ``k`` records are blank then. Weights: means are weighted
    where the schema has a weight. Households: not considered.

    Notes
    -----
    A group starts with the free record farthest from the centroid of all records and its
    :math:`k-1` nearest free records. It then takes in the free record nearest to any member, at
    distance :math:`d_{in}`, while :math:`d_{in} < \gamma\, d_{out}`, where :math:`d_{out}` is that
    record's distance to the nearest other free record, up to :math:`2k-1` members
    [solanas2006]_. The last records, fewer than :math:`k`, join the groups with the nearest
    centroids, which may then hold more. A :math:`\gamma` near 0.2 suits scattered data, 1.1
    clustered data. The cost is about :math:`n^2/k`. When not to use it: on large files, where
    refined microaggregation is faster and loses less.

    Examples
    --------
    >>> import polars as pl
    >>> import tacit
    >>> from tacit import mask
    >>> table = pl.DataFrame({"x": [0, 1, 2, 50, 51, 100, 101, 102]})
    >>> plan = tacit.Plan([mask.VMdav(columns=["x"], k=2, gamma=1.1)])
    >>> plan.apply(table, seed=1).frame["x"].to_list()
    [1.0, 1.0, 1.0, 50.5, 50.5, 101.0, 101.0, 101.0]
    """

    gamma: Annotated[float, Ge(0), Try(0.2, 1.1)] = 0.2
    """How readily a group takes in more records; 0 never."""
    standardise: bool = True
    """Give all columns the same weight in distances, whatever their units."""

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scaled = standardised(values) if self.standardise else values
        return v_mdav_groups(scaled, self.k, self.gamma)


def v_mdav_groups(values: np.ndarray, k: int, gamma: float) -> np.ndarray:
    """Return the V-MDAV group (0, 1, ...) of each record of a complete numeric array."""
    from tacit.mask import _v_mdav_kernel as kernel

    n_records = len(values)
    X = np.ascontiguousarray(values)
    from_centre = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    order = np.argsort(-from_centre, kind="stable")
    free, groups = np.arange(n_records), np.full(n_records, -1, dtype=np.int64)
    to_group, counters = np.empty(n_records), np.array([n_records, 0, 0])
    with track("microaggregation", n_records) as advance:
        done = n_records < k
        while not done:
            before = counters[0]
            done = kernel.form_groups(
                X, order, free, groups, to_group, counters, k, gamma, _GROUPS_PER_REPORT
            )
            advance(int(before - counters[0]))
        kernel.place_rest(X, free, groups, counters)
    return groups
