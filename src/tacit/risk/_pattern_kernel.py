"""Agreement of all pairs of records, field by field (numba).

Fields are rows of the arrays, records their columns. Two values agree if they differ by at most the
field's tolerance. Levels of agreement: 0 differ, 1 agree, 2 a value is missing.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

A = np.ndarray

_CHUNK = 1024
"""Released records compared before looking whether one is better already."""
_SAME = 1e-9
"""Weights that differ by less are tied."""


@njit(cache=True, nogil=True)
def pair_levels(external: A, released: A, tolerance: A) -> A:
    """Level of agreement of each pair (record beside record) on each field."""
    levels = np.empty(external.shape, np.int8)
    for c in range(external.shape[0]):
        for i in range(external.shape[1]):
            gap = abs(external[c, i] - released[c, i])
            levels[c, i] = 2 if gap != gap else (1 if gap <= tolerance[c] else 0)
    return levels


@njit(cache=True, nogil=True)
def count_patterns(
    external: A, amounts: A, released: A, others: A, tolerance: A, strides: A, n_patterns: int
) -> A:
    """Count all pairs by pattern: the sum over fields of level times stride."""
    counts = np.zeros((1, n_patterns))
    pattern = np.empty(released.shape[1], np.int64)
    for i in range(external.shape[1]):
        pattern[:] = 0
        for c in range(external.shape[0]):
            x, limit, stride = external[c, i], tolerance[c], strides[c]
            column = released[c]
            for j in range(column.size):
                gap = abs(column[j] - x)
                pattern[j] += stride * (gap <= limit) + 2 * stride * (gap != gap)
        for j in range(pattern.size):
            counts[0, pattern[j]] += amounts[i] * others[j]
    return counts


@njit(cache=True, nogil=True)
def tied_at_weight(external: A, own: A, released: A, amounts: A, tolerance: A, weights: A) -> A:
    """Count the records whose weight with a target equals `own`; 0 if one has a larger weight.

    ``weights[c, level]`` is the weight of a level of agreement on a field.
    """
    tied = np.zeros(external.shape[1])
    total = np.empty(_CHUNK)
    n_released = released.shape[1]
    for i in range(external.shape[1]):
        count = 0.0
        for start in range(0, n_released, _CHUNK):
            size = min(_CHUNK, n_released - start)
            total[:] = 0.0
            for c in range(external.shape[0]):
                x, limit = external[c, i], tolerance[c]
                differs, agrees, missing = weights[c, 0], weights[c, 1], weights[c, 2]
                column = released[c, start : start + size]
                for j in range(size):
                    gap = abs(column[j] - x)
                    total[j] += agrees if gap <= limit else (missing if gap != gap else differs)
            largest = -np.inf
            for j in range(size):
                largest = max(largest, total[j])
            if largest > own[i] + _SAME:
                count = 0.0
                break
            if largest >= own[i] - _SAME:
                for j in range(size):
                    if total[j] >= own[i] - _SAME:
                        count += amounts[start + j]
        tied[i] = count
    return tied
