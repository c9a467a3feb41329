# mypy: ignore-errors
"""Local search for whole numbers at the finest cells whose sums all stay between bounds."""

import numpy as np

from tacit.core.compiled import njit


@njit
def _next(state):
    """Return the next number of a small generator; ``state[0]`` is its seed."""
    x = state[0]
    x ^= (x << np.uint64(13)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x ^= x >> np.uint64(7)
    x ^= (x << np.uint64(17)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    state[0] = x
    return x


@njit
def _below(state, n):
    return np.int64(_next(state) % np.uint64(n))


@njit
def _outside(unit, low, high):
    """Return by how much a sum misses its bounds."""
    return max(low - unit, unit - high, 0.0)


@njit
def _cost(leaf, step, start, cells, units, low, high, target, weight, pull):
    """Change of the objective when one leaf changes by `step`."""
    total = 0.0
    for at in range(start[leaf], start[leaf + 1]):
        c = cells[at]
        u = units[c]
        total += weight[c] * (_outside(u + step, low[c], high[c]) - _outside(u, low[c], high[c]))
        total += pull * (abs(u + step - target[c]) - abs(u - target[c]))
    return total


@njit
def _move(leaf, step, start, cells, units, low, high, missed, place, n_missed):
    """Change a leaf and keep the list of missed cells; return how many there are."""
    for at in range(start[leaf], start[leaf + 1]):
        c = cells[at]
        units[c] += step
        if _outside(units[c], low[c], high[c]) > 0:
            if place[c] < 0:
                place[c] = n_missed
                missed[n_missed] = c
                n_missed += 1
        elif place[c] >= 0:
            n_missed -= 1
            last = missed[n_missed]
            missed[place[c]] = last
            place[last] = place[c]
            place[c] = -1
    return n_missed


@njit
def mend(
    units, leaf_cell, start, cells, first, members, low, high, target, weight,
    missed, place, n_missed, changed, clock, steps, most, pull, state,
):  # fmt: skip
    """Change leaves of missed sums until none is missed or the steps are spent.

    A missed sum is drawn, and that leaf of it is changed which costs least under the present
    weights, one just changed left aside. Where all cost something, missed sums gain weight, so
    that the search does not stay where it is. Returns how many sums are missed.
    """
    for _ in range(steps):
        if n_missed == 0:
            return 0
        clock[0] += 1
        c = missed[_below(state, n_missed)]
        step = 1 if units[c] < low[c] else -1
        size = first[c + 1] - first[c]
        begin = _below(state, size)
        best, gain = -1, np.inf
        for m in range(min(size, most)):
            j = members[first[c] + (begin + m) % size]
            own = leaf_cell[j]
            proposed = units[own] + step
            if proposed < low[own] or proposed > high[own] or changed[j] > clock[0]:
                continue
            cost = _cost(j, step, start, cells, units, low, high, target, weight, pull)
            if cost < gain:
                best, gain = j, cost
        if gain >= 0:
            weight[c] += 1.0
        if best >= 0:
            n_missed = _move(best, step, start, cells, units, low, high, missed, place, n_missed)
            changed[best] = clock[0] + 3 + _below(state, 10)
    return n_missed


@njit
def _shift(leaf, step, start, cells, units):
    for at in range(start[leaf], start[leaf + 1]):
        units[cells[at]] += step


@njit
def anneal(
    units, leaf_cell, start, cells, first, members, low, high, target, weight, heat, tries, state
):
    """Change one leaf, or two of a common sum in opposite senses, and keep what gets nearer.

    What gets further away is kept with the probability that the heat allows. Returns by how much
    the objective has fallen.
    """
    n = leaf_cell.shape[0]
    fallen = 0.0
    for _ in range(tries):
        j = _below(state, n)
        step = 1 if _next(state) & np.uint64(64) else -1
        own = leaf_cell[j]
        proposed = units[own] + step
        if proposed < low[own] or proposed > high[own]:
            step = -step
            proposed = units[own] + step
            if proposed < low[own] or proposed > high[own]:
                continue
        change = _cost(j, step, start, cells, units, low, high, target, weight, 1.0)
        # Uniform on (0, 1]; the logarithm turns the usual rule into one limit.
        limit = -heat * np.log((_below(state, 1 << 30) + 1.0) / (1 << 30))
        if change <= limit:
            _shift(j, step, start, cells, units)
            fallen -= change
            continue
        c = cells[start[j] + _below(state, start[j + 1] - start[j])]
        k = members[first[c] + _below(state, first[c + 1] - first[c])]
        other = leaf_cell[k]
        proposed = units[other] - step
        if k == j or proposed < low[other] or proposed > high[other]:
            continue
        _shift(j, step, start, cells, units)
        change += _cost(k, -step, start, cells, units, low, high, target, weight, 1.0)
        if change <= limit:
            _shift(k, -step, start, cells, units)
            fallen -= change
        else:
            _shift(j, -step, start, cells, units)
    return fallen
