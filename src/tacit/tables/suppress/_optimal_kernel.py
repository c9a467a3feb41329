# mypy: ignore-errors
"""The attacker's problem of small tables, solved in a dense tableau.

A cell moves as far as the others let it: maximise the change of a cell such that the relations hold
and each change stays within its room. No change at all is possible, so the primal simplex starts
there, at any basis. Room and changes are counted in units of what is asked for.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

FLAT = 1e-9
"""Prices and entries of the tableau below this are zero."""
DUST = 1e-13
"""Entries of the tableau below this come from rounding."""
HAIR = 1e-11
"""Room below this is none."""
SLACK = 1e-6
"""Share of a requirement that may be missing for rounding's sake, as in the audit."""
STRETCH = 100.0
"""How far a movement is stretched at most: rounding errors stretch with it."""
PATIENCE = 40
"""Steps without gain after which the first cell that helps is taken, not the best."""


@njit(cache=True, nogil=True)
def pivot(tableau, row, column):
    """Let a column enter the basis of a row."""
    factor = 1.0 / tableau[row, column]
    line = tableau[row]
    filled, n_filled = np.empty(len(line), np.int64), 0
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
        if abs(weight) > DUST:
            other = tableau[i]
            for k in range(n_filled):
                other[filled[k]] -= weight * line[filled[k]]
        tableau[i, column] = 0.0


@njit(cache=True, nogil=True)
def echelon(matrix):
    """Return the tableau of relations, and the column that each of its rows stands for."""
    tableau = matrix.copy()
    n_rows, n = tableau.shape
    basis = np.empty(n_rows, np.int64)
    rank = 0
    for row in range(n_rows):
        best, column = 1e-7, -1
        for j in range(n):
            if abs(tableau[row, j]) > best:
                best, column = abs(tableau[row, j]), j
        if column < 0:
            continue
        pivot(tableau, row, column)
        if rank < row:
            tableau[rank] = tableau[row]
            tableau[row] = 0.0
        basis[rank] = column
        rank += 1
    return tableau[:rank].copy(), basis[:rank].copy()


@njit(cache=True, nogil=True)
def _entering(tableau, aim, target, sign, x, up, down, is_basic, patient):
    """Return the cell whose change moves the target best, and which way; -1 if none does."""
    best, found, way = 0.0, -1, 0.0
    for j in range(len(x)):
        if is_basic[j]:
            continue
        price = -sign * tableau[aim, j] if aim >= 0 else (sign if j == target else 0.0)
        room = up[j] - x[j] if price > 0 else down[j] + x[j]
        if abs(price) <= FLAT or room <= HAIR:
            continue
        score = abs(price) * min(room, 1.0)
        if score > best:
            best, found, way = score, j, (1.0 if price > 0 else -1.0)
            if not patient:
                break
    return found, way


@njit(cache=True, nogil=True)
def _leaving(tableau, basis, column, way, x, up, down):
    """Return the row whose cell is first at the end of its room, and how far that is."""
    most = np.inf
    for i in range(len(basis)):
        rate = -tableau[i, column] * way
        if abs(rate) > FLAT:
            b = basis[i]
            room = up[b] - x[b] if rate > 0 else down[b] + x[b]
            most = min(most, (max(room, 0.0) + HAIR) / abs(rate))
    row, step, size = -1, np.inf, 0.0
    for i in range(len(basis)):
        rate = -tableau[i, column] * way
        if abs(rate) > max(FLAT, size):
            b = basis[i]
            room = max(up[b] - x[b] if rate > 0 else down[b] + x[b], 0.0)
            if room / abs(rate) <= most:
                row, step, size = i, room / abs(rate), abs(rate)
    return row, step


