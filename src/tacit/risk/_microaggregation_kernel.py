"""Counting the released records that are in a candidate group of every block (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

A = np.ndarray


@njit(cache=True, nogil=True)
def _is_candidate(groups: A, candidates: A, record: int, target: int, skipped: int) -> bool:
    """Whether a record's group is a candidate in every block but one; a missing group always is."""
    for b in range(groups.shape[0]):
        group = groups[b, record]
        if b == skipped or group < 0 or candidates[b, target, 0] < 0:
            continue
        is_in = False
        for q in range(candidates.shape[2]):
            if candidates[b, target, q] == group:
                is_in = True
                break
        if not is_in:
            return False
    return True


@njit(cache=True, nogil=True)
def are_candidates(groups: A, candidates: A, records: A, targets: A) -> A:
    """Say of each pair whether the record is a candidate of the target."""
    found = np.empty(records.size, np.bool_)
    for i in range(records.size):
        found[i] = _is_candidate(groups, candidates, records[i], targets[i], -1)
    return found


@njit(cache=True, nogil=True)
def count_candidates(groups: A, candidates: A, members: A, starts: A) -> A:
    """Count each target's candidates.

    ``groups[b, j]`` is the group of record j in block b, -1 if missing; ``candidates[b, i]`` lists
    groups, the first -1 where nothing is known; one listed twice in a row counts once. The records
    of group g are ``members[b, starts[b, g + 1]:starts[b, g + 2]]``.
    """
    n_blocks, n_targets, n_candidates = candidates.shape
    counts = np.zeros(n_targets)
    for i in range(n_targets):
        base = 0
        while base < n_blocks and candidates[base, i, 0] < 0:
            base += 1
        if base == n_blocks:
            counts[i] = groups.shape[1]
            continue
        for q in range(-1, n_candidates):
            group = -1 if q < 0 else candidates[base, i, q]
            if q >= 0 and (group < 0 or (q > 0 and group == candidates[base, i, q - 1])):
                continue
            for k in range(starts[base, group + 1], starts[base, group + 2]):
                if _is_candidate(groups, candidates, members[base, k], i, base):
                    counts[i] += 1.0
    return counts
