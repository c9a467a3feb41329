# mypy: ignore-errors
"""Cheapest hypercubes around cells of a grid."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def _better(cost, enough, reach, best_cost, best_enough, best_reach):
    """Return whether a cube beats the best one: protection first, then cost."""
    if enough != best_enough:
        return enough
    if not enough and reach != best_reach:
        return reach > best_reach
    return cost < best_cost


@njit(cache=True, nogil=True)
def suppress_cubes(
    queue, above, below, hidden, blocked, up, down, cost, codes, position, strides,
    code_start, code_offset, code_groups, group_start, group_codes, group_signs,
):  # fmt: skip
    """Suppress, for each queued cell and sub-table, the cheapest cube that protects it.

    Cells suppressed on the way are queued in their turn. Returns how many cells found no cube that
    protects them enough. `hidden` is changed in place.
    """
    n_cells, n_dims = codes.shape
    waiting = np.empty(n_cells, np.int64)
    n_waiting = 0
    for c in queue:
        waiting[n_waiting] = c
        n_waiting += 1
    n_corners = 1 << n_dims
    which_group = np.zeros(n_dims, np.int64)
    which = np.zeros(n_dims, np.int64)
    own_sign = np.zeros(n_dims)
    corner = np.empty(n_corners, np.int64)
    best_corner = np.empty(n_corners, np.int64)
    wanting = 0
    head = 0
    while head < n_waiting:
        cell = waiting[head]
        head += 1
        which_group[:] = 0
        more_groups = True
        while more_groups:
            # One sub-table: a group of codes in each dimension that has one.
            flips = 0
            for k in range(n_dims):
                slot = code_offset[k] + codes[cell, k]
                if code_start[slot + 1] > code_start[slot]:
                    flips |= 1 << k
            which[:] = 0
            best_cost, best_enough, best_reach = np.inf, False, -1.0
            more = True
            while more:
                usable = True
                for k in range(n_dims):
                    if flips >> k & 1:
                        slot = code_offset[k] + codes[cell, k]
                        g = code_groups[code_start[slot] + which_group[k]]
                        if group_codes[group_start[g] + which[k]] == codes[cell, k]:
                            usable = False
                if usable:
                    total, rise, fall = 0.0, np.inf, np.inf
                    for mask in range(n_corners):
                        corner[mask] = -1
                        if mask & ~flips:
                            continue
                        at, sign = 0, 1.0
                        for k in range(n_dims):
                            code = codes[cell, k]
                            if mask >> k & 1:
                                slot = code_offset[k] + code
                                g = code_groups[code_start[slot] + which_group[k]]
                                s_own = 1.0
                                for e in range(group_start[g], group_start[g + 1]):
                                    if group_codes[e] == code:
                                        s_own = group_signs[e]
                                e = group_start[g] + which[k]
                                sign *= -s_own * group_signs[e]
                                code = group_codes[e]
                            at += strides[k] * code
                        there = position[at]
                        if there < 0 or (blocked[there] and not hidden[there]):
                            usable = False
                            break
                        corner[mask] = there
                        if not hidden[there]:
                            total += cost[there]
                        rise = min(rise, up[there] if sign > 0 else down[there])
                        fall = min(fall, down[there] if sign > 0 else up[there])
                    if usable:
                        if above[cell] > 0 or below[cell] > 0:
                            enough = rise >= above[cell] and fall >= below[cell]
                        else:
                            enough = rise + fall > 0
                        reach = min(rise - above[cell], fall - below[cell])
                        if _better(total, enough, reach, best_cost, best_enough, best_reach):
                            best_cost, best_enough, best_reach = total, enough, reach
                            best_corner[:] = corner
                # The next cube.
                more = False
                for k in range(n_dims):
                    if not flips >> k & 1:
                        continue
                    slot = code_offset[k] + codes[cell, k]
                    g = code_groups[code_start[slot] + which_group[k]]
                    which[k] += 1
                    if which[k] < group_start[g + 1] - group_start[g]:
                        more = True
                        break
                    which[k] = 0
            if not best_enough:
                wanting += 1
            if best_cost < np.inf:
                for mask in range(n_corners):
                    there = best_corner[mask]
                    if there >= 0 and not hidden[there]:
                        hidden[there] = True
                        waiting[n_waiting] = there
                        n_waiting += 1
            # The next sub-table.
            more_groups = False
            for k in range(n_dims):
                slot = code_offset[k] + codes[cell, k]
                if code_start[slot + 1] == code_start[slot]:
                    continue
                which_group[k] += 1
                if which_group[k] < code_start[slot + 1] - code_start[slot]:
                    more_groups = True
                    break
                which_group[k] = 0
    return wanting
