"""Conditions on the confidential values of a class (numba).

Symbols: ``values`` the distinct values of a class, ascending; ``counts`` records of each, ``n`` in
all. ``conditions`` holds, in this order:

``limits``
    smallest number of known distinct values; l of entropy; c and l of recursive; t; the distance (0
    equal, 1 ordered, 2 hierarchical); 1 if value 0 stands for missing; -1 is not asked for;
``q``, ``Q``, ``S``
    share of each value in the whole file, its cumulative sum, and the cumulative sum of that;
``parents``, ``widths``
    the hierarchy of the values: node above each node, level by level, and nodes of each level.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tacit.core.compiled import njit

Arrays: TypeAlias = tuple[np.ndarray, ...]

_DISTINCT, _ENTROPY, _C, _L, _T, _DISTANCE, _MISSING = range(7)
_SLACK = 1e-9
"""Sums of shares are inexact; a class that meets a limit exactly must not fail."""


@njit(cache=True)
def n_missing_values(values: np.ndarray, limits: np.ndarray) -> int:
    """Return 1 where the first of the distinct values stands for missing, else 0."""
    return int(limits[_MISSING] > 0 and values.size > 0 and values[0] == 0)


@njit(cache=True)
def n_known(values: np.ndarray, limits: np.ndarray) -> int:
    """Count the distinct values that are known."""
    return values.size - n_missing_values(values, limits)


@njit(cache=True)
def _entropy(counts: np.ndarray, n: int) -> float:
    total = 0.0
    for count in counts:
        total -= count / n * np.log(count / n)
    return total


@njit(cache=True)
def _is_recursive(counts: np.ndarray, c: float, rank: int) -> bool:
    """Whether the largest count is below c times the sum from the l-th largest on."""
    if counts.size < rank:
        return False
    # removing the largest counts one by one: the rank is small, and a sort slow to compile
    left, rest = counts.copy(), counts.sum()
    for _ in range(rank - 1):
        largest = np.argmax(left)
        rest -= left[largest]
        left[largest] = 0
    return bool(counts.max() < c * rest)


@njit(cache=True)
def _equal_distance(values: np.ndarray, counts: np.ndarray, n: int, q: np.ndarray) -> float:
    # Equal distance of li2007: half the sum of |p - q| is the sum over values where p exceeds q.
    total = 0.0
    for i in range(values.size):
        total += max(0.0, counts[i] / n - q[values[i]])
    return total


@njit(cache=True)
def _gap(start: int, stop: int, level: float, Q: np.ndarray, S: np.ndarray) -> float:
    """Sum of |level - Q[i]| for start <= i < stop, Q ascending."""
    if stop <= start:
        return 0.0
    middle = start + np.searchsorted(Q[start:stop], level)
    below = (S[middle - 1] if middle > 0 else 0.0) - (S[start - 1] if start > 0 else 0.0)
    above = S[stop - 1] - (S[middle - 1] if middle > 0 else 0.0)
    return float(level * (middle - start) - below + above - level * (stop - middle))


@njit(cache=True)
def _ordered_distance(
    values: np.ndarray, counts: np.ndarray, n: int, Q: np.ndarray, S: np.ndarray
) -> float:
    # Ordered distance of li2007: the sum of |cumulative p - cumulative q| over m - 1.
    if Q.size < 2:
        return 0.0
    total, level, at = 0.0, 0.0, 0
    for i in range(values.size):
        total += _gap(at, values[i], level, Q, S)
        level += counts[i] / n
        at = values[i]
    return float((total + _gap(at, Q.size, level, Q, S)) / (Q.size - 1))


@njit(cache=True)
def _tree_distance(
    values: np.ndarray,
    counts: np.ndarray,
    n: int,
    q: np.ndarray,
    parents: np.ndarray,
    widths: np.ndarray,
) -> float:
    # Hierarchical distance of li2007: the mass that children exchange, times the node's height.
    n_levels = parents.shape[0]
    extra = -q
    for i in range(values.size):
        extra[values[i]] += counts[i] / n
    total = 0.0
    for level in range(n_levels):
        surplus, lack = np.zeros(widths[level]), np.zeros(widths[level])
        for node in range(extra.size):
            up = parents[level, node]
            if extra[node] > 0:
                surplus[up] += extra[node]
            else:
                lack[up] -= extra[node]
        total += np.minimum(surplus, lack).sum() * (level + 1) / n_levels
        extra = surplus - lack
    return total


@njit(cache=True)
def distance(values: np.ndarray, counts: np.ndarray, n: int, conditions: Arrays) -> float:
    """Earth mover's distance of a class from the whole file."""
    limits, q, Q, S, parents, widths = conditions
    kind = int(limits[_DISTANCE])
    if kind == 0:
        return _equal_distance(values, counts, n, q)
    if kind == 1:
        return _ordered_distance(values, counts, n, Q, S)
    return _tree_distance(values, counts, n, q, parents, widths)


