"""Microaggregation for large files and for least loss: MDAV in blocks, then local search."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from tacit.core.progress import track
from tacit.mask._blocks import split_into_blocks
from tacit.mask._grouped import MeansOfGroups, standardised
from tacit.mask.mdav import mdav_groups

_GROUPS_PER_BLOCK = 256
_SPARE = 2
"""Unused group numbers given to each block, so that a group that has grown can be split."""
_SWEEPS = 6


class RefinedMicroaggregation(
    MeansOfGroups,
    key="refined-microaggregation",
    title="Microaggregation, refined (large files)",
    cites=("domingoferrer2002", "domingoferrer2005"),
    example={"columns": ["income", "taxes"], "k": 3},
    at_scale="blocks",
):
    r"""Replace values by means of groups of at least ``k``, improved by moves and swaps.

    The groups vary in size between ``k`` and ``2k - 1``. The loss is below that of MDAV on files of
    up to some 100,000 records, and was 6 % above it on a million with ten columns. The cost grows
    about in proportion to the number of records.

    Missing values: records are grouped with records that miss the same columns; where fewer than
    ``k`` records share a pattern, all the columns are blanked on them, and on one more group if
    fewer than ``k`` records are blank then. Weights: means are
    weighted where the schema has a weight. Households: not considered; records are grouped one
    by one.

    Notes
    -----
    The file is cut into blocks of neighbours, MDAV [domingoferrer2005]_ forms groups in each block,
    and then records move between neighbouring groups, swap places, groups dissolve or split, as
    long as that lowers

    .. math:: SSE = \sum_{i=1}^{g} \sum_{j=1}^{n_i} (x_{ij} - \bar x_i)'(x_{ij} - \bar x_i).

    Optimal groups have between :math:`k` and :math:`2k-1` members [domingoferrer2002]_. Each round
    draws new blocks of neighbouring groups along turned axes, so that no border stays. When not to
    use it: when groups must be exactly those of MDAV, say to compare with other software.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> method = mask.RefinedMicroaggregation(columns=["income", "taxes"], k=3)
    >>> release = tacit.Plan([method]).apply(tacit.datasets.census(300), seed=1)
    >>> bool(release.frame.group_by("income", "taxes").len()["len"].min() >= 3)
    True
    """

    standardise: bool = True
    """Give all columns the same weight in distances, whatever their units."""
    rounds: Annotated[int, Ge(0)] = 8
    """How often the groups are improved; more takes longer and loses less."""
    block_size: Annotated[int, Ge(100)] = 25_000
    """Records in which MDAV looks for neighbours before the improvement."""

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scaled = standardised(values) if self.standardise else values
        return refined_groups(scaled, self.k, rng, rounds=self.rounds, block_size=self.block_size)

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        return (
            f"{self.title}: the values of {', '.join(self.columns)} were replaced by the means of "
            f"groups of {self.k} to {2 * self.k - 1} similar records"
        )


def refined_groups(
    values: np.ndarray,
    k: int,
    rng: np.random.Generator,
    *,
    rounds: int = 8,
    block_size: int = 25_000,
) -> np.ndarray:
    """Return the group (0, 1, ...) of each record of a complete numeric array."""
    groups = _mdav_in_blocks(values, k, max(block_size, 4 * k))
    if rounds and groups.max() > 0:
        groups = _refined(np.ascontiguousarray(values), groups, k, rng, rounds)
    return groups


def _mdav_in_blocks(values: np.ndarray, k: int, block_size: int) -> np.ndarray:
    groups = np.empty(len(values), dtype=np.int64)
    n_groups = 0
    with track("grouping in blocks", len(values)) as advance:
        for block in split_into_blocks(values, block_size):
            inside = mdav_groups(values[block], k, standardise=False)
            groups[block] = n_groups + inside
            n_groups += int(inside.max()) + 1
            advance(len(block))
    return groups


def _refined(
    values: np.ndarray, groups: np.ndarray, k: int, rng: np.random.Generator, rounds: int
) -> np.ndarray:
    from tacit.mask import _refine_kernel as kernel

    n_groups = int(groups.max()) + 1
    n_blocks = 1 + 4 * n_groups // _GROUPS_PER_BLOCK
    spare = _SPARE * n_blocks + n_groups // 2 + 2
    members, size = _member_lists(groups, n_groups + spare, 3 * k + 2)
    sums = np.zeros((n_groups + spare, values.shape[1]))
    np.add.at(sums, groups, values)
    group = groups.copy()
    with track("improving groups", rounds * n_groups) as advance:
        for _ in range(rounds):
            used, unused = np.flatnonzero(size > 0), np.flatnonzero(size == 0)
            centroids = sums[used] / size[used, None]
            blocks = split_into_blocks(centroids, _GROUPS_PER_BLOCK, rng)
            for number, block in enumerate(blocks):
                spares = unused[_SPARE * number : _SPARE * (number + 1)]
                chosen = np.concatenate([used[block], spares])
                kernel.refine_block(values, sums, members, size, group, chosen, k, _SWEEPS)
                advance(len(block))
        while (large := np.flatnonzero(size >= 2 * k)).size:
            unused = np.flatnonzero(size == 0)
            kernel.split_large(values, sums, members, size, group, large, unused, len(unused), k)
    return np.unique(group, return_inverse=True)[1]


def _member_lists(
    groups: np.ndarray, n_groups: int, capacity: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the members of each group, one row per group, and the group sizes."""
    size = np.bincount(groups, minlength=n_groups)
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(size)[:-1]])
    members = np.full((n_groups, capacity), -1, dtype=np.int64)
    members[groups[order], np.arange(len(groups)) - starts[groups[order]]] = order
    return members, size.astype(np.int64)
