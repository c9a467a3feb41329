# mypy: ignore-errors
"""MDAV on arrays: exact groups by the six steps of DF07.

Symbols: X the records still free, one row per attribute so that a scan is one stream of memory;
n_free how many there are; x_r the record farthest from the centroid, x_s the one farthest from
x_r. Three scans of the free records would be needed per pair of groups:

1. farthest from the centroid. Replaced by a short list of candidates: the records farthest from
   an earlier centroid. By the triangle inequality a record outside the list is at most
   ``limit + drift`` away from the centroid of now, so the best candidate is proved farthest, or
   the list is drawn up anew.
2. farthest from x_r and nearest to x_r: one scan gives both.
3. nearest to x_s: a scan that leaves a block of records as soon as the first half of the
   attributes proves all of them too far.

Ties go to the record that comes first in the file, so the groups do not depend on how the scan
is organised. Nor on the processor: squares are rounded before they are added (no fused
multiply-add), and the centroid comes from sums of whole units, which are the same in any order.
The kernel for graphics processors (`_mdav_gpu.py`) does the same arithmetic.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_BLOCK = 256
_CANDIDATES = 512
_FAST = {"nnan", "ninf", "nsz"}


@njit(cache=True, fastmath=_FAST, nogil=True)
def _block_distances(X, start, stop, target, first, last, distances):
    """Add squared differences of attributes first..last to `distances`."""
    width = stop - start
    for j in range(first, last):
        centre = target[j]
        row = X[j, start:stop]
        for i in range(width):
            difference = row[i] - centre
            distances[i] += difference * difference


@njit(cache=True, fastmath=_FAST, nogil=True)
def _smallest(distances, width):
    low = distances[0]
    for i in range(1, width):
        low = min(low, distances[i])
    return low


@njit(cache=True, fastmath=_FAST, nogil=True)
def _largest(distances, width):
    high = distances[0]
    for i in range(1, width):
        high = max(high, distances[i])
    return high


@njit(cache=True, nogil=True)
def _offer(near_distance, near_at, ids, distance, at):
    """Put a record into the sorted list of nearest ones if it belongs there."""
    last = near_distance.size - 1
    if last < 0:
        return
    worst = near_distance[last]
    if distance > worst or (distance == worst and ids[at] > ids[near_at[last]]):
        return
    slot = last
    while slot > 0 and (
        distance < near_distance[slot - 1]
        or (distance == near_distance[slot - 1] and ids[at] < ids[near_at[slot - 1]])
    ):
        near_distance[slot] = near_distance[slot - 1]
        near_at[slot] = near_at[slot - 1]
        slot -= 1
    near_distance[slot] = distance
    near_at[slot] = at


@njit(cache=True, nogil=True)
def _scan(X, ids, n_free, target, self_at, near_distance, near_at, want_farthest, distances):
    """Fill the nearest records to `target`, and return the position of the farthest."""
    n_attributes = X.shape[0]
    half = (n_attributes + 1) // 2
    for i in range(near_at.size):
        near_distance[i] = np.inf
        near_at[i] = self_at
    far, far_distance = self_at, -1.0
    n_near = near_distance.size
    for start in range(0, n_free, _BLOCK):
        stop = min(start + _BLOCK, n_free)
        width = stop - start
        for i in range(width):
            distances[i] = 0.0
        _block_distances(X, start, stop, target, 0, half, distances)
        worst = near_distance[n_near - 1] if n_near > 0 else -1.0
        if not want_farthest and _smallest(distances, width) > worst:
            continue
        _block_distances(X, start, stop, target, half, n_attributes, distances)
        if want_farthest and _largest(distances, width) >= far_distance:
            for i in range(width):
                d, at = distances[i], start + i
                if d > far_distance or (d == far_distance and ids[at] < ids[far]):
                    far, far_distance = at, d
        if n_near > 0 and _smallest(distances, width) <= worst:
            for i in range(width):
                if distances[i] <= near_distance[n_near - 1] and start + i != self_at:
                    _offer(near_distance, near_at, ids, distances[i], start + i)
    return far


@njit(cache=True, nogil=True)
def _remove(X, ids, position, n_free, at):
    """Fill the gap at `at` with the last free record."""
    last = n_free - 1
    position[ids[at]] = -1
    if at != last:
        for j in range(X.shape[0]):
            X[j, at] = X[j, last]
        ids[at] = ids[last]
        position[ids[at]] = at
    return last


@njit(cache=True, nogil=True)
def _distance(X, at, target):
    total = 0.0
    for j in range(X.shape[0]):
        difference = X[j, at] - target[j]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _limit(distances, n_free, highest, room):
    """Return a distance that at most `room` records exceed, from a histogram of 1024 bins."""
    counts = np.zeros(1024, dtype=np.int64)
    scale = 1023.0 / highest if highest > 0.0 else 0.0
    for at in range(n_free):
        counts[int(distances[at] * scale)] += 1
    above = 0
    for bin_number in range(1023, -1, -1):
        above += counts[bin_number]
        if above > room:
            # One more bin than needed stays out, so that rounding at its edge cannot matter.
            return (bin_number + 1) / 1023.0 * highest
    return -1.0


@njit(cache=True, nogil=True)
def _draw_up(X, ids, n_free, centroid, candidates, state, distances):
    """List the records farthest from `centroid` and return the position of the farthest."""
    best = 0
    for start in range(0, n_free, _BLOCK):
        stop = min(start + _BLOCK, n_free)
        block = distances[start:stop]
        for i in range(block.size):
            block[i] = 0.0
        _block_distances(X, start, stop, centroid, 0, X.shape[0], block)
    for at in range(n_free):
        d = distances[at]
        if d > distances[best] or (d == distances[best] and ids[at] < ids[best]):
            best = at
    limit = _limit(distances, n_free, distances[best], candidates.size)
    count = 0
    for at in range(n_free):
        if distances[at] > limit and count < candidates.size:
            candidates[count] = ids[at]
            count += 1
    state[0], state[1] = count, (np.sqrt(limit) if limit >= 0.0 else -1.0)
    return best


@njit(cache=True, nogil=True)
def _farthest_candidate(X, position, centroid, candidates, count):
    """Return the farthest free candidate, its distance, and how many candidates are left."""
    best, best_distance, kept = -1, -1.0, 0
    for c in range(count):
        record = candidates[c]
        at = position[record]
        if at < 0:
            continue
        candidates[kept] = record
        kept += 1
        d = _distance(X, at, centroid)
        if d > best_distance or (d == best_distance and record < best):
            best, best_distance = record, d
    return best, best_distance, kept


@njit(cache=True, nogil=True)
def _farthest_from_centroid(X, ids, position, n_free, centroid, reference, candidates, state, work):
    """Return the position of the free record farthest from the centroid.

    `state` holds the number of candidates and the bound on all other records.
    """
    count = int(state[0])
    best, best_distance, count = _farthest_candidate(X, position, centroid, candidates, count)
    drift = 0.0
    for j in range(centroid.size):
        drift += (centroid[j] - reference[j]) ** 2
    # The small allowance covers rounding in the two sides of the comparison.
    bound = (state[1] + np.sqrt(drift)) * (1.0 + 1e-9)
    if best < 0 or (state[1] >= 0.0 and np.sqrt(best_distance) <= bound):
        for j in range(centroid.size):
            reference[j] = centroid[j]
        return _draw_up(X, ids, n_free, centroid, candidates, state, work)
    state[0] = count
    return position[best]


@njit(cache=True, nogil=True)
def _close_group(X, ids, position, n_free, seed_at, near_at, group, groups, total, scale):
    """Give the seed and its nearest records a group number and take them out."""
    members = np.empty(near_at.size + 1, dtype=np.int64)
    members[0] = ids[seed_at]
    for i in range(near_at.size):
        members[i + 1] = ids[near_at[i]]
    for record in members:
        at = position[record]
        groups[record] = group
        for j in range(X.shape[0]):
            total[j] -= np.int64(np.rint(X[j, at] * scale[j]))
        n_free = _remove(X, ids, position, n_free, at)
    return n_free


@njit(cache=True, nogil=True)
def _mean(total, scale, n_free, centroid):
    """Put the means of the free records' attributes into `centroid`."""
    for j in range(total.size):
        centroid[j] = np.float64(total[j]) / scale[j] / np.float64(n_free)


