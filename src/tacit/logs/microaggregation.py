"""Semantic microaggregation of query logs: users with similar interests share one log."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from tacit.core.errors import DataError, ProtectionError
from tacit.core.value import Value
from tacit.logs.aggregation import aggregate
from tacit.logs.partition import check_size, partition
from tacit.logs.profiles import classify
from tacit.logs.query_log import QueryLog
from tacit.logs.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Grouped:
    """Users in groups, and the lines that make up the log of each group."""

    groups: np.ndarray
    """Group of each user."""
    lines: np.ndarray
    """Numbers of the lines that enter the common logs."""
    shares: np.ndarray
    """Share of the lines that have a category at level 1, 2, ..."""
    seconds: dict[str, float]
    """Time that each part of the work took."""


class SemanticMicroaggregation(Value):
    r"""Give users with similar interests one common log, so that at least ``k`` look alike.

    Notes
    -----
    The steps are those of [erola2011]_. Queries are classified by a taxonomy (Algorithm 1). Two
    users are as similar as they have categories in common,

    .. math:: s(u, v) = \sum_{l=1}^{L} \sum_{c \in C_l} \min\{M_l(u, c), M_l(v, c)\}

    (Algorithm 2; Eq. (1) there writes the union where the common part is meant). The most similar
    pair is merged, then whoever is most similar to the merged pair, up to :math:`k` users, while
    :math:`k` users are left (Algorithms 3 and 4); fewer than :math:`k` who remain join the group
    they are most similar to. The common log takes :math:`|Q_i| / k` queries of each user, those
    that she repeats most first, each with probability :math:`|Q_i| / \sum_j |Q_j|` times its
    repetitions (Algorithm 5).

    Examples
    --------
    >>> SemanticMicroaggregation(k=5).levels
    5
    """

    k: Annotated[int, Ge(2)] = 3
    """Smallest number of users who share a log; larger is safer and coarser."""
    levels: Annotated[int, Ge(1)] = 5
    """Deepest level of categories that counts."""
    categories: Annotated[int, Ge(1)] = 5
    """How many categories of each term count, best first."""
    partition: Literal["greedy", "mdav"] = "greedy"
    """How groups are formed: most similar users first, or around the most unusual users."""
    block: Annotated[int, Ge(4)] = 5000
    """Most users compared with one another; larger logs are cut into blocks of like interests."""
    fill: bool = False
    """Whether users whose list ends early fill their quota with more lines; as published, not."""

    def group(self, log: QueryLog, taxonomy: Taxonomy, rng: np.random.Generator) -> Grouped:
        """Put the users of a log into groups and choose the lines of their common logs."""
        check_size(log.n_users, self.k)
        seconds, started = {}, time.perf_counter()
        found = classify(log.queries, taxonomy, levels=self.levels, categories=self.categories)
        counts = log.counts()
        profiles = found.profiles(counts)
        shares = found.share_classified(counts)
        if not profiles.nnz:
            raise DataError(
                "the taxonomy knows no word of this log",
                got=str(taxonomy),
                do="use a taxonomy of the language and the subjects of the log",
            )
        seconds["classification"], started = _lap(started)
        block = max(self.block, 2 * self.k)
        groups = partition(profiles, self.k, way=self.partition, block=block, levels=found.level)
        seconds["partition"], started = _lap(started)
        lines = aggregate(log, groups, rng, fill=self.fill)
        seconds["aggregation"], _ = _lap(started)
        if np.bincount(groups).min() < self.k:
            raise ProtectionError("a group has fewer than k users", do="report this as a bug")
        return Grouped(groups, lines, shares, seconds)


def _lap(started: float) -> tuple[float, float]:
    now = time.perf_counter()
    return now - started, now
