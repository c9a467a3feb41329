# mypy: ignore-errors
"""Proofs within a piece of a pattern, in one tableau that stays solved from question to question.

The suppressed cells that relations join are few hundred, and a few of them determine the others.
Each cell is written as a combination of those few; a proof moves one of them until a bound is met,
exchanges it for the cell that met it, and goes on. No change at all is always possible, so every
question starts from there and from the tableau the last one left.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

FLAT = 1e-9
"""Entries of the tableau below this are zero."""
HAIR = 1e-10
"""Share of what is asked for that counts as none."""
SUPPORT = 1e-7
"""Share of the asked movement below which a cell counts as not moving."""
PATIENCE = 40
"""Steps without gain after which the first cell that helps is taken, not the best."""


@njit(cache=True, nogil=True)
def tableau(indptr, rows, data, n_rows):
    """Return cells as combinations of free ones: the combinations, the cells and the free ones."""
    n = len(indptr) - 1
    matrix = np.zeros((n_rows, n))
    count = np.zeros(n, np.int64)
    for c in range(n):
        for e in range(indptr[c], indptr[c + 1]):
            matrix[rows[e], c] = data[e]
            count[c] += 1
    is_solved = np.zeros(n, np.bool_)
    solved = np.empty(n_rows, np.int64)
    rank = 0
    filled = np.empty(n, np.int64)
    for row in range(n_rows):
        line = matrix[row]
        column, n_filled = -1, 0
        for c in range(n):
            if line[c] == 0.0:
                continue
            if abs(line[c]) < FLAT:
                line[c] = 0.0
                continue
            filled[n_filled] = c
            n_filled += 1
            if abs(line[c]) > 0.5 and (column < 0 or count[c] < count[column]):
                column = c
        for k in range(n_filled if column < 0 else 0):
            if column < 0 or abs(line[filled[k]]) > abs(line[column]):
                column = filled[k]
        if column < 0:
            continue
        factor = 1.0 / line[column]
        for k in range(n_filled):
            line[filled[k]] *= factor
        for other in range(n_rows):
            weight = matrix[other, column]
            if other == row or weight == 0.0:
                continue
            for k in range(n_filled):
                matrix[other, filled[k]] -= weight * line[filled[k]]
            matrix[other, column] = 0.0
        if rank < row:
            for c in range(n):
                matrix[rank, c], line[c] = line[c], 0.0
        solved[rank] = column
        is_solved[column] = True
        rank += 1
    free = np.flatnonzero(~is_solved)
    table = np.empty((rank, len(free)))
    for i in range(rank):
        for j in range(len(free)):
            table[i, j] = -matrix[i, free[j]]
    return table, solved[:rank].copy(), free


@njit(cache=True, nogil=True)
def exchange(table, basic, free, n_free, place, row, column, filled):
    """Let a free cell be determined, and the cell of a row be free in its place."""
    line = table[row]
    factor = -1.0 / line[column]
    n_filled = 0
    for j in range(n_free):
        if j == column or line[j] == 0.0:
            continue
        if abs(line[j]) < FLAT:
            line[j] = 0.0
            continue
        line[j] *= factor
        filled[n_filled] = j
        n_filled += 1
    line[column] = -factor
    for i in range(len(basic)):
        weight = table[i, column]
        if i == row or weight == 0.0:
            continue
        other = table[i]
        if abs(weight) < FLAT:
            other[column] = 0.0
            continue
        for k in range(n_filled):
            other[filled[k]] += weight * line[filled[k]]
        other[column] = -weight * factor
    gone, come = basic[row], free[column]
    basic[row], free[column] = come, gone
    place[come], place[gone] = -1 - row, column


@njit(cache=True, nogil=True)
def _entering(line, free, n_free, sign, x, up, down, amount, patient):
    """Return the free cell whose change moves the target best, and which way; -1 if none does."""
    best, found, way = 0.0, -1, 0.0
    for j in range(n_free):
        price = sign * line[j]
        if abs(price) <= FLAT:
            continue
        c = free[j]
        room = up[c] - x[c] if price > 0 else down[c] + x[c]
        if room <= HAIR * amount:
            continue
        score = abs(price) * min(room, amount)
        if score > best:
            best, found, way = score, j, (1.0 if price > 0 else -1.0)
            if not patient:
                break
    return found, way


@njit(cache=True, nogil=True)
def _leaving(table, basic, column, way, x, up, down, amount):
    """Return the row whose cell is first at the end of its room, and how far that is."""
    most = np.inf
    for i in range(len(basic)):
        rate = table[i, column] * way
        if abs(rate) > FLAT:
            b = basic[i]
            room = up[b] - x[b] if rate > 0 else down[b] + x[b]
            most = min(most, (max(room, 0.0) + HAIR * amount) / abs(rate))
    row, step, size = -1, np.inf, 0.0
    if most == np.inf:
        return row, step
    for i in range(len(basic)):
        rate = table[i, column] * way
        if abs(rate) > max(FLAT, size):
            b = basic[i]
            room = max(up[b] - x[b] if rate > 0 else down[b] + x[b], 0.0)
            if room / abs(rate) <= most:
                row, step, size = i, room / abs(rate), abs(rate)
    return row, step


@njit(cache=True, nogil=True)
def climb(table, basic, free, n_free, place, up, down, target, sign, amount, x, filled):
    """Move the target by an amount; return whether it gets there, in how many steps and exchanges.

    The changes are left in `x`.
    """
    x[:] = 0.0
    idle, n_steps, n_exchanges = 0, 0, 0
    room = up[target] if sign > 0 else down[target]
    if room < amount * (1.0 - HAIR):
        return False, n_steps, n_exchanges
    for _ in range(20 * len(x) + 1000):
        short = amount - sign * x[target]
        if short <= HAIR * amount:
            return True, n_steps, n_exchanges
        n_steps += 1
        at = place[target]
        if at >= 0:
            column, way, gain = at, sign, 1.0
        else:
            line = table[-1 - at]
            column, way = _entering(line, free, n_free, sign, x, up, down, amount, idle < PATIENCE)
            if column < 0:
                return False, n_steps, n_exchanges
            gain = abs(line[column])
        enters = free[column]
        room = up[enters] - x[enters] if way > 0 else down[enters] + x[enters]
        row, step = _leaving(table, basic, column, way, x, up, down, amount)
        if step >= room:
            step, row = room, -1
        if step * gain >= short:
            step, row = short / gain, -1
        for i in range(len(basic)):
            if table[i, column] != 0.0:
                x[basic[i]] += table[i, column] * way * step
        x[enters] += way * step
        idle = idle + 1 if step * gain <= HAIR * amount else 0
        if row >= 0:
            gone = basic[row]
            x[gone] = min(max(x[gone], -down[gone]), up[gone])
            exchange(table, basic, free, n_free, place, row, column, filled)
            n_exchanges += 1
        elif enters == target and step >= room:
            return sign * x[target] >= amount * (1.0 - HAIR), n_steps, n_exchanges
    return False, n_steps, n_exchanges


@njit(cache=True, nogil=True)
def _bound(line, free, n_free, up, down, sign):
    """Return how far a determined cell can move at most, by the room of the free ones alone."""
    most = 0.0
    for j in range(n_free):
        price = sign * line[j]
        if price > FLAT:
            most += price * up[free[j]]
        elif price < -FLAT:
            most -= price * down[free[j]]
    return most


@njit(cache=True, nogil=True)
def _reach(x, up, down, least):
    """Return how far a change can be stretched and turned round within bounds."""
    ahead, back = np.inf, np.inf
    for c in range(len(x)):
        size = abs(x[c])
        if size <= least:
            x[c] = 0.0
            continue
        one, other = (up[c], down[c]) if x[c] > 0 else (down[c], up[c])
        ahead, back = min(ahead, one / size), min(back, other / size)
    return max(ahead, 1.0), back


@njit(cache=True, nogil=True)
def _grown(pool, n, more):
    """Return a pool with room for more."""
    if n + more <= len(pool):
        return pool
    larger = np.empty(max(2 * len(pool), n + more), pool.dtype)
    larger[:n] = pool[:n]
    return larger


@njit(cache=True, nogil=True)
def note_places(basic, free, place):
    """Note where each cell is: a column of the tableau, or -1 less its row."""
    for i in range(len(basic)):
        place[basic[i]] = -1 - i
    for j in range(len(free)):
        place[free[j]] = j


@njit(cache=True, nogil=True)
def _hold(cells, up, down):
    """Let some cells stay where they are; return their room."""
    rooms = np.empty((2, len(cells)))
    for k in range(len(cells)):
        rooms[0, k], rooms[1, k] = up[cells[k]], down[cells[k]]
        up[cells[k]], down[cells[k]] = 0.0, 0.0
    return rooms


@njit(cache=True, nogil=True)
def _let_go(cells, up, down, rooms):
    """Give some cells their room back."""
    for k in range(len(cells) - 1, -1, -1):
        up[cells[k]], down[cells[k]] = rooms[0, k], rooms[1, k]


@njit(cache=True, nogil=True)
def _set_free(table, basic, free, n_free, place, cell, filled):
    """Let a cell be a free one, if it is not and can be; return whether the tableau changed."""
    if place[cell] >= 0:
        return False
    row, column, size = -1 - place[cell], -1, FLAT
    for j in range(n_free):
        if abs(table[row, j]) > size:
            column, size = j, abs(table[row, j])
    if column >= 0:
        exchange(table, basic, free, n_free, place, row, column, filled)
    return column >= 0


@njit(cache=True, nogil=True)
def _removed(table, free, n_free, place, cell):
    """Take a cell that does not move any more out of the free ones; return how many are left."""
    column, last = place[cell], n_free - 1
    if column < 0:
        return n_free
    for i in range(table.shape[0]):
        table[i, column] = table[i, last]
    moved = free[last]
    free[column], free[last] = moved, cell
    place[moved], place[cell] = column, last
    return last


@njit(cache=True, nogil=True)
def _resting(gone, proof_of, n_proofs, ptr, cells, rests):
    """Flag the needs whose proof moves a cell."""
    is_held, moves = np.zeros(n_proofs, np.bool_), np.zeros(n_proofs, np.bool_)
    for k in range(len(proof_of)):
        if proof_of[k] >= 0:
            is_held[proof_of[k]] = True
    for p in range(n_proofs):
        if is_held[p]:
            for e in range(ptr[p], ptr[p + 1]):
                if cells[e] == gone:
                    moves[p] = True
                    break
    for k in range(len(proof_of)):
        rests[k] = proof_of[k] >= 0 and moves[proof_of[k]]


@njit(cache=True, nogil=True)
def _is_hopeless(table, free, n_free, place, up, down, needs, rests):
    """Return whether a need that rests on a cell is out of reach, whatever moves."""
    targets, signs, amounts = needs
    for k in range(len(targets)):
        at = place[targets[k]]
        if rests[k] and at < 0:
            most = _bound(table[-1 - at], free, n_free, up, down, signs[k])
            if most < amounts[k] * (1.0 - SUPPORT):
                return True
    return False


@njit(cache=True, nogil=True)
def _needs_of(n, targets, known_ptr):
    """Return the first need of each cell and the next one of each need, of intruders at large."""
    first, after = np.full(n, -1, np.int64), np.full(len(targets), -1, np.int64)
    for k in range(len(targets) - 1, -1, -1):
        if known_ptr[k] == known_ptr[k + 1]:
            after[k] = first[targets[k]]
            first[targets[k]] = k
    return first, after


@njit(cache=True, nogil=True)
def _read(cells, moves, reach, name, first, after, needs, rests, proof_of, factor):
    """Let a change prove every need that waits and that it meets, stretched or turned round."""
    _, signs, amounts = needs
    for e in range(len(cells)):
        k = first[cells[e]]
        while k >= 0:
            move = signs[k] * moves[e]
            far = reach[0] if move > 0 else reach[1]
            if rests[k] and abs(move) * far >= amounts[k]:
                size = max(amounts[k] / abs(move), min(1.0, far))
                proof_of[k], factor[k] = name, (size if move > 0 else -size)
                rests[k] = False
            k = after[k]


@njit(cache=True, nogil=True)
def _stored(x, cells, moves, used):
    """Append the cells that move and how far; return the pools."""
    length = 0
    for c in range(len(x)):
        length += x[c] != 0.0
    cells, moves = _grown(cells, used, length), _grown(moves, used, length)
    for c in range(len(x)):
        if x[c] != 0.0:
            cells[used], moves[used] = c, x[c]
            used += 1
    return cells, moves, used


@njit(cache=True, nogil=True)
def thinned(columns, n_rows, rooms, order, needs, knowing, proofs, longest, most):
    """Prove what has no proof, then publish cells without which all keep one.

    Parameters
    ----------
    columns, n_rows
        Pointers, relations and weights of the cells of a piece; how many relations there are.
    rooms
        Their room up and down.
    order
        Cells to publish if that can be, in the order they are tried.
    needs
        Which cell each need asks to move, which way and how far.
    knowing
        Pointers and cells: what the intruder of each need knows.
    proofs
        The proof of each need, -1 for none; pointers and cells of these proofs.
    longest
        Cells of a change up to which it is read for other needs.
    most
        Work (steps times entries of the tableau) after which no more cells are tried.

    Returns
    -------
    proof_of, factor, ptr, cells, moves, n_tried
        The proof of each need, by what to multiply it, all proofs, and how many of the cells to
        publish were tried. The moves of proofs given are not known.
    """
    indptr, rows, data = columns
    targets, signs, amounts = needs
    known_ptr, known = knowing
    n, n_proofs, steps = len(indptr) - 1, len(proofs[1]) - 1, 0
    up, down = rooms[0].copy(), rooms[1].copy()
    table, basic, free = tableau(indptr, rows, data, n_rows)
    n_free, place = len(free), np.empty(n, np.int64)
    note_places(basic, free, place)
    # Questions begin from the tableau as it was solved, not from what the last one left: its
    # combinations are short, so that proofs move few cells and few rest on each.
    begin, begin_basic, begin_free = table.copy(), basic.copy(), free.copy()
    x, filled, rests = np.zeros(n), np.empty(n, np.int64), proofs[0] < 0
    proof_of, factor = proofs[0].copy(), np.ones(len(targets))
    ptr, cells, moves = proofs[1].copy(), proofs[2].copy(), np.zeros(len(proofs[2]))
    first, after = _needs_of(n, targets, known_ptr)
    for turn in range(-1, len(order)):
        gone, moved = (-1 if turn < 0 else order[turn]), False
        old, old_basic, old_free = begin, begin_basic, begin_free
        ahead, back = (0.0, 0.0) if turn < 0 else (up[gone], down[gone])
        stands = True
        if turn >= 0:
            if steps * table.size > most:
                return proof_of, factor, ptr[: n_proofs + 1], cells, moves, turn
            _resting(gone, proof_of, n_proofs, ptr, cells, rests)
            moved = _set_free(table, basic, free, n_free, place, gone, filled)
            if moved:
                begin, begin_basic, begin_free = table.copy(), basic.copy(), free.copy()
            up[gone], down[gone] = 0.0, 0.0
            stands = not _is_hopeless(table, free, n_free, place, up, down, needs, rests)
        for k in range(len(targets)):
            if not stands or not rests[k]:
                continue
            rooms_held = _hold(known[known_ptr[k] : known_ptr[k + 1]], up, down)
            found, taken, n_exchanges = climb(
                table, basic, free, n_free, place, up, down, targets[k], signs[k], amounts[k], x,
                filled,
            )  # fmt: skip
            _let_go(known[known_ptr[k] : known_ptr[k + 1]], up, down, rooms_held)
            steps += taken
            if n_exchanges > 0:
                table[:], basic[:], free[:] = begin, begin_basic, begin_free
                note_places(basic, free, place)
            rests[k] = False
            stands = found or turn < 0
            if not found:
                continue
            reach = _reach(x, up, down, SUPPORT * amounts[k])
            ptr = _grown(ptr, n_proofs + 1, 1)
            cells, moves, used = _stored(x, cells, moves, ptr[n_proofs])
            ptr[n_proofs + 1] = used
            proof_of[k], factor[k] = n_proofs, 1.0
            start = ptr[n_proofs]
            if used - start <= longest:
                _read(
                    cells[start:used], moves[start:used], reach, n_proofs, first, after, needs,
                    rests, proof_of, factor,
                )  # fmt: skip
            n_proofs += 1
        if turn < 0:
            continue
        if stands:
            n_free = _removed(table, free, n_free, place, gone)
            begin, begin_basic, begin_free = table.copy(), basic.copy(), free.copy()
        else:
            if moved:
                begin, begin_basic, begin_free = old, old_basic, old_free
                table[:], basic[:], free[:] = begin, begin_basic, begin_free
                note_places(basic, free, place)
            up[gone], down[gone] = ahead, back
    return proof_of, factor, ptr[: n_proofs + 1], cells, moves, len(order)
