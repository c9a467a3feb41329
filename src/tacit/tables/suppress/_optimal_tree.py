"""Branch and cut for small tables: one tree over the relaxed master, cuts added where it is whole.

An integer programme of a few dozen cells is solved in a handful of nodes, in less time than it
takes to set one up; and a new cut does not begin the search anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_master import Master

WHOLE = 1e-6
"""Distance from 0 and 1 below which a choice is whole."""
NODES = 400
"""Nodes after which the tree is left to the integer solver."""
CELLS = 40_000
"""The same for all programmes together: nodes times cells."""

Node = tuple[float, dict[int, float]]
"""What nothing below the node can cost less than, and the cells chosen so far."""


class Searching(Protocol):
    """What a tree asks of the search it is part of."""

    @property
    def price(self) -> float:
        """Cost of the best pattern so far."""

    @property
    def left(self) -> float:
        """Seconds that are left."""

    def is_enough(self, bound: float) -> bool:
        """Whether nothing is worth looking for among patterns that cost this much at least."""

    def cut_off(self, choice: np.ndarray) -> bool:
        """Add cuts that rule a choice out; if it holds, offer its pattern."""

    def raise_bound(self, bound: float) -> None:
        """Note what no pattern can cost less than."""


class Tree:
    """The search below the relaxed master.

    Parameters
    ----------
    search
        The search that knows the best pattern, the threats and the time left.
    master
        Its master, with the cuts found so far.
    cells
        Nodes times cells at most.
    """

    def __init__(self, search: Searching, master: Master, cells: int = CELLS) -> None:
        self._search, self._master, self._cells = search, master, cells
        self._nodes: list[Node] = [(master.bound, {})]
        self._is_stuck = False
        """Whether time is over or a programme was not solved."""

    def run(self) -> None:
        """Search the tree; the bound of the search is raised to what was shown."""
        for _ in range(min(NODES, self._cells // max(len(self._master.open), 1))):
            if not self._nodes or self._is_stuck:
                break
            self._nodes += self._children(*self._nodes.pop())
        self._master.choose({})
        lowest = min((bound for bound, _ in self._nodes), default=np.inf)
        self._search.raise_bound(min(lowest, self._search.price))

    def _children(self, bound: float, chosen: dict[int, float]) -> list[Node]:
        """Solve a node; return its children, the one to be searched first at the end."""
        if self._search.is_enough(bound):
            return []
        known = bound
        self._master.choose(chosen)
        while self._search.left > 0:
            choice, bound = self._master.solved()
            if choice is None and np.isneginf(bound):
                break
            if choice is None or self._search.is_enough(bound):
                return []
            distance = np.minimum(choice, 1.0 - choice)
            if distance.max(initial=0.0) > WHOLE:
                cell = int(np.argmax(distance * self._master.cost))
                return [(bound, chosen | {cell: end}) for end in (0.0, 1.0)]
            if not self._search.cut_off(choice > 0.5):
                return []
        self._is_stuck = True
        return [(known, chosen)]
