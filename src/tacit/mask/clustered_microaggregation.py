"""Microaggregation inside clusters of similar records."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from tacit.core.keys import group_ids
from tacit.core.method import Try
from tacit.mask._grouped import MeansOfGroups, group_means, standardised
from tacit.mask.mdav import mdav_groups

_MOST_ROUNDS = 50
_SAMPLE = 20_000
"""Records that the centres of the clusters are found from."""


class ClusteredMicroaggregation(
    MeansOfGroups,
    key="clustered-microaggregation",
    title="Microaggregation inside clusters",
    cites=("templ2015", "domingoferrer2005"),
    example={"columns": ["income", "taxes", "hours"], "k": 3, "clusters": 4},
    at_scale="blocks",
):
    r"""Divide the records into clusters, then form groups of at least ``k`` in each of them.

    No group mixes records of different clusters, so that what sets subpopulations apart that no
    variable names is kept. The cost falls with the square of the size of the clusters.

    Missing values: records are clustered and grouped with records that miss the same columns;
    where fewer than ``k`` records share a pattern, all the columns are blanked on them, and on one
    more group if fewer than ``k`` records are blank then. Weights: means are weighted where the
    schema has a weight; clusters are not. Households: not considered.

    When not to use it: on data without clusters, where the borders between them only cost; or where
    a variable names the subpopulations, which then belongs in ``within``.

    Notes
    -----
    The clusters are those of :math:`k`-means on standardised columns: centres
    :math:`c_1, \dots, c_m`, drawn apart from each other at first, and then moved to

    .. math:: \arg\min_{c} \sum_{i=1}^{n} \min_j \lVert x_i - c_j \rVert^2

    as far as moving each centre to the mean of its records leads. A cluster with fewer than
    :math:`k` records is dissolved, and its records go to the nearest of the others. In each cluster
    the groups are those of MDAV [domingoferrer2005]_, on the same scale. sdcMicro has the idea
    with projections inside the clusters [templ2015]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> method = mask.ClusteredMicroaggregation(columns=["income", "taxes"], k=3, clusters=4)
    >>> release = tacit.Plan([method]).apply(tacit.datasets.census(300), seed=1)
    >>> bool(release.frame.group_by("income", "taxes").len()["len"].min() >= 3)
    True
    """

    clusters: Annotated[int, Ge(1), Try(4, 8, 16)] = 8
    """How many clusters the records are divided into, at most."""

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scaled = standardised(values)
        cluster = clusters_of(scaled, self.clusters, self.k, rng)
        groups, n_groups = np.empty(len(scaled), dtype=np.int64), 0
        for number in range(int(cluster.max()) + 1):
            rows = np.flatnonzero(cluster == number)
            found = mdav_groups(scaled[rows], self.k, standardise=False)
            groups[rows] = found + n_groups
            n_groups += int(found.max()) + 1
        return groups

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        return (
            f"{self.title}: the records were divided into at most {self.clusters} clusters, and "
            f"the values of {', '.join(self.columns)} replaced by the means of groups of at least "
            f"{self.k} similar records of one cluster"
        )


def clusters_of(
    values: np.ndarray, n_clusters: int, smallest: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the cluster (0, 1, ...) of each record; none has fewer than `smallest` records.

    Examples
    --------
    >>> values = np.array([[0.0], [1.0], [100.0], [101.0], [500.0]])
    >>> clusters_of(values, 3, 2, np.random.default_rng(1)).tolist()
    [0, 0, 1, 1, 1]
    """
    sample = values
    if len(values) > _SAMPLE:
        sample = values[rng.choice(len(values), _SAMPLE, replace=False)]
    centres = _settled(sample, _spread_out(sample, n_clusters, rng))
    cluster = _nearest(values, centres)
    # Dissolving the smallest one by one: its records may be what another small one needs.
    sizes = np.bincount(cluster, minlength=len(centres))
    while len(centres) > 1 and sizes.min() < smallest:
        centres = np.delete(centres, int(np.argmin(sizes)), axis=0)
        cluster = _nearest(values, centres)
        sizes = np.bincount(cluster, minlength=len(centres))
    return group_ids(cluster[:, None])[0]


def _spread_out(values: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw centres, each with a chance proportional to its squared distance to those before."""
    centres = values[[int(rng.integers(len(values)))]]
    distance = ((values - centres[0]) ** 2).sum(axis=1)
    while len(centres) < n_clusters and distance.any():
        drawn = int(np.searchsorted(np.cumsum(distance), rng.random() * distance.sum()))
        new = values[min(drawn, len(values) - 1)]
        centres = np.vstack([centres, new])
        distance = np.minimum(distance, ((values - new) ** 2).sum(axis=1))
    return centres


def _settled(values: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Move each centre to the mean of the records nearest to it, until none moves."""
    cluster = np.full(len(values), -1)
    for _ in range(_MOST_ROUNDS):
        nearest = _nearest(values, centres)
        if np.array_equal(nearest, cluster):
            break
        cluster = np.unique(nearest, return_inverse=True)[1]
        _, first = np.unique(cluster, return_index=True)
        centres = group_means(values, cluster)[first]
    return centres


def _nearest(values: np.ndarray, centres: np.ndarray) -> np.ndarray:
    from scipy.cluster.vq import vq

    return np.asarray(vq(values, centres, check_finite=False)[0], dtype=np.int64)
