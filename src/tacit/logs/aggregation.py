"""One log for a group of users, to which each contributes in proportion to what she asked."""

from __future__ import annotations

import numpy as np

from tacit.core.progress import track
from tacit.logs.query_log import QueryLog


def repetitions_taken(
    repetitions: np.ndarray, n_own: np.ndarray, n_group: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    r"""Draw how often queries enter the log of the group.

    With contribution :math:`c = |Q_i| / \sum_j |Q_j|`, Eq. (2) of [erola2011]_, a query repeated
    :math:`r` times enters :math:`\lfloor cr \rfloor` times, and once more with probability
    :math:`cr - \lfloor cr \rfloor`.

    Parameters
    ----------
    repetitions
        How often its user asked each query.
    n_own
        Number of queries of that user.
    n_group
        Number of queries of all users of her group.
    rng
        Draws whether a query enters once more.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> repetitions_taken(np.full(8, 3), np.full(8, 40), np.full(8, 100), rng).tolist()
    [1, 1, 2, 1, 1, 1, 1, 1]
    """
    product = np.asarray(n_own, dtype=np.int64) * np.asarray(repetitions, dtype=np.int64)
    whole, rest = np.divmod(product, n_group)  # whole numbers, so that no rounding decides
    return np.asarray(whole + (rng.random(len(whole)) * n_group < rest))


def aggregate(
    log: QueryLog, groups: np.ndarray, rng: np.random.Generator, *, fill: bool = False
) -> np.ndarray:
    """Choose the lines that make up the common log of each group (Algorithm 5 of erola2011).

    Parameters
    ----------
    log
        The lines.
    groups
        Group of each user.
    rng
        Draws repetitions, the order of queries asked equally often, and which of equal lines enter.
    fill
        Whether a user whose list ends before her quota is reached fills it with further lines of
        hers, drawn at random. As published, the list just ends.

    Returns
    -------
    numpy.ndarray
        Numbers of the chosen lines, ascending.
    """
    if not log.n_lines:
        return np.empty(0, dtype=np.int64)
    with track("joining the logs of groups", 3) as advance:
        order = np.lexsort((rng.random(log.n_lines), log.query, log.user))
        starts, user, repetitions = _pairs(log, order)
        n_own = np.bincount(log.user, minlength=log.n_users)
        n_group = np.bincount(groups, weights=n_own).astype(np.int64)[groups]
        advance(1)
        taken = repetitions_taken(repetitions, n_own[user], n_group[user], rng)
        size = np.bincount(groups)[groups]
        taken[~_within_quota(user, repetitions, taken, n_own, size, rng)] = 0
        advance(1)
        rank = np.arange(log.n_lines) - np.repeat(starts, repetitions)
        chosen = rank < np.repeat(taken, repetitions)
        if fill:
            chosen |= _filling(log.user[order], chosen, n_own, size, rng)
        advance(1)
    return np.sort(order[chosen])


def _pairs(log: QueryLog, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the lines of each user's distinct query start, the user, and their number."""
    user, query = log.user[order], log.query[order]
    new = np.concatenate([[True], (np.diff(user) != 0) | (np.diff(query) != 0)])
    starts = np.flatnonzero(new)
    return starts, user[starts], np.diff(np.append(starts, log.n_lines))


def _within_quota(
    user: np.ndarray,
    repetitions: np.ndarray,
    taken: np.ndarray,
    n_own: np.ndarray,
    size: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Say which queries are reached before the quota :math:`|Q_i| / k`, most repeated first."""
    order = np.lexsort((rng.random(len(user)), -repetitions, user))
    before = np.cumsum(taken[order]) - taken[order]
    first = np.concatenate([[True], np.diff(user[order]) != 0])
    before -= np.repeat(before[first], np.diff(np.append(np.flatnonzero(first), len(user))))
    within = np.empty(len(user), dtype=bool)
    within[order] = before * size[user[order]] < n_own[user[order]]  # Eq. (3) of erola2011
    return within


def _filling(
    user: np.ndarray,
    chosen: np.ndarray,
    n_own: np.ndarray,
    size: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose further lines at random for users who are below their quota."""
    whole, rest = np.divmod(n_own, size)
    quota = whole + (rng.random(len(size)) * size < rest)
    missing = np.maximum(quota - np.bincount(user, weights=chosen, minlength=len(size)), 0)
    order = np.lexsort((rng.random(len(user)), chosen, user))
    first = np.concatenate([[True], np.diff(user[order]) != 0])
    lengths = np.diff(np.append(np.flatnonzero(first), len(user)))
    rank = np.arange(len(user)) - np.repeat(np.flatnonzero(first), lengths)
    added = np.empty(len(user), dtype=bool)
    added[order] = rank < missing[user[order]]
    return np.asarray(added & ~chosen)
