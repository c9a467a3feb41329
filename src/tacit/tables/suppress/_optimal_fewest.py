"""Ties: of the patterns of least cost, one of the fewest cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.suppress._optimal_cuts import Cut
from tacit.tables.suppress._optimal_tree import Tree

if TYPE_CHECKING:
    from tacit.tables.suppress._optimal_master import Master
    from tacit.tables.suppress._optimal_search import Search

CELLS = 20_000
"""Nodes of the tree times cells, at most: a tie of cost is not worth more."""
HAIR = 1e-6
"""Share of a cell by which a bound on their number may be wrong."""


class Fewest:
    """The search below the least cost, which is known: now cells are counted.

    Every cut holds of any pattern that protects all cells, so the master is the same but for its
    costs and for one more row: no pattern may cost more than the cheapest. A bound on the number
    of cells is right although the solver keeps that row only to its tolerance; what is found counts
    only if it costs no more, by arithmetic.

    Parameters
    ----------
    search
        The search that has proven its best pattern to be a cheapest one.
    master
        Its master, with the cuts found so far.
    """

    def __init__(self, search: Search, master: Master) -> None:
        self._search, self._master = search, master
        self._bound = 0.0

    def run(self) -> bool:
        """Search the tree; return whether no pattern of least cost has fewer cells."""
        search, master = self._search, self._master
        master.count(search.price, search.step)
        Tree(self, master, CELLS).run()
        return self.is_enough(self._bound)

    @property
    def price(self) -> float:
        """Number of cells suppressed on top."""
        return float((self._search.best & ~self._search.problem.fixed).sum())

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._search.left

    def is_enough(self, bound: float) -> bool:
        """Whether no pattern is worth looking for among those of this many cells at least."""
        return bool(np.ceil(bound - HAIR) >= self.price)

    def cut_off(self, choice: np.ndarray) -> bool:
        """Add cuts that rule a choice out; if it holds and is cheap, offer its pattern."""
        before = self.price
        if self._search.cut_off(choice):
            return True
        if self.price < before:
            return False
        chosen = np.flatnonzero(choice)  # dearer by less than the solver sees
        self._master.add([Cut(chosen, -np.ones(len(chosen)), least=1.0 - len(chosen))])
        return True

    def raise_bound(self, bound: float) -> None:
        """Note how many cells every pattern of least cost has."""
        self._bound = max(self._bound, bound)
