# mypy: ignore-errors
"""Coordinate descent on the counts of an elementary table, for SAFE."""

import numpy as np

from tacit.core.compiled import njit


@njit
def _cost_of_step(column, step, deviation, cost, half):
    """Change of the objective when one elementary count changes by `step`."""
    total = 0.0
    for t in range(column.shape[0]):
        at = deviation[column[t]]
        total += cost[t, _within(at + step, half)] - cost[t, _within(at, half)]
    return total


@njit
def _within(value, half):
    """Place of a deviation in the table of costs; far ones share the last place."""
    if value < -half:
        return 0
    if value > half:
        return 2 * half
    return value + half


@njit
def _apply(column, step, deviation):
    for t in range(column.shape[0]):
        deviation[column[t]] += step


@njit
def _best_count(original, current, reach, column, deviation, cost, half):
    """Return the allowed count that lowers the objective most, and by how much."""
    best, gain = current, 0.0
    if current == 1 or current == 2:
        gain = np.inf
    for proposed in (0, 3, current - 1, current + 1, original, original - 1, original + 1):
        if proposed < 0 or proposed == 1 or proposed == 2 or proposed == current:
            continue
        if abs(proposed - original) > reach and not (original <= 2 and proposed == 3):
            continue
        change = _cost_of_step(column, proposed - current, deviation, cost, half)
        if change < gain - 1e-9:
            best, gain = proposed, change
    return best, gain


@njit
def sweep(original, counts, columns, deviation, cost, half, reach, order):
    """One pass over some elementary cells, each set to its best count; returns how many changed."""
    n_changed = 0
    for place in range(order.shape[0]):
        j = order[place]
        best, _ = _best_count(original[j], counts[j], reach, columns[j], deviation, cost, half)
        if best != counts[j]:
            _apply(columns[j], best - counts[j], deviation)
            counts[j] = best
            n_changed += 1
    return n_changed


@njit
def touching(columns, deviation, bounds):
    """Elementary cells that lie in a controlled cell beyond its bound."""
    found = np.empty(columns.shape[0], np.int64)
    n_found = 0
    for j in range(columns.shape[0]):
        for t in range(columns.shape[1]):
            if abs(deviation[columns[j, t]]) > bounds[t]:
                found[n_found] = j
                n_found += 1
                break
    return found[:n_found]


@njit
def pair_sweep(
    original, counts, columns, deviation, cost, half, reach, order, group, start, member, most
):
    """Change two neighbouring elementary counts at once where no single change helps.

    Neighbours agree in all variables but one; ``group[j, v]`` is the group of cell j for variable
    v, and ``member[v, start[v, g] : start[v, g + 1]]`` its cells.
    """
    n_changed = 0
    for place in range(order.shape[0]):
        j = order[place]
        now = counts[j]
        best_gain, best_j, best_k, best_other = -1e-9, now, -1, 0
        for proposed in (0, 3, now - 1, now + 1, original[j]):
            if proposed < 0 or proposed == 1 or proposed == 2 or proposed == now:
                continue
            if abs(proposed - original[j]) > reach and not (original[j] <= 2 and proposed == 3):
                continue
            first = _cost_of_step(columns[j], proposed - now, deviation, cost, half)
            _apply(columns[j], proposed - now, deviation)
            if first < best_gain:
                best_gain, best_j, best_k = first, proposed, -1
            for v in range(group.shape[1]):
                g = group[j, v]
                low, high = start[v, g], start[v, g + 1]
                for at in range(low, min(high, low + most)):
                    k = member[v, at]
                    if k == j:
                        continue
                    other, gain = _best_count(
                        original[k], counts[k], reach, columns[k], deviation, cost, half
                    )
                    if other != counts[k] and first + gain < best_gain:
                        best_gain, best_j, best_k, best_other = first + gain, proposed, k, other
            _apply(columns[j], now - proposed, deviation)
        if best_j != now:
            _apply(columns[j], best_j - now, deviation)
            counts[j] = best_j
            n_changed += 1
            if best_k >= 0:
                _apply(columns[best_k], best_other - counts[best_k], deviation)
                counts[best_k] = best_other
    return n_changed
