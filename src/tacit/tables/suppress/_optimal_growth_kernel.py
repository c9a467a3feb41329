# mypy: ignore-errors
"""Cheapest movements in small tables, by a dual simplex that starts from the bare relations.

A cell moves by one unit such that the relations hold and each other cell stays within its room; a
cell that moves costs its price times how far. At first no other cell moves and the relations of the
moved cell are open; each step closes one of them. Few steps are needed and the relations are
sparse, so that an answer takes less time than it takes to hand the question to a solver.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit
from tacit.tables.suppress._optimal_kernel import DUST, FLAT, HAIR

OPEN = 1e-9
"""Distance from a relation or a limit above which it is not kept."""
EVEN = 1e-10
"""Reduced costs this near are ties: the largest entry is taken."""
SUPPORT = 1e-7
"""Share of the asked change below which a cell counts as not moving."""


@njit(cache=True, nogil=True)
def _leaving(basis, slope, level, up, down):
    """Return the row furthest from its limits, and the limit; -1 if all are kept."""
    worst, row, limit = OPEN, -1, 0.0
    for i in range(len(basis)):
        b = basis[i]
        low = -down[b] if b >= 0 and slope[i] < 0 else 0.0
        high = up[b] if b >= 0 and slope[i] > 0 else 0.0
        if low - level[i] > worst:
            worst, row, limit = low - level[i], i, low
        elif level[i] - high > worst:
            worst, row, limit = level[i] - high, i, high
    return row, limit


@njit(cache=True, nogil=True)
def _slack(way, x, price, dual, up, down):
    """Return what it costs, per unit, to move a cell at rest further one way; -1 if it cannot."""
    if way > 0:
        if x < 0.0:
            return max(dual - price, 0.0)
        return max(price + dual, 0.0) if x == 0.0 and up > HAIR else -1.0
    if x > 0.0:
        return max(-price - dual, 0.0)
    return max(price - dual, 0.0) if x == 0.0 and down > HAIR else -1.0


@njit(cache=True, nogil=True)
def _entering(line, rises, target, is_basic, x, price, dual, up, down):
    """Return the cell that closes a row at least cost, and that cost."""
    most = np.inf
    for j in range(len(line)):
        if abs(line[j]) > FLAT and not is_basic[j] and j != target:
            way = -1.0 if (line[j] > 0) == rises else 1.0
            slack = _slack(way, x[j], price[j], dual[j], up[j], down[j])
            if slack >= 0.0:
                most = min(most, (slack + EVEN) / abs(line[j]))
    column, cost, size = -1, np.inf, 0.0
    if most == np.inf:
        return column, cost
    for j in range(len(line)):
        if abs(line[j]) > max(size, FLAT) and not is_basic[j] and j != target:
            way = -1.0 if (line[j] > 0) == rises else 1.0
            slack = _slack(way, x[j], price[j], dual[j], up[j], down[j])
            if slack >= 0.0 and slack / abs(line[j]) <= most:
                column, cost, size = j, slack / abs(line[j]), abs(line[j])
    return column, cost


@njit(cache=True, nogil=True)
def _pivot(tableau, row, column, is_changed, filled):
    """Let a column enter the basis of a row; note which rows change. Return what the row holds."""
    factor, n_filled = 1.0 / tableau[row, column], 0
    line = tableau[row]
    is_changed[row] = True
    for j in range(len(line)):
        if line[j] != 0.0:
            line[j] = line[j] * factor if abs(line[j]) > DUST else 0.0
            filled[n_filled] = j
            n_filled += line[j] != 0.0
    line[column] = 1.0
    for i in range(tableau.shape[0]):
        weight = tableau[i, column]
        if i == row or weight == 0.0:
            continue
        is_changed[i] = True
        other = tableau[i]
        for k in range(n_filled):
            other[filled[k]] -= weight * line[filled[k]]
        other[column] = 0.0
    return n_filled


@njit(cache=True, nogil=True)
def _cheapest(tableau, is_changed, price, up, down, target, sign, x):
    """Move the target by one unit at least cost; return the steps, -1 if it cannot, -2 if lost.

    The changes are left in `x`. Rows of the tableau that change are noted.
    """
    n_rows, n = tableau.shape
    basis, slope = np.full(n_rows, -1), np.zeros(n_rows)
    level, dual = np.empty(n_rows), np.zeros(n)
    is_basic, filled = np.zeros(n, np.bool_), np.empty(n, np.int64)
    x[:] = 0.0
    x[target] = sign
    for i in range(n_rows):
        level[i] = -tableau[i, target] * sign
    for step in range(20 * n_rows + 200):
        row, limit = _leaving(basis, slope, level, up, down)
        if row < 0:
            for i in range(n_rows):
                if basis[i] >= 0:
                    x[basis[i]] = level[i]
            return step
        rises, gone = limit > level[row], basis[row]
        column, cost = _entering(
            tableau[row], rises, target, is_basic, x, price, dual, up, down
        )  # fmt: skip
        if gone >= 0 and limit == 0.0 and 2.0 * price[gone] <= cost:
            if (down[gone] if slope[row] > 0 else up[gone]) > HAIR:
                turn = 2.0 * price[gone] * slope[row]  # it goes on beyond zero, at its price
                slope[row] = -slope[row]
                for j in range(n):
                    dual[j] += turn * tableau[row, j]
                continue
        if column < 0:
            return -1
        move = (level[row] - limit) / tableau[row, column]
        side = 1.0 if x[column] > 0.0 or (x[column] == 0.0 and move > 0) else -1.0
        for i in range(n_rows):
            if i != row and tableau[i, column] != 0.0:
                level[i] -= tableau[i, column] * move
        level[row] = x[column] + move
        n_filled = _pivot(tableau, row, column, is_changed, filled)
        fall = dual[column] + side * price[column]
        for k in range(n_filled):
            dual[filled[k]] -= fall * tableau[row, filled[k]]
        if gone >= 0:
            is_basic[gone], x[gone] = False, limit
        basis[row], slope[row], is_basic[column] = column, side, True
    return -2


@njit(cache=True, nogil=True)
def _moved(relations, tableau, hidden, price, up, down, target, amount, x):
    """Move a cell by an amount at least cost and hide what moves; return the steps as above."""
    size = abs(amount)
    if size > (up[target] if amount > 0 else down[target]) * (1 + SUPPORT):
        return -1
    is_changed = np.zeros(len(tableau), np.bool_)
    charged = np.where(hidden, 0.0, price)
    sign = 1.0 if amount > 0 else -1.0
    steps = _cheapest(tableau, is_changed, charged, up / size, down / size, target, sign, x)
    for i in range(len(tableau)):
        if is_changed[i]:
            tableau[i] = relations[i]
    if steps >= 0:
        for j in range(len(x)):
            hidden[j] |= abs(x[j]) > SUPPORT
            x[j] *= size
    return steps


@njit(cache=True, nogil=True)
def _mirrors(x, up, down, ratio):
    """Return whether a change, turned round, fits as well."""
    for j in range(len(x)):
        if -x[j] * ratio > up[j] or x[j] * ratio > down[j]:
            return False
    return True


@njit(cache=True, nogil=True)
def grown(relations, hidden, price, up, down, targets, known, goals):
    """Hide the cheapest cells that let each target move, one after the other.

    Returns
    -------
    tuple
        Which targets nothing can protect, and the steps taken; less than 0 if an answer was lost.
    """
    tableau, x = relations.copy(), np.zeros(relations.shape[1])
    failed, total = np.zeros(len(targets), np.bool_), 0
    for k in range(len(targets)):
        target = targets[k]
        hidden[target] = True
        ahead, back = np.where(known[k], 0.0, up), np.where(known[k], 0.0, down)
        ahead[target], back[target] = up[target], down[target]
        below, above, width = goals[k, 0], goals[k, 1], goals[k, 2]
        missing = max(width - below - above, 0.0)
        more = min(missing, max(up[target] - above, 0.0))
        above, below = above + more, below + missing - more
        steps = 0
        if above > 0.0:
            steps = _moved(relations, tableau, hidden, price, ahead, back, target, above, x)
        if steps >= 0 and below > 0.0:
            total += steps
            if above <= 0.0 or not _mirrors(x, ahead, back, below / above):
                steps = _moved(relations, tableau, hidden, price, ahead, back, target, -below, x)
        if steps == -2:
            return failed, -1
        failed[k] = steps < 0
        total += max(steps, 0)
    return failed, total
