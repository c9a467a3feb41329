"""Whether a released log still says what is asked often, and what is asked together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.measurement import Measurement
from tacit.logs.release import LogRelease


def query_frequencies(release: LogRelease, *, top: int = 100) -> Measurement:
    r"""Return how well the released log keeps the frequencies of queries.

    Notes
    -----
    With the shares :math:`p_q` and :math:`r_q` of query :math:`q` among the original and the
    released lines, the value is :math:`\sum_q \min(p_q, r_q)`, the common part of both
    distributions: 1 if they are equal, 0 if they have no query in common.

    Parameters
    ----------
    release
        What `tacit.logs.anonymize` returned.
    top
        The most frequent queries that are also compared by rank.
    """
    before, after = _frequencies(release)
    p, r = before / before.sum(), after / max(after.sum(), 1)
    first = np.argsort(-before, kind="stable")[: min(top, len(before))]
    kept = np.isin(first, np.argsort(-after, kind="stable")[: len(first)])
    return Measurement(
        key="query-frequencies",
        title="Query frequencies kept",
        value=float(np.minimum(p, r).sum()),
        better="higher",
        bounds=(0.0, 1.0),
        unit="percent",
        details={
            "distinct_queries_original": int(np.sum(before > 0)),
            "distinct_queries_released": int(np.sum(after > 0)),
            f"of_top_{len(first)}_still_there": float(kept.mean()),
            f"rank_correlation_of_top_{len(first)}": _rank_correlation(before[first], after[first]),
        },
        explanation="Common part of the distributions of queries before and after.",
    )


def co_occurrence(release: LogRelease, *, top: int = 100) -> Measurement:
    """Return how well the released log keeps which queries are asked by the same users.

    For each pair of the most frequent queries, users who asked both are counted before and after;
    the value is the correlation of the two lists of counts. Common logs hold the interests of
    several users, so counts grow; the correlation says whether their pattern is kept.

    Parameters
    ----------
    release
        What `tacit.logs.anonymize` returned.
    top
        How many of the most frequent queries are paired.
    """
    before, _ = _frequencies(release)
    first = np.sort(np.argsort(-before, kind="stable")[: min(top, len(before))])
    pairs_before = _pairs(release.original.counts()[:, first], None)
    pairs_after = _pairs(release.group_counts()[:, first], release.group_sizes)
    return Measurement(
        key="co-occurrence",
        title="Co-occurrence of queries kept",
        value=_correlation(pairs_before, pairs_after),
        better="higher",
        bounds=(-1.0, 1.0),
        details={
            "queries": len(first),
            "pairs": len(pairs_before),
            "mean_users_per_pair_original": float(pairs_before.mean()) if len(pairs_before) else 0,
            "mean_users_per_pair_released": float(pairs_after.mean()) if len(pairs_after) else 0,
        },
        explanation="Correlation of the numbers of users who ask two queries, before and after.",
    )


def _frequencies(release: LogRelease) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of lines of each original query, before and after."""
    n_queries = len(release.original.queries)
    before = np.bincount(release.original.query, minlength=n_queries)
    after = release.group_sizes @ release.group_counts()
    return before, np.asarray(after).ravel()


def _pairs(counts: Any, weight: np.ndarray | None) -> np.ndarray:
    """Return the number of users who asked both queries of each pair."""
    asked = counts.tocsr().copy()
    asked.data = np.ones(len(asked.data))
    weighted = asked if weight is None else asked.multiply(weight[:, None]).tocsr()
    together = np.asarray((asked.T @ weighted).todense())
    return np.asarray(together[np.triu_indices(together.shape[0], 1)])


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import rankdata

    return _correlation(rankdata(a), rankdata(b))