@njit(cache=True)
def shortfall(values: np.ndarray, counts: np.ndarray, n: int, conditions: Arrays) -> float:
    """Share of a class that must be suppressed in any division of it; 0 where it meets all.

    A class is a mixture of its parts. Its entropy is at least the mean of theirs, and its distance
    at most, so that parts which all meet a limit make a class which does; where the class misses
    the limit, parts of some total share must miss it.
    """
    limits, least = conditions[0], 0.0
    # Diversity looks at the records whose value is known; they form a mixture of their own.
    known = counts[n_missing_values(values, limits) :]
    if limits[_ENTROPY] > 0:
        n_informed = known.sum()
        entropy, asked = _entropy(known, n_informed), np.log(limits[_ENTROPY])
        if entropy < asked - _SLACK:
            least = max(least, 1.0 / n, (1.0 - entropy / asked) * n_informed / n)
    if limits[_L] > 0 and not _is_recursive(known, limits[_C], int(limits[_L])):
        least = max(least, 1.0 / n)
    if limits[_T] >= 0:
        t = limits[_T]
        far = distance(values, counts, n, conditions)
        if far > t + _SLACK:
            least = max(least, 1.0 / n, (far - t) / (1.0 - t) - _SLACK)
    return least


@njit(cache=True)
def mark_failing(
    groups: np.ndarray,
    values: np.ndarray,
    amounts: np.ndarray,
    sizes: np.ndarray,
    conditions: Arrays,
    forced: np.ndarray,
) -> None:
    """Raise, for each class, the number of records that any division of it must suppress.

    ``groups``, ``values`` and ``amounts`` describe the pairs of row and confidential value, in
    ascending order of the value. A class of which all records are forced out is not looked at; one
    that meets all conditions keeps its number of 0.
    """
    starts = np.zeros(sizes.size + 1, np.int64)
    for g in groups:
        starts[g + 1] += 1
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    order = np.empty(groups.size, np.int64)
    for i in range(groups.size):
        order[place[groups[i]]] = i
        place[groups[i]] += 1
    limits, n_values = conditions[0], conditions[1].size
    distinct, counts = np.empty(n_values, np.int64), np.empty(n_values, np.int64)
    for g in range(sizes.size):
        if forced[g] >= sizes[g]:
            continue
        found = 0
        for at in range(starts[g], starts[g + 1]):
            i = order[at]
            if found == 0 or distinct[found - 1] != values[i]:
                distinct[found], counts[found] = values[i], 0
                found += 1
            counts[found - 1] += amounts[i]
        v, c = distinct[:found], counts[:found]
        if n_known(v, limits) < limits[_DISTINCT]:
            forced[g] = sizes[g]
        else:
            least = shortfall(v, c, sizes[g], conditions)
            forced[g] = max(forced[g], least * sizes[g])


@njit(cache=True)
def meets_all(values: np.ndarray, conditions: Arrays, counts: np.ndarray) -> bool:
    """Whether records with these confidential values form a class that meets all conditions.

    ``counts`` is scratch space of zeros, one per possible value; it is left full of zeros.
    """
    touched, found = np.empty(min(values.size, counts.size), np.int64), 0
    for value in values:
        if counts[value] == 0:
            touched[found] = value
            found += 1
        counts[value] += 1
    v = np.sort(touched[:found])
    c = counts[v]
    counts[v] = 0
    if n_known(v, conditions[0]) < conditions[0][_DISTINCT]:
        return False
    return shortfall(v, c, values.size, conditions) == 0.0
