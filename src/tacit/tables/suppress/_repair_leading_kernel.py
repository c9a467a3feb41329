# mypy: ignore-errors
"""Leading proofs round a cell, so that it can be published, in one tableau of the cells around."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit
from tacit.tables.suppress._repair_pieces_kernel import SUPPORT, climb, note_places, tableau


@njit(cache=True, nogil=True)
def rerouted(columns, n_rows, rooms, order, moves, targets, held):
    """Publish cells round which the proofs that move them can be led; return which.

    Parameters
    ----------
    columns, n_rows
        Pointers, relations and weights of some cells; how many relations there are.
    rooms
        Their room up and down.
    order
        Cells to publish if that can be, in the order they are tried.
    moves
        Proofs by cells: how far each proof moves each cell. Changed in place.
    targets
        The cell each proof is for, which moves as it does; -1 if it is not among these cells.
    held
        Proofs by cells (flags): cells that a proof must not move otherwise than it does.
    """
    indptr, rows, data = columns
    n = len(indptr) - 1
    is_gone = np.zeros(n, np.bool_)
    table, basic, free = tableau(indptr, rows, data, n_rows)
    n_free, place = len(free), np.empty(n, np.int64)
    note_places(basic, free, place)
    begin, begin_basic, begin_free = table.copy(), basic.copy(), free.copy()
    most_up, most_down = rooms[0].copy(), rooms[1].copy()
    up, down, x, filled = np.empty(n), np.empty(n), np.zeros(n), np.empty(n, np.int64)
    led, which = np.empty((len(moves), n)), np.empty(len(moves), np.int64)
    for gone in order:
        n_led, stands = 0, True
        size = np.abs(moves[:, gone])
        for proof in np.argsort(-size):
            amount = size[proof]
            if amount == 0.0:
                break
            for c in range(n):
                stays = held[proof, c] or c == targets[proof] or is_gone[c]
                up[c] = 0.0 if stays else max(most_up[c] - moves[proof, c], 0.0)
                down[c] = 0.0 if stays else max(most_down[c] + moves[proof, c], 0.0)
            sign = -1.0 if moves[proof, gone] > 0 else 1.0
            up[gone] = down[gone] = amount
            stands, _, n_exchanges = climb(
                table, basic, free, n_free, place, up, down, gone, sign, amount, x, filled
            )
            if n_exchanges > 0:
                table[:], basic[:], free[:] = begin, begin_basic, begin_free
                note_places(basic, free, place)
            if not stands:
                break
            for c in range(n):
                now = moves[proof, c] + x[c]
                led[n_led, c] = 0.0 if abs(now) <= SUPPORT * amount else now
            led[n_led, gone] = 0.0
            which[n_led] = proof
            n_led += 1
        if stands:
            is_gone[gone] = True
            for k in range(n_led):
                moves[which[k]] = led[k]
    return is_gone