@njit(cache=True, nogil=True)
def climb(tableau, basis, up, down, target, sign, x):
    """Move the target by one unit if it can; return how far it gets, negative if it gave up.

    The changes are left in `x`; the tableau and the basis change with them.
    """
    n = len(x)
    x[:] = 0.0
    is_basic = np.zeros(n, np.bool_)
    is_basic[basis] = True
    aim = -1
    for i in range(len(basis)):
        if basis[i] == target:
            aim = i
    idle = 0
    for _ in range(60 * (n + len(basis)) + 1000):
        if sign * x[target] >= 1.0 - HAIR:
            return 1.0
        column, way = _entering(tableau, aim, target, sign, x, up, down, is_basic, idle < PATIENCE)
        if column < 0:
            return max(sign * x[target], 0.0)
        room = up[column] - x[column] if way > 0 else down[column] + x[column]
        row, step = _leaving(tableau, basis, column, way, x, up, down)
        step = min(step, room)
        ahead = sign * (way if column == target else -tableau[aim, column] * way)
        short = (1.0 - sign * x[target]) / ahead
        if step >= short:
            step, row = short, -1
        elif step >= room:
            row = -1
        before = x[target]
        for i in range(len(basis)):
            x[basis[i]] -= tableau[i, column] * way * step
        x[column] += way * step
        idle = idle + 1 if sign * (x[target] - before) <= HAIR else 0
        if row < 0:
            continue
        gone = basis[row]
        x[gone] = min(max(x[gone], -down[gone]), up[gone])
        pivot(tableau, row, column)
        basis[row] = column
        is_basic[gone], is_basic[column] = False, True
        if column == target:
            aim = row
        elif gone == target:
            aim = -1
    return -1.0


@njit(cache=True, nogil=True)
def prices(tableau, basis, up, down, target, sign, x):
    """Return how far the target gets, and what room of each cell, up or down, is worth to it."""
    slope = np.zeros(len(x))
    tableau, basis = tableau.copy(), basis.copy()
    reached = climb(tableau, basis, up, down, target, sign, x)
    aim = -1
    for i in range(len(basis)):
        if basis[i] == target:
            aim = i
    if aim < 0 or reached >= 1.0:
        slope[target] = sign
        return reached, slope
    for j in range(len(x)):
        price = -sign * tableau[aim, j]
        slope[j] = price if abs(price) > FLAT else 0.0
    slope[basis] = 0.0
    return reached, slope


@njit(cache=True, nogil=True)
def _push(tableau, basis, up, down, known, target, amount, x, low, high):
    """Move a cell by an amount and learn what the movement shows; return how far it got."""
    if abs(amount) <= 0.0:
        x[:] = 0.0
        return 0.0
    sign, size = (1.0 if amount > 0 else -1.0), abs(amount)
    ahead, back = up / size, down / size
    ahead[known], back[known] = 0.0, 0.0
    got = climb(tableau.copy(), basis.copy(), ahead, back, target, sign, x)
    if got < 0:
        return 0.0
    further, turned = STRETCH, STRETCH
    for j in range(len(x)):
        if abs(x[j]) <= FLAT:
            continue
        rooms = (up[j], down[j]) if x[j] > 0 else (down[j], up[j])
        further = min(further, rooms[0] / (abs(x[j]) * size))
        turned = min(turned, rooms[1] / (abs(x[j]) * size))
    if known.any():
        return got * size  # what others see of it is not the same
    further = max(further, 1.0)
    for j in range(len(x)):
        if abs(x[j]) > FLAT:
            one, other = x[j] * size * further, -x[j] * size * turned
            high[j] = max(high[j], max(one, other))
            low[j] = min(low[j], min(one, other))
    return got * size


@njit(cache=True, nogil=True)
def _stands(tableau, basis, up, down, known, target, goals, x, low, high, way):
    """Return whether a cell can move as far as it must, and which cells move with it."""
    below, above, width = goals[0], goals[1], goals[2]
    seen = np.zeros(2)
    for side, need in ((0, above), (1, below)):
        amount = need if side == 0 else -need
        seen[side] = _push(tableau, basis, up, down, known, target, amount, x, low, high)
        if seen[side] < need * (1 - SLACK):
            return False
        _note(x, way)
    for side in (0, 1):
        missing = width - seen[1 - side]
        if seen[0] + seen[1] >= width * (1 - SLACK):
            return True
        amount = missing if side == 0 else -missing
        seen[side] = _push(tableau, basis, up, down, known, target, amount, x, low, high)
        _note(x, way)
    return seen[0] + seen[1] >= width * (1 - SLACK)


@njit(cache=True, nogil=True)
def _note(x, way):
    for j in range(len(x)):
        if abs(x[j]) > FLAT:
            way[j] = True


