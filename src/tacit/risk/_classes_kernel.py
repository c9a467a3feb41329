# mypy: ignore-errors
"""What the classes of a release say about a confidential value, class by class.

Symbols: a class has n records and counts c_v of the values v = 0..m-1; p = c/n is its distribution,
q that of the whole file. Cells (class, value, count) come sorted by class, from `starts`.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def diversity(starts, counts):
    """Return the number of values of each class, exp of its entropy, and its largest share.

    All three are 0 for a class without a value.
    """
    n_classes = starts.size - 1
    distinct, spread, largest = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    for g in range(n_classes):
        if starts[g] == starts[g + 1]:
            continue
        total, top, entropy = 0.0, 0.0, 0.0
        for c in range(starts[g], starts[g + 1]):
            total += counts[c]
            top = max(top, counts[c])
        for c in range(starts[g], starts[g + 1]):
            p = counts[c] / total
            entropy -= p * np.log(p)
        distinct[g], spread[g], largest[g] = starts[g + 1] - starts[g], np.exp(entropy), top / total
    return distinct, spread, largest


@njit(cache=True, nogil=True)
def recursive_level(starts, counts, c_limit):
    """Return the largest l for which each class is recursively (c, l)-diverse.

    With counts r_1 >= r_2 >= ... that is r_1 < c (r_l + r_{l+1} + ... + r_m).
    """
    n_classes = starts.size - 1
    level = np.zeros(n_classes)
    for g in range(n_classes):
        ordered = np.sort(counts[starts[g] : starts[g + 1]])[::-1]
        rest = 0.0
        for rank in range(ordered.size, 0, -1):
            rest += ordered[rank - 1]
            if ordered[0] < c_limit * rest:
                level[g] = rank
                break
    return level


@njit(cache=True, nogil=True)
def equal_distance(starts, values, counts, q):
    """Earth mover's distance to the file where all values are equally far apart."""
    n_classes = starts.size - 1
    distance = np.empty(n_classes)
    for g in range(n_classes):
        total, surplus = 0.0, 0.0
        for c in range(starts[g], starts[g + 1]):
            total += counts[c]
        for c in range(starts[g], starts[g + 1]):
            surplus += max(0.0, counts[c] / total - q[values[c]])
        distance[g] = surplus
    return distance


@njit(cache=True, nogil=True)
def ordered_distance(starts, values, counts, q):
    """Earth mover's distance where values are ordered, neighbours 1/(m-1) apart."""
    n_classes, m = starts.size - 1, q.size
    distance = np.zeros(n_classes)
    if m < 2:
        return distance
    for g in range(n_classes):
        total = 0.0
        for c in range(starts[g], starts[g + 1]):
            total += counts[c]
        at, moved, work = starts[g], 0.0, 0.0
        for v in range(m):
            p = 0.0
            if at < starts[g + 1] and values[at] == v:
                p = counts[at] / total
                at += 1
            moved += p - q[v]
            work += abs(moved)
        distance[g] = work / (m - 1)
    return distance


@njit(cache=True, nogil=True)
def tree_distance(starts, values, counts, q, parents, level_starts, height):
    """Earth mover's distance over a tree: moving across a node costs its height over the tree's.

    Nodes are numbered level by level from the leaves, `level_starts` marking the levels and
    `parents` the node above. At each node the smaller of the surpluses and deficits of its children
    is moved there (li2007, section 4.3).
    """
    n_classes, n_nodes = starts.size - 1, parents.size
    distance = np.empty(n_classes)
    extra = np.empty(n_nodes)
    over, under = np.empty(n_nodes), np.empty(n_nodes)
    for g in range(n_classes):
        total = 0.0
        for c in range(starts[g], starts[g + 1]):
            total += counts[c]
        for node in range(n_nodes):
            extra[node], over[node], under[node] = 0.0, 0.0, 0.0
        for v in range(q.size):
            extra[v] = -q[v]
        for c in range(starts[g], starts[g + 1]):
            extra[values[c]] += counts[c] / total
        cost = 0.0
        for level in range(level_starts.size - 1):
            for node in range(level_starts[level], level_starts[level + 1]):
                if level > 0:
                    cost += level / height * min(over[node], under[node])
                above = parents[node]
                if above >= 0:
                    extra[above] += extra[node]
                    if extra[node] > 0:
                        over[above] += extra[node]
                    else:
                        under[above] -= extra[node]
        distance[g] = cost
    return distance


@njit(cache=True, nogil=True)
def largest_gain(starts, values, counts, q):
    """Return the largest (p - q)/q and the largest |log(p/q)| of each class.

    The second is infinite where a value of the file does not occur in the class.
    """
    n_classes = starts.size - 1
    gain, ratio = np.zeros(n_classes), np.zeros(n_classes)
    for g in range(n_classes):
        total = 0.0
        for c in range(starts[g], starts[g + 1]):
            total += counts[c]
        for c in range(starts[g], starts[g + 1]):
            p, share = counts[c] / total, q[values[c]]
            gain[g] = max(gain[g], (p - share) / share)
            ratio[g] = max(ratio[g], abs(np.log(p / share)))
        if starts[g + 1] - starts[g] < q.size:
            ratio[g] = np.inf
    return gain, ratio
