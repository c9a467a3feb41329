# mypy: ignore-errors
"""Draws from the leaves of a tree.

Symbols: ``values`` of the target leaf by leaf, those of a leaf from ``first`` to ``last``.
"""

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True)
def leaf_of(codes, is_nominal, predictor, cut, child, offset, sets):
    """Return the leaf that each record falls into."""
    n = codes.shape[1]
    leaf = np.zeros(n, dtype=np.int32)
    for i in range(n):
        node = 0
        while predictor[node] >= 0:
            f = predictor[node]
            code = codes[f, i]
            if is_nominal[f]:
                word = sets[offset[node] + code // 64]
                goes = (word >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
            else:
                goes = code <= cut[node]
            node = child[node] if goes else child[node] + 1
        leaf[i] = node
    return leaf


@njit(cache=True)
def sort_leaves(predictor, first, last, order, y):
    """Return the values of the records leaf by leaf, rising inside each leaf."""
    values = np.empty(len(order))
    for i in range(len(order)):
        values[i] = y[order[i]]
    for node in range(len(predictor)):
        if predictor[node] < 0:
            values[first[node] : last[node]].sort()
    return values


@njit(cache=True)
def _neighbour(values, at, a, b, upwards):
    """Return another value of the leaf, next above or below; if there is none, of the next leaf.

    A bootstrap sample may fill a leaf with copies of one record, whose value must not get out.
    """
    n = len(values)
    for turn in range(2):
        first, last = (a, b) if turn == 0 else (0, n)
        for side in range(2):
            step = 1 if upwards == (side == 0) else -1
            other = at + step
            while first <= other < last:
                if values[other] != values[at]:
                    return values[other]
                other += step
    return values[at]


@njit(cache=True)
def draw_numbers(leaf, first, last, values, shared, low, high, uniform, step, between):
    """Draw a value from each record's leaf, inside its bounds.

    A value that is not `shared` by many moves a random part of the way to a neighbour in its leaf.
    """
    n = len(leaf)
    drawn = np.empty(n)
    for i in range(n):
        a, b = first[leaf[i]], last[leaf[i]]
        if low[i] > -np.inf:
            a = a + np.searchsorted(values[a:b], low[i], side="left")
        if high[i] < np.inf:
            b = a + np.searchsorted(values[a:b], high[i], side="right")
        if b <= a:  # nobody in the leaf is inside the bounds: the nearest one moves to the border
            middle = min(max(a, first[leaf[i]]), last[leaf[i]] - 1)
            drawn[i] = min(max(values[middle], low[i]), high[i])
            continue
        at = a + int(uniform[i] * (b - a))
        value = values[at]
        if between and not shared[at]:
            value += abs(step[i]) * (_neighbour(values, at, a, b, step[i] > 0) - value)
        drawn[i] = min(max(value, low[i]), high[i])
    return drawn