@njit(cache=True, nogil=True)
def open_threats(matrix, up, down, targets, known, goals):
    """Return which targets cannot move as far as they must among suppressed cells."""
    tableau, basis = echelon(matrix)
    n = matrix.shape[1]
    x, low, high, way = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    failed = np.zeros(len(targets), np.bool_)
    for k in range(len(targets)):
        t = targets[k]
        below, above, width = goals[k, 0], goals[k, 1], goals[k, 2]
        if (
            not known[k].any()
            and high[t] >= above * (1 - SLACK)
            and -low[t] >= below * (1 - SLACK)
            and high[t] - low[t] >= width * (1 - SLACK)
        ):
            continue
        failed[k] = not _stands(tableau, basis, up, down, known[k], t, goals[k], x, low, high, way)
    return failed


@njit(cache=True, nogil=True)
def movements(matrix, up, down, targets, amounts):
    """Return how suppressed cells move, one row per target, and how far each target gets."""
    tableau, basis = echelon(matrix)
    n = matrix.shape[1]
    moves, reached = np.zeros((len(targets), n)), np.zeros(len(targets))
    for k in range(len(targets)):
        size = abs(amounts[k])
        sign = 1.0 if amounts[k] > 0 else -1.0
        reached[k] = climb(
            tableau.copy(), basis.copy(), up / size, down / size, targets[k], sign, moves[k]
        )
        for j in range(n):
            moves[k, j] = moves[k, j] * size if abs(moves[k, j]) > FLAT else 0.0
    return moves, reached


@njit(cache=True, nogil=True)
def _drop(tableau, basis, is_gone, cell):
    """Take a cell out of the tableau: it does not move any more."""
    for i in range(len(basis)):
        if basis[i] != cell:
            continue
        best, column = FLAT, -1
        for j in range(len(is_gone)):
            if j != cell and not is_gone[j] and abs(tableau[i, j]) > best:
                best, column = abs(tableau[i, j]), j
        if column >= 0:
            pivot(tableau, i, column)
            basis[i] = column
        break
    for i in range(len(basis)):
        if basis[i] != cell:
            tableau[i, cell] = 0.0


@njit(cache=True, nogil=True)
def _falling(matrix, left, cell, is_gone, fixed, needed):
    """Return the cells known once a cell is, and whether none of them is sensitive.

    A cell that is the last one suppressed in a relation is known.
    """
    falls = np.zeros(len(is_gone), np.bool_)
    falls[cell] = True
    queue = [cell]
    while len(queue) > 0:
        c = queue.pop()
        for r in range(matrix.shape[0]):
            if matrix[r, c] == 0.0:
                continue
            left[r] -= 1
            if left[r] != 1:
                continue
            for j in range(matrix.shape[1]):
                if matrix[r, j] != 0.0 and not is_gone[j] and not falls[j]:
                    if needed[j]:
                        return falls, False
                    if not fixed[j]:
                        falls[j] = True
                        queue.append(j)
                    break
    return falls, True


@njit(cache=True, nogil=True)
def thinned(matrix, order, fixed, needed, up, down, targets, known, goals):
    """Return which cells are left when those that protect nobody are published, in an order.

    Nothing is published if a target does not stand to begin with.
    """
    tableau, basis = echelon(matrix)
    n = matrix.shape[1]
    x, low, high = np.zeros(n), np.zeros(n), np.zeros(n)
    is_gone = np.zeros(n, np.bool_)
    left = np.zeros(matrix.shape[0], np.int64)
    for r in range(matrix.shape[0]):
        for j in range(n):
            left[r] += matrix[r, j] != 0.0
    ways = np.zeros((len(targets), n), np.bool_)
    for k in range(len(targets)):
        if not _stands(
            tableau, basis, up, down, known[k], targets[k], goals[k], x, low, high, ways[k]
        ):
            return ~is_gone
    for cell in order:
        if is_gone[cell]:
            continue
        after = left.copy()
        falls, is_free = _falling(matrix, after, cell, is_gone, fixed, needed)
        if not is_free:
            continue
        trial, columns, gone = tableau.copy(), basis.copy(), is_gone | falls
        for j in np.flatnonzero(falls):
            _drop(trial, columns, gone, j)
        ahead, back = np.where(gone, 0.0, up), np.where(gone, 0.0, down)
        renewed = ways.copy()
        stands = True
        for k in range(len(targets)):
            if not (ways[k] & falls).any():
                continue
            renewed[k] = False
            if not _stands(
                trial, columns, ahead, back, known[k], targets[k], goals[k], x, low, high,
                renewed[k],
            ):  # fmt: skip
                stands = False
                break
        if stands:
            tableau, basis, is_gone, left, ways = trial, columns, gone, after, renewed
    return ~is_gone
