# mypy: ignore-errors
"""Finding households to swap with, on arrays."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def find_partners(targets, bucket, bucket_start, bucket_member, area, parent, partner, offsets):
    """Give each target household a free household of its bucket from another area.

    A household of the same parent area is preferred; failing that, any other area will do.
    `bucket_member` lists the households of each bucket in random order, from `bucket_start`.
    `offsets` holds a random number per target, where the search starts. Returns how many targets
    found nobody.
    """
    n_failed = 0
    for t in range(targets.size):
        household = targets[t]
        if partner[household] >= 0:
            continue
        first = bucket_start[bucket[household]]
        length = bucket_start[bucket[household] + 1] - first
        shift = int(offsets[t] * length)
        second_best = -1
        found = -1
        for step in range(length):
            other = bucket_member[first + (shift + step) % length]
            if partner[other] >= 0 or area[other] == area[household]:
                continue
            if parent[other] == parent[household]:
                found = other
                break
            if second_best < 0:
                second_best = other
        if found < 0:
            found = second_best
        if found < 0:
            n_failed += 1
            continue
        partner[household], partner[found] = found, household
    return n_failed


@njit(cache=True, nogil=True)
def lowest_per_household(household, counts, n_households):
    """Return the smallest count among the members of each household."""
    lowest = np.full(n_households, np.iinfo(np.int64).max)
    for i in range(household.size):
        lowest[household[i]] = min(lowest[household[i]], counts[i])
    return lowest
