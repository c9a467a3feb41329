# mypy: ignore-errors
"""Cheapest circulations in the network of a table: successive shortest paths."""

from __future__ import annotations

import heapq

import numpy as np

from tacit.core.compiled import njit

TINY = 1e-9


@njit(cache=True, nogil=True)
def _residual(flow, up, down, forward):
    """Return how much more can go along an arc, and whether that takes flow back."""
    if forward:
        if flow < 0:
            return -flow, True
        return up - flow, False
    if flow > 0:
        return flow, True
    return down + flow, False


@njit(cache=True, nogil=True)
def _shortest(source, sink, skip, ends, arc_ptr, arc_list, flow, up, down, price, level, via, size):
    """Return whether the sink is reached; fills the way back and updates the potentials."""
    n = len(level)
    dist = np.full(n, np.inf)
    done = np.zeros(n, np.bool_)
    via[:] = -1
    dist[source] = 0.0
    heap = [(0.0, source)]
    while len(heap) > 0:
        d, v = heapq.heappop(heap)
        if done[v]:
            continue
        done[v] = True
        for k in range(arc_ptr[v], arc_ptr[v + 1]):
            a = arc_list[k]
            if a == skip:
                continue
            forward = ends[a, 0] == v
            w = ends[a, 1] if forward else ends[a, 0]
            if done[w]:
                continue
            left, back = _residual(flow[a], up[a], down[a], forward)
            if left <= TINY * size:
                continue
            step = -price[a] if back else price[a]
            to = d + max(step + level[v] - level[w], 0.0)
            if to < dist[w]:
                dist[w] = to
                via[w] = a
                heapq.heappush(heap, (to, w))
    if not done[sink]:
        return False
    far = dist[sink]
    for v in range(n):
        level[v] += min(dist[v], far)
    return True


@njit(cache=True, nogil=True)
def protect_all(arcs, amounts, signs, ends, arc_ptr, arc_list, up, down, cost, hidden, n_nodes):
    """Suppress for each need the arcs of a cheapest circulation; return needs that have none."""
    n_arcs = len(cost)
    flow = np.zeros(n_arcs)
    price = np.zeros(n_arcs)
    via = np.empty(n_nodes, np.int64)
    failed = np.zeros(len(arcs), np.bool_)
    for k in range(len(arcs)):
        arc, size = arcs[k], amounts[k]
        for a in range(n_arcs):
            flow[a] = 0.0
            room = min(max(up[a], down[a]), size) / size
            price[a] = 1e-7 if hidden[a] else cost[a] / max(room, 1e-3) + 1e-7
        level = np.zeros(n_nodes)
        # Moving the cell up sends flow along its arc; it must come back to the tail.
        source = ends[arc, 1] if signs[k] > 0 else ends[arc, 0]
        sink = ends[arc, 0] if signs[k] > 0 else ends[arc, 1]
        left = size
        while left > TINY * size:
            if not _shortest(
                source, sink, arc, ends, arc_ptr, arc_list, flow, up, down, price, level, via, size
            ):
                failed[k] = True
                break
            push, v = left, sink
            while v != source:
                a = via[v]
                forward = ends[a, 1] == v
                push = min(push, _residual(flow[a], up[a], down[a], forward)[0])
                v = ends[a, 0] if forward else ends[a, 1]
            v = sink
            while v != source:
                a = via[v]
                forward = ends[a, 1] == v
                flow[a] += push if forward else -push
                v = ends[a, 0] if forward else ends[a, 1]
            left -= push
        if not failed[k]:
            for a in range(n_arcs):
                if abs(flow[a]) > 1e-7 * size:
                    hidden[a] = True
    return failed
