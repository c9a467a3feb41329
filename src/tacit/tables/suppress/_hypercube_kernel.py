# mypy: ignore-errors
"""Cheapest hypercubes around cells of a grid."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def _advance(counter, limits):
    """Count on, first place fastest; return whether there was a next one."""
    for k in range(len(counter)):
        counter[k] += 1
        if counter[k] < limits[k]:
            return True
        counter[k] = 0
    return False


@njit(cache=True, nogil=True)
def _better(cost, enough, reach, best):
    """Return whether a cube beats the best one: protection first, then cost."""
    if enough != (best[1] > 0):
        return enough
    if not enough and reach != best[2]:
        return reach > best[2]
    return cost < best[0]


@njit(cache=True, nogil=True)
def _corners(own, own_signs, sizes, firsts, which, group_codes, group_signs, position, strides,
             hidden, blocked, up, down, cost, corner):  # fmt: skip
    """Fill in the corners of a cube; return its cost and how far its first corner rises and falls.

    The cost is negative where the cube does not exist or holds cells that must be published.
    """
    n_dims = len(own)
    total, rise, fall = 0.0, np.inf, np.inf
    corner[:] = -1
    for mask in range(len(corner)):
        at, sign, exists = 0, 1.0, True
        for k in range(n_dims):
            code = own[k]
            if mask >> k & 1:
                if sizes[k] == 0:
                    exists = False
                    break
                e = firsts[k] + which[k]
                if group_codes[e] == code:
                    return -1.0, rise, fall
                # Two terms of one sum move against each other, a term and its total together.
                sign *= -own_signs[k] * group_signs[e]
                code = group_codes[e]
            at += strides[k] * code
        if not exists:
            continue
        cell = position[at]
        if cell < 0 or (blocked[cell] and not hidden[cell]):
            return -1.0, rise, fall
        corner[mask] = cell
        if not hidden[cell]:
            total += cost[cell]
        rise = min(rise, up[cell] if sign > 0 else down[cell])
        fall = min(fall, down[cell] if sign > 0 else up[cell])
    return total, rise, fall


@njit(cache=True, nogil=True)
def _sub_table(own, which_group, code_offset, code_start, code_groups, group_start, group_codes,
               group_signs, firsts, sizes, own_signs):  # fmt: skip
    """Fill in where the codes of a sub-table start, how many they are, and the cell's own signs."""
    for k in range(len(own)):
        slot = code_offset[k] + own[k]
        sizes[k] = 0
        if code_start[slot + 1] > code_start[slot]:
            g = code_groups[code_start[slot] + which_group[k]]
            firsts[k] = group_start[g]
            sizes[k] = group_start[g + 1] - group_start[g]
            for e in range(group_start[g], group_start[g + 1]):
                if group_codes[e] == own[k]:
                    own_signs[k] = group_signs[e]


@njit(cache=True, nogil=True)
def suppress_cubes(
    queue, above, below, hidden, blocked, up, down, cost, codes, position, strides,
    code_start, code_offset, code_groups, group_start, group_codes, group_signs,
):  # fmt: skip
    """Suppress, for each queued cell and sub-table, the cheapest cube that protects it.

    Cells suppressed on the way are queued in their turn. Returns how many times no cube protected
    enough. `hidden` is changed in place.
    """
    n_cells, n_dims = codes.shape
    waiting = np.empty(n_cells, np.int64)
    n_waiting = len(queue)
    waiting[:n_waiting] = queue
    which_group, which = np.zeros(n_dims, np.int64), np.zeros(n_dims, np.int64)
    n_groups, firsts = np.zeros(n_dims, np.int64), np.zeros(n_dims, np.int64)
    sizes, own_signs = np.zeros(n_dims, np.int64), np.ones(n_dims)
    corner, best_corner = np.empty(1 << n_dims, np.int64), np.empty(1 << n_dims, np.int64)
    best = np.zeros(3)
    wanting, head = 0, 0
    while head < n_waiting:
        cell = waiting[head]
        head += 1
        own = codes[cell]
        for k in range(n_dims):
            slot = code_offset[k] + own[k]
            n_groups[k] = code_start[slot + 1] - code_start[slot]
        which_group[:] = 0
        more_tables = True
        while more_tables:
            _sub_table(own, which_group, code_offset, code_start, code_groups, group_start,
                       group_codes, group_signs, firsts, sizes, own_signs)  # fmt: skip
            best[0], best[1], best[2] = np.inf, 0.0, -np.inf
            which[:] = 0
            more = True
            while more:
                total, rise, fall = _corners(
                    own, own_signs, sizes, firsts, which, group_codes, group_signs, position,
                    strides, hidden, blocked, up, down, cost, corner,
                )  # fmt: skip
                if total >= 0:
                    enough = rise >= above[cell] and fall >= below[cell] and rise + fall > 0
                    reach = min(rise - above[cell], fall - below[cell])
                    if _better(total, enough, reach, best):
                        best[0], best[1], best[2] = total, 1.0 if enough else 0.0, reach
                        best_corner[:] = corner
                more = _advance(which, sizes)
            wanting += best[1] == 0.0
            if best[0] < np.inf:
                for there in best_corner:
                    if there >= 0 and not hidden[there]:
                        hidden[there] = True
                        waiting[n_waiting] = there
                        n_waiting += 1
            more_tables = _advance(which_group, n_groups)
    return wanting
