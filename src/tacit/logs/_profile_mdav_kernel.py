# mypy: ignore-errors
"""MDAV on sparse profiles: shares of categories, Euclidean distances by an inverted index."""

import numpy as np

from tacit.core.compiled import njit
from tacit.logs._partition_kernel import build_index


@njit(cache=True)
def _add_products(user, indptr, nodes, shares, heads, posting, held, row):
    for e in range(indptr[user], indptr[user + 1]):
        for p in range(heads[nodes[e]], heads[nodes[e] + 1]):
            row[posting[p]] += shares[e] * shares[held[p]]


@njit(cache=True)
def _farthest_from_mean(indptr, nodes, shares, norm, alive, total, n_alive):
    """Return the user who is alive and farthest from the mean profile."""
    best, distance = -1, -1.0
    for user in range(len(alive)):
        if not alive[user]:
            continue
        product = 0.0
        for e in range(indptr[user], indptr[user + 1]):
            product += shares[e] * total[nodes[e]]
        here = norm[user] - 2.0 * product / n_alive
        if best < 0 or here > distance + 1e-12:
            best, distance = user, here
    return best


@njit(cache=True)
def _distances(user, indptr, nodes, shares, heads, posting, held, norm, row):
    row[:] = 0.0
    _add_products(user, indptr, nodes, shares, heads, posting, held, row)
    for other in range(len(row)):
        row[other] = norm[other] - 2.0 * row[other]


@njit(cache=True)
def _take_group(seed, k, group, indptr, nodes, shares, row, alive, groups, total):
    """Put the seed and the k - 1 nearest users into a group and take them from the total."""
    for member in range(k):
        best = seed
        if member > 0:
            best = -1
            for other in range(len(row)):
                if alive[other] and (best < 0 or row[other] < row[best] - 1e-12):
                    best = other
        alive[best] = False
        groups[best] = group
        for e in range(indptr[best], indptr[best + 1]):
            total[nodes[e]] -= shares[e]


@njit(cache=True)
def _farthest(row, alive):
    best = -1
    for other in range(len(row)):
        if alive[other] and (best < 0 or row[other] > row[best] + 1e-12):
            best = other
    return best


@njit(cache=True)
def mdav(indptr, nodes, shares, n_nodes, k):
    """Return the groups: pairs of groups around extreme users while 3k are left, then the rest."""
    n_users = len(indptr) - 1
    alive = np.ones(n_users, dtype=np.bool_)
    groups = np.full(n_users, -1, dtype=np.int64)
    norm, total = np.zeros(n_users), np.zeros(n_nodes)
    for user in range(n_users):
        for e in range(indptr[user], indptr[user + 1]):
            norm[user] += shares[e] ** 2
            total[nodes[e]] += shares[e]
    # The index holds places in the profiles, whose shares are looked up there.
    heads, posting, held = build_index(indptr, nodes, np.arange(len(nodes)), alive, n_nodes)
    row = np.zeros(n_users)
    left, group = n_users, 0
    while left >= 3 * k:
        seed = _farthest_from_mean(indptr, nodes, shares, norm, alive, total, left)
        _distances(seed, indptr, nodes, shares, heads, posting, held, norm, row)
        other = _farthest(row, alive)
        _take_group(seed, k, group, indptr, nodes, shares, row, alive, groups, total)
        if not alive[other]:  # every profile is the same
            other = _farthest(row, alive)
        _distances(other, indptr, nodes, shares, heads, posting, held, norm, row)
        _take_group(other, k, group + 1, indptr, nodes, shares, row, alive, groups, total)
        left, group = left - 2 * k, group + 2
    if left >= 2 * k:
        seed = _farthest_from_mean(indptr, nodes, shares, norm, alive, total, left)
        _distances(seed, indptr, nodes, shares, heads, posting, held, norm, row)
        _take_group(seed, k, group, indptr, nodes, shares, row, alive, groups, total)
        group += 1
    for user in range(n_users):
        if alive[user]:
            groups[user] = group
    return groups
