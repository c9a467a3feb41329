"""Profiles of users: how often their queries touch each category, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.logs.classification import terms_of
from tacit.logs.query_log import QueryLog
from tacit.logs.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Classified:
    """Queries with the categories of their terms."""

    matrix: Any
    """How often each query (row) touches each category (column), over all levels; sparse."""
    level: np.ndarray
    """Level of each column."""

    @property
    def n_levels(self) -> int:
        """Levels that were asked for and exist."""
        return int(self.level.max(initial=0))

    def profiles(self, counts: Any) -> Any:
        """Return the classification matrices of users, side by side as one sparse matrix.

        `counts` holds how often each user (row) asked each query (column).
        """
        profiles = (counts @ self.matrix).tocsr().astype(np.int32)
        profiles.sort_indices()
        return profiles

    def share_classified(self, counts: Any = None) -> np.ndarray:
        """Return the share of queries that have a category at level 1, 2, ... (ODP, Figure 2)."""
        weight = np.ones(self.matrix.shape[0]) if counts is None else counts.sum(axis=0)
        shares = []
        for level in range(1, self.n_levels + 1):
            touched = self.matrix[:, self.level == level].sum(axis=1) > 0
            shares.append(float(weight @ touched) / max(float(weight.sum()), 1.0))
        return np.array(shares)


def classify(queries: Any, taxonomy: Taxonomy, *, levels: int, categories: int) -> Classified:
    """Return the categories of queries at levels 1 to `levels`.

    Parameters
    ----------
    queries
        A Polars series of distinct queries.
    taxonomy
        Knows the terms.
    levels
        Deepest level that counts.
    categories
        How many categories of each term count, best first.
    """
    incidence = taxonomy.incidence(levels, categories)
    matrix = (terms_of(queries, taxonomy) @ incidence).tocsr()
    used = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    return Classified(matrix[:, used], taxonomy.depth[used])


def user_profiles(log: QueryLog, taxonomy: Taxonomy, *, levels: int, categories: int) -> Any:
    """Return how often each user's queries touch each category at each level.

    Algorithm 1 of [erola2011]_: the matrices of all levels stand side by side in one sparse matrix,
    users by categories. A category of level 1 and its subcategories are different columns.

    Examples
    --------
    >>> import polars as pl
    >>> taxonomy = Taxonomy.of({"flu": ["Health/Diseases"], "risotto": ["Home/Cooking"]})
    >>> frame = pl.DataFrame({"user": [1, 1, 2], "query": ["flu", "flu help", "risotto"]})
    >>> log = QueryLog.of(frame)
    >>> user_profiles(log, taxonomy, levels=2, categories=1).toarray()
    array([[2, 2, 0, 0], [0, 0, 1, 1]], dtype=int32)
    """
    found = classify(log.queries, taxonomy, levels=levels, categories=categories)
    return found.profiles(log.counts())
