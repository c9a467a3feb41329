# mypy: ignore-errors
"""Better groups by moves, swaps, dissolutions and splits of groups that lie near each other.

Symbols: X records by attributes; a group has a list of members (at most 2k - 1 between steps), a
sum S of its members and so a centroid c = S / n. All steps lower the within-groups sum of squares
SSE and keep every group at k members or more:

move   x from g (n_g > k) to h:   gain = n_g/(n_g-1) |x-c_g|^2 - n_h/(n_h+1) |x-c_h|^2
swap   x in g with y in h:        gain = 2 (c_g-c_h).(y-x) + |y-x|^2 (1/n_g + 1/n_h)
dissolve a group: its members move to the nearest groups, if that lowers SSE in total
split  a group that has grown to 2k members along its longest diameter

The steps look only at the groups of one block, each at its nearest few, so that a round over all
blocks costs about as much as reading the data a few hundred times; the next round uses other
blocks, so that borders move.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_NEIGHBOURS = 14
_FAST = {"nnan", "ninf", "nsz", "contract", "reassoc", "arcp"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _squared(X, i, S, g, n):
    """Squared distance of record i to the centroid of group g with n members."""
    total = 0.0
    for j in range(X.shape[1]):
        d = X[i, j] - S[g, j] / n
        total += d * d
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _swap_gain(X, i, i2, S, g, h, n_g, n_h):
    cross, length = 0.0, 0.0
    for j in range(X.shape[1]):
        d = X[i2, j] - X[i, j]
        cross += (S[g, j] / n_g - S[h, j] / n_h) * d
        length += d * d
    return 2.0 * cross + length * (1.0 / n_g + 1.0 / n_h)


@njit(cache=True, nogil=True)
def _shift(X, S, i, g, sign):
    for j in range(X.shape[1]):
        S[g, j] += sign * X[i, j]


@njit(cache=True, nogil=True)
def _move(X, S, members, size, group, i, h):
    """Take record i out of its group and put it into h."""
    g = group[i]
    for slot in range(size[g]):
        if members[g, slot] == i:
            members[g, slot] = members[g, size[g] - 1]
            break
    size[g] -= 1
    _shift(X, S, i, g, -1.0)
    members[h, size[h]] = i
    size[h] += 1
    _shift(X, S, i, h, 1.0)
    group[i] = h


@njit(cache=True, nogil=True, fastmath=_FAST)
def _neighbours(S, size, block, near, distances):
    """Fill `near` with the positions in `block` of the groups nearest to each group."""
    n_block, n_near = near.shape
    for a in range(n_block):
        filled = 0
        g = block[a]
        for b in range(n_block):
            h = block[b]
            if a == b or size[h] == 0 or size[g] == 0:
                continue
            d = 0.0
            for j in range(S.shape[1]):
                diff = S[g, j] / size[g] - S[h, j] / size[h]
                d += diff * diff
            if filled == n_near and d >= distances[n_near - 1]:
                continue
            slot = filled if filled < n_near else n_near - 1
            while slot > 0 and d < distances[slot - 1]:
                distances[slot] = distances[slot - 1]
                near[a, slot] = near[a, slot - 1]
                slot -= 1
            distances[slot] = d
            near[a, slot] = h
            filled = min(filled + 1, n_near)
        for slot in range(filled, n_near):
            near[a, slot] = -1


@njit(cache=True, nogil=True)
def _best_step(X, S, members, size, i, g, near, k):
    """Return the best gain for record i, the target group, and the partner (-1 for a move)."""
    best, target, partner = 0.0, -1, -1
    n_g = size[g]
    own = _squared(X, i, S, g, n_g)
    for slot in range(near.size):
        h = near[slot]
        if h < 0:
            break
        n_h = size[h]
        if n_h == 0:
            continue
        other = _squared(X, i, S, h, n_h)
        if n_g > k:
            gain = n_g / (n_g - 1.0) * own - n_h / (n_h + 1.0) * other
            if gain > best:
                best, target, partner = gain, h, -1
        for m in range(n_h):
            gain = _swap_gain(X, i, members[h, m], S, g, h, n_g, n_h)
            if gain > best:
                best, target, partner = gain, h, members[h, m]
    return best, target, partner


@njit(cache=True, nogil=True)
def _split(X, S, members, size, group, g, free, k):
    """Split group g of at least 2k members: its two farthest members lead one half each."""
    n_g = size[g]
    first, second, widest = members[g, 0], members[g, 0], -1.0
    for a in range(n_g):
        for b in range(a):
            d = 0.0
            for j in range(X.shape[1]):
                diff = X[members[g, a], j] - X[members[g, b], j]
                d += diff * diff
            if d > widest:
                first, second, widest = members[g, a], members[g, b], d
    lean = np.empty(n_g)
    for a in range(n_g):
        lean[a] = 0.0
        for j in range(X.shape[1]):
            lean[a] += X[members[g, a], j] * (X[second, j] - X[first, j])
    order = np.argsort(lean)
    to_move = members[g, :n_g].copy()
    cut = _best_cut(X, to_move, order, k)
    for a in range(cut, n_g):
        _move(X, S, members, size, group, to_move[order[a]], free)


@njit(cache=True, nogil=True)
def _best_cut(X, records, order, k):
    """Return where to cut an ordered list so that both parts have k and SSE is smallest."""
    n = records.size
    best, best_value = k, -1.0
    for cut in range(k, n - k + 1):
        value = 0.0
        for j in range(X.shape[1]):
            left, right = 0.0, 0.0
            for a in range(n):
                if a < cut:
                    left += X[records[order[a]], j]
                else:
                    right += X[records[order[a]], j]
            value += left * left / cut + right * right / (n - cut)
        if value > best_value:
            best, best_value = cut, value
    return best


@njit(cache=True, nogil=True)
def _own_sse(X, S, members, size, g):
    total = 0.0
    for m in range(size[g]):
        total += _squared(X, members[g, m], S, g, size[g])
    return total


@njit(cache=True, nogil=True)
def _try_dissolve(X, S, members, size, group, g, near, capacity):
    """Send the members of g to their nearest groups if SSE falls; return whether it did."""
    n_g = size[g]
    targets = np.full(n_g, -1)
    cost = -_own_sse(X, S, members, size, g)
    for m in range(n_g):
        cheapest = np.inf
        for slot in range(near.size):
            h = near[slot]
            if h < 0:
                break
            taken = 0
            for earlier in range(m):
                if targets[earlier] == h:
                    taken += 1
            # One newcomer per group keeps the cost of each insertion exact.
            if size[h] == 0 or taken > 0 or size[h] + 1 >= capacity:
                continue
            insertion = size[h] / (size[h] + 1.0) * _squared(X, members[g, m], S, h, size[h])
            if insertion < cheapest:
                cheapest, targets[m] = insertion, h
        if targets[m] < 0:
            return False
        cost += cheapest
        if cost > 0.0:
            return False
    if cost > -1e-12:
        return False
    records = members[g, :n_g].copy()
    for m in range(n_g):
        _move(X, S, members, size, group, records[m], targets[m])
    return True


@njit(cache=True, nogil=True)
def refine_block(X, S, members, size, group, block, k, sweeps):
    """Improve the groups of one block until no step gains, at most `sweeps` times over."""
    n_near = min(_NEIGHBOURS, block.size - 1)
    if n_near < 1:
        return
    near = np.empty((block.size, n_near), dtype=np.int64)
    distances = np.empty(n_near)
    capacity = members.shape[1]
    empty = np.empty(block.size, dtype=np.int64)
    n_empty = 0
    for a in range(block.size):
        if size[block[a]] == 0:
            empty[n_empty] = block[a]
            n_empty += 1
    for _ in range(sweeps):
        _neighbours(S, size, block, near, distances)
        improved = False
        for a in range(block.size):
            g = block[a]
            m = 0
            while m < size[g]:
                i = members[g, m]
                gain, h, partner = _best_step(X, S, members, size, i, g, near[a], k)
                if h >= 0 and gain > 1e-10:
                    improved = True
                    _move(X, S, members, size, group, i, h)
                    if partner >= 0:
                        _move(X, S, members, size, group, partner, g)
                    elif size[h] >= 2 * k and n_empty > 0:
                        n_empty -= 1
                        _split(X, S, members, size, group, h, empty[n_empty], k)
                    elif size[h] >= capacity:
                        _move(X, S, members, size, group, i, g)
                m += 1
            if size[g] == k and _try_dissolve(X, S, members, size, group, g, near[a], capacity):
                improved = True
                empty[n_empty] = g
                n_empty += 1
        n_empty = split_large(X, S, members, size, group, block, empty, n_empty, k)
        if not improved:
            break


@njit(cache=True, nogil=True)
def split_large(X, S, members, size, group, block, empty, n_empty, k):
    """Split each group of the block that has 2k members or more, while numbers are left."""
    for a in range(block.size):
        g = block[a]
        if size[g] >= 2 * k and n_empty > 0:
            n_empty -= 1
            _split(X, S, members, size, group, g, empty[n_empty], k)
    return n_empty
