# mypy: ignore-errors
"""Units that are in several cells: added up over each cell, counted, ranked."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit
from tacit.tables.contributions import WEIGHT_SLACK


@njit(cache=True, nogil=True)
def _ranked(cell, size, unit, weight, request, largest):
    """Put a contribution among the largest of a cell; of equal ones the lower unit comes first."""
    sizes, units, weights, requests = largest
    place = sizes.shape[1]
    while place > 0:
        other, its = abs(sizes[cell, place - 1]), units[cell, place - 1]
        if its >= 0 and (other > abs(size) or (other == abs(size) and its < unit)):
            break
        place -= 1
        if place + 1 < sizes.shape[1]:
            sizes[cell, place + 1], units[cell, place + 1] = sizes[cell, place], its
            weights[cell, place + 1] = weights[cell, place]
            requests[cell, place + 1] = requests[cell, place]
    if place < sizes.shape[1]:
        sizes[cell, place], units[cell, place] = size, unit
        weights[cell, place], requests[cell, place] = weight, request


@njit(cache=True, nogil=True)
def add_units(cell_of, start, unit, leaf, contributions, numbers, largest):
    """Add each unit's contributions to the cells that leaves are part of; arrays change in place.

    Parameters
    ----------
    cell_of
        The cell of each leaf, -1 for none.
    start, unit, leaf
        Where the contributions of each unit begin, its number, the leaf of each contribution.
    contributions
        Unweighted, weighted, largest weight and request of each.
    numbers
        How many units each cell has, and what they contribute in absolute value.
    largest
        The largest contributions to each cell with their units, weights and requests.
    """
    sizes, amounts, heaviest, requests = contributions
    n_units, absolute = numbers
    n_cells = len(n_units)
    last = np.full(n_cells, -1, np.int64)
    size, amount, weight = np.empty(n_cells), np.empty(n_cells), np.empty(n_cells)
    request = np.empty(n_cells, np.int8)
    met = np.empty(n_cells, np.int64)
    for u in range(len(unit)):
        n_met = 0
        for e in range(start[u], start[u + 1]):
            c = cell_of[leaf[e]]
            if c < 0:
                continue
            if last[c] != u:
                last[c], met[n_met] = u, c
                n_met += 1
                size[c], amount[c], weight[c], request[c] = 0.0, 0.0, 0.0, 0
            size[c] += sizes[e]
            amount[c] += amounts[e]
            weight[c] = max(weight[c], heaviest[e])
            request[c] = max(request[c], requests[e])
        for k in range(n_met):
            c = met[k]
            n_units[c] += 1
            absolute[c] += abs(amount[c])
            # As `tacit.tables.contributions.weighed`.
            mean = amount[c] / size[c] if size[c] != 0 else 0.0
            if 0 < mean <= weight[c] * (1 + WEIGHT_SLACK):
                _ranked(c, size[c], unit[u], mean, request[c], largest)
            else:
                _ranked(c, amount[c] / weight[c], unit[u], weight[c], request[c], largest)
