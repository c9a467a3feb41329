"""Merging small classes by suppression, on arrays (numba).

A *node* is a class of records with equal keys, missing being a value. An *offer* is a set of
columns and the nodes that agree outside it: blanking the set merges them into one node, the
target. Nodes below k are violators; larger ones may give records away, down to k or all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit
from tacit.mask._local_suppression_kernel import hash_row, rows_agree

_LOAN = 1.25
"""Price of a value of a borrowed record: dearer, for it was not at risk."""


class Nodes(NamedTuple):
    """Classes of records; there is room for those to come. Changed by `sweep`."""

    rows: np.ndarray
    """Key of each node; the first unused row is scratch space."""
    counts: np.ndarray
    """Records of each node."""
    quorum: np.ndarray
    """Records each node must keep, if it keeps any: k, or none for a small one not at risk."""
    slots: np.ndarray
    """Hash table of the keys."""
    size: np.ndarray
    """Number of nodes, as an array of one."""
    first_record: np.ndarray
    """First record of each node, -1 for none."""
    next_record: np.ndarray
    """For each record the next one of its node."""
    blanks: np.ndarray
    """Pattern of the values each record lost."""


class Offers(NamedTuple):
    """Sets of columns with the nodes each would merge."""

    sets: np.ndarray
    """Columns of each offer, as a pattern."""
    members: np.ndarray
    """Nodes, offer by offer."""
    starts: np.ndarray
    """Where each offer starts in `members`."""
    floor: np.ndarray
    """Lowest known price of each offer; changed by `sweep`."""


@njit(cache=True)
def _slot(nodes: Nodes, row: int) -> np.uint64:
    """Slot of the node with this row's key, or the empty slot where it would be."""
    columns = np.arange(nodes.rows.shape[1])
    last = np.uint64(nodes.slots.size - 1)
    at = hash_row(nodes.rows, row, columns) & last
    while nodes.slots[at] >= 0 and not rows_agree(nodes.rows, row, nodes.slots[at], columns):
        at = (at + np.uint64(1)) & last
    return at


@njit(cache=True)
def enter(nodes: Nodes, node_of: np.ndarray) -> None:
    """Enter all nodes in the hash table and string up their records in file order."""
    for x in range(nodes.size[0]):
        nodes.slots[_slot(nodes, x)] = x
    for r in range(node_of.size - 1, -1, -1):
        nodes.next_record[r] = nodes.first_record[node_of[r]]
        nodes.first_record[node_of[r]] = r


@njit(cache=True)
def _target_slot(nodes: Nodes, node: int, pattern: int) -> np.uint64:
    """Slot of the key that a node would have without the columns of a pattern."""
    scratch = nodes.size[0]
    for j in range(nodes.rows.shape[1]):
        nodes.rows[scratch, j] = -1 if (pattern >> j) & 1 else nodes.rows[node, j]
    return _slot(nodes, scratch)


@njit(cache=True, inline="always")
def _price(rows: np.ndarray, row: int, pattern: int, costs: np.ndarray) -> float:
    """Cost of blanking a pattern in one record; what is missing already costs nothing."""
    total = 0.0
    for j in range(rows.shape[1]):
        if (pattern >> j) & 1 and rows[row, j] >= 0:
            total += costs[j]
    return total


@njit(cache=True)
def _assess(
    nodes: Nodes, members: np.ndarray, pattern: int, target: int, costs: np.ndarray, k: int
) -> tuple[float, int, int]:
    """Price per violating record of an offer, the records it must borrow, and a donor to empty.

    The donor is -1 where the surplus of the larger nodes suffices.
    """
    present = nodes.counts[target] if target >= 0 else 0
    short, paid, surplus, donor = 0, 0.0, 0, -1
    dearest = 0.0
    for x in members:
        count = nodes.counts[x]
        if count == 0 or x == target:
            continue
        price = _price(nodes.rows, x, pattern, costs)
        if count < nodes.quorum[x]:
            short += count
            paid += count * price
        else:
            surplus += count - nodes.quorum[x]
            dearest = max(dearest, price)
            if donor < 0 or count < nodes.counts[donor]:
                donor = x
    helped = short
    if present and present < nodes.quorum[target]:
        helped += present
    borrowed = max(0, k - short - present)
    if helped == 0 or (borrowed > surplus and donor < 0):
        return np.inf, 0, -1
    if borrowed <= surplus:
        donor = -1
    else:
        borrowed = nodes.counts[donor]
    return (paid + _LOAN * borrowed * dearest) / helped, borrowed, donor


@njit(cache=True)
def _move(nodes: Nodes, source: int, target: int, n_records: int, pattern: int) -> None:
    """Blank a pattern in some records of a node, which so join the target."""
    for _ in range(n_records):
        r = nodes.first_record[source]
        nodes.first_record[source] = nodes.next_record[r]
        nodes.next_record[r] = nodes.first_record[target]
        nodes.first_record[target] = r
        nodes.blanks[r] |= pattern
    nodes.counts[source] -= n_records
    nodes.counts[target] += n_records


@njit(cache=True)
def _accept(
    nodes: Nodes,
    members: np.ndarray,
    pattern: int,
    slot: np.uint64,
    borrowed: int,
    donor: int,
    k: int,
) -> int:
    """Merge the violators of an offer, with the records they borrow; return how many were short."""
    target = nodes.slots[slot]
    if target < 0:
        target = nodes.size[0]
        nodes.slots[slot] = target
        nodes.size[0] += 1
    helped = nodes.counts[target] if nodes.counts[target] < nodes.quorum[target] else 0
    nodes.quorum[target] = k
    for x in members:
        count = nodes.counts[x]
        if x == target or count == 0:
            continue
        if count < nodes.quorum[x]:
            helped += count
            _move(nodes, x, target, count, pattern)
        elif donor < 0 and borrowed > 0:
            taken = min(borrowed, count - nodes.quorum[x])
            borrowed -= taken
            _move(nodes, x, target, taken, pattern)
    if donor >= 0:
        _move(nodes, donor, target, borrowed, pattern)
    return helped


@njit(cache=True)
def sweep(
    nodes: Nodes, offers: Offers, costs: np.ndarray, k: int, highest: float
) -> tuple[int, float]:
    """Accept all offers up to a price; return the records helped and the next lowest price."""
    helped, lowest = 0, np.inf
    for o in range(offers.sets.size):
        if offers.floor[o] <= highest:
            members = offers.members[offers.starts[o] : offers.starts[o + 1]]
            slot = _target_slot(nodes, members[0], offers.sets[o])
            price, borrowed, donor = _assess(
                nodes, members, offers.sets[o], nodes.slots[slot], costs, k
            )
            if price <= highest:
                helped += _accept(nodes, members, offers.sets[o], slot, borrowed, donor, k)
                price = np.inf
            offers.floor[o] = price
        lowest = min(lowest, offers.floor[o])
    return helped, lowest


@njit(cache=True)
def violated(
    groups: np.ndarray, counts: np.ndarray, quorum: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Size of each group of nodes, and whether it holds a violator."""
    sizes = np.zeros(n_groups, np.int64)
    at_risk = np.zeros(n_groups, np.bool_)
    for x in range(groups.size):
        sizes[groups[x]] += counts[x]
        at_risk[groups[x]] |= 0 < counts[x] < quorum[x]
    return sizes, at_risk
