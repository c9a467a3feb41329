"""What respondents know of a table before anything of it is published: their own cells."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tacit.tables._attacker import distinct_relations
from tacit.tables._audit_nearby import LARGE, Neighbourhood
from tacit.tables._audit_proof import Extremes
from tacit.tables._audit_system import System, propagated
from tacit.tables._free_leaves import Leaves, free_leaves
from tacit.tables.table import Table

NEAR = (1_000, 5_000)
"""Cells around a cell of a large table among which it is moved, in turn, before the whole is
asked."""
HAIR = 1e-9
"""Share of a value by which two ends that are the same may differ."""


class Beforehand:
    """How far a cell can differ from its value for someone who knows some cells and no others.

    Nobody can be made more uncertain than this, so requirements end here. A respondent who has
    most of a sum knows that the sum is not less than that.

    Parameters
    ----------
    table
        The table.
    bounds
        What anyone knows beforehand of each cell; those of the table unless given.
    until
        When to stop (monotonic time); a question that is open then raises `UnsolvedError`.
    """

    def __init__(
        self,
        table: Table,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
        until: float = np.inf,
    ) -> None:
        self._table, self._until = table, until
        self._bounds = table.bounds if bounds is None else bounds

    @cached_property
    def _system(self) -> System:
        value, (lower, upper) = self._table.value, self._bounds
        return System(
            np.arange(len(value)), distinct_relations(self._table.relations),
            np.minimum(lower - value, 0.0), np.maximum(upper - value, 0.0),
        )  # fmt: skip

    @cached_property
    def _leaves(self) -> Leaves | None:
        """The finest cells, if what anyone knows of sums follows from what is known of these."""
        value, (lower, upper) = self._table.value, self._bounds
        found = free_leaves(self._table, np.ones(len(value), dtype=bool))
        if found is None:
            return None
        hair = HAIR * np.maximum(np.abs(value), 1.0)
        least, most = (found.sums @ side[found.at] for side in (lower, upper))
        follows = (lower <= least + hair) & (upper >= most - hair)
        return found if follows.all() else None

    @cached_property
    def _extremes(self) -> Extremes:
        return Extremes(self._system, self._until)

    @cached_property
    def _cut(self) -> Neighbourhood:
        return Neighbourhood(self._system)

    def reach(self, cell: int, sign: float, known: np.ndarray, enough: float = np.inf) -> float:
        """Return how far a cell can move up (1) or down (-1), or no less than is enough."""
        if self._leaves is not None:
            return max(self._by_leaves(self._leaves, cell, sign, known), 0.0)
        for limit in NEAR if len(self._system) > LARGE else ():
            size = HAIR * max(abs(float(self._table.value[cell])), 1.0)
            near = self._cut.around(cell, limit, above=True)
            most = self._propagated(near, cell, sign, known)
            if most <= size:
                return 0.0
            reached = _extreme(self._cut.part(near), cell, sign, known)
            if reached < enough and most - reached > size:
                most = _extreme(self._cut.closed(near), cell, sign, known)
            if reached >= enough or most - reached <= size:
                return max(reached, 0.0)
        at, weight = np.array([cell]), np.array([float(sign)])
        return max(self._extremes.largest(at, weight, known)[0], 0.0)

    def _by_leaves(self, leaves: Leaves, cell: int, sign: float, known: np.ndarray) -> float:
        """Return how far a cell can move, by its finest cells.

        Those that are in the same known cells are one: few are left of any number.
        """
        from scipy.sparse import csr_array

        rows = leaves.sums[np.append(cell, known)]
        parts = np.unique(rows.indices)
        is_in = rows[:, parts].toarray() != 0
        names = np.ascontiguousarray(np.packbits(is_in, axis=0).T)
        _, first, kind = np.unique(names, axis=0, return_index=True, return_inverse=True)
        at, is_in = leaves.at[parts], is_in[:, first]
        lower, upper = (
            np.bincount(kind.ravel(), side[at]) for side in (self._system.lower, self._system.upper)
        )
        few = System(first, csr_array(is_in[1:].astype(float)), lower, upper)
        inside = np.flatnonzero(is_in[0])
        return Extremes(few).largest(inside, np.full(len(inside), float(sign)))[0]

    def _propagated(self, near: np.ndarray, cell: int, sign: float, known: np.ndarray) -> float:
        """Return more than a cell can move, or as much: what the relations around it allow."""
        part = self._cut.closed(near)
        free = ~np.isin(part.cells, known)
        value = np.maximum(np.abs(self._table.value[part.cells]), 1.0)
        lower, upper = propagated(
            part.relations, np.where(free, part.lower, 0.0), np.where(free, part.upper, 0.0), value
        )
        at = int(np.flatnonzero(part.cells == cell)[0])
        return float(upper[at] if sign > 0 else -lower[at])


def _extreme(part: System, cell: int, sign: float, known: np.ndarray) -> float:
    """Return how far a cell can move in a part of a system.

    If the part has all cells of some relations this is no less than it can move in the whole; if
    all other cells stay where they are, no more.
    """
    at = np.flatnonzero(part.cells == cell)
    held = np.flatnonzero(np.isin(part.cells, known))
    return Extremes(part).largest(at, np.array([float(sign)]), held)[0]