@njit(cache=True, nogil=True)
def _read_off(X, at, record):
    """Copy one free record out of the array."""
    for j in range(X.shape[0]):
        record[j] = X[j, at]


@njit(cache=True, nogil=True)
def form_pairs(
    X, ids, position, groups, total, scale, reference, candidates, state, counters, k, steps
):
    """Carry out steps 1 to 4 of DF07 at most `steps` times.

    Counters: free records, groups so far. Returns whether the loop of step 4 has ended.
    """
    n_free, group = counters[0], counters[1]
    near_distance = np.empty(k - 1)
    near_at = np.empty(k - 1, dtype=np.int64)
    block = np.empty(_BLOCK)
    work = np.empty(n_free)
    x_r, x_s, centroid = np.empty(total.size), np.empty(total.size), np.empty(total.size)
    for _ in range(steps):
        if n_free < 3 * k:
            break
        _mean(total, scale, n_free, centroid)
        at_r = _farthest_from_centroid(
            X, ids, position, n_free, centroid, reference, candidates, state, work
        )
        _read_off(X, at_r, x_r)
        at_s = _scan(X, ids, n_free, x_r, at_r, near_distance, near_at, True, block)
        record_s = ids[at_s]
        _read_off(X, at_s, x_s)
        n_free = _close_group(X, ids, position, n_free, at_r, near_at, group, groups, total, scale)
        group += 1
        at_s = position[record_s]
        if at_s < 0:  # all free records lie equally far from x_r, and x_s went into its group
            at_s = _scan(X, ids, n_free, x_r, n_free, near_distance, near_at, True, block)
            _read_off(X, at_s, x_s)
        _scan(X, ids, n_free, x_s, at_s, near_distance, near_at, False, block)
        n_free = _close_group(X, ids, position, n_free, at_s, near_at, group, groups, total, scale)
        group += 1
    counters[0], counters[1] = n_free, group
    return n_free < 3 * k


@njit(cache=True, nogil=True)
def close(X, ids, position, groups, total, scale, counters, k):
    """Carry out steps 5 and 6 of DF07 on what the pairs have left over."""
    n_free, group = counters[0], counters[1]
    if n_free >= 2 * k:
        centroid, x_r = np.empty(X.shape[0]), np.empty(X.shape[0])
        _mean(total, scale, n_free, centroid)
        at_r = 0
        for at in range(1, n_free):
            d, best = _distance(X, at, centroid), _distance(X, at_r, centroid)
            if d > best or (d == best and ids[at] < ids[at_r]):
                at_r = at
        near_distance = np.empty(k - 1)
        near_at = np.empty(k - 1, dtype=np.int64)
        _read_off(X, at_r, x_r)
        _scan(X, ids, n_free, x_r, at_r, near_distance, near_at, False, np.empty(_BLOCK))
        n_free = _close_group(X, ids, position, n_free, at_r, near_at, group, groups, total, scale)
        group += 1
    for at in range(n_free):
        groups[ids[at]] = group
    return group + 1 if n_free > 0 else group
