# mypy: ignore-errors
"""Coordinate descent for rounding small counts: each goes to zero or to the base."""

import numpy as np

from tacit.core.compiled import njit


@njit
def _gain(cells, step, deviation, weight):
    """Change of the weighted squares when one leaf changes by `step`."""
    total = 0.0
    for at in cells:
        total += weight[at] * step * (2.0 * deviation[at] + step)
    return total


@njit
def descend(start, member, value, original, base, deviation, weight, order, first):
    """One pass: every leaf goes where the squares fall most; returns how many changed."""
    changed = 0
    for place in range(order.shape[0]):
        j = order[place]
        cells = member[start[j] : start[j + 1]]
        best, gain = value[j], 0.0 if not first else np.inf
        for proposed in (0.0, base):
            step = proposed - value[j]
            if step == 0.0:
                continue
            change = _gain(cells, step, deviation, weight)
            if change < gain - 1e-9:
                best, gain = proposed, change
        if best != value[j]:
            for at in cells:
                deviation[at] += best - value[j]
            value[j] = best
            changed += 1
    return changed


@njit
def swap(start, member, value, base, deviation, weight, order, tries, picks):
    """Send one leaf up and another down where no single change helps; returns how many did."""
    changed = 0
    n = order.shape[0]
    for place in range(n):
        j = order[place]
        cells = member[start[j] : start[j + 1]]
        step = base - 2.0 * value[j]
        one = _gain(cells, step, deviation, weight)
        for at in cells:
            deviation[at] += step
        best, partner = -one - 1e-9, -1
        for t in range(tries):
            k = order[picks[place, t]]
            if k == j or value[k] == value[j]:
                continue
            other = member[start[k] : start[k + 1]]
            change = _gain(other, -step, deviation, weight)
            if change < best:
                best, partner = change, k
        if partner < 0:
            for at in cells:
                deviation[at] -= step
            continue
        for at in member[start[partner] : start[partner + 1]]:
            deviation[at] -= step
        value[partner] -= step
        value[j] += step
        changed += 1
    return changed
