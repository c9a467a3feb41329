"""The ledger: how many different noisy numbers have been given about each atom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass(eq=False)
class Ledger:
    """Counts, for each atom and statistic, the distinct noisy values that were released about it.

    Noise that is drawn afresh for every set averages out over many sets. What the average can
    reveal is bounded by the number of draws, which the ledger counts.

    Examples
    --------
    >>> ledger = Ledger(3)
    >>> ledger.add("count", np.array([1, 1, 0]))
    >>> ledger.add("count", np.array([1, 0, 0]))
    >>> ledger.most("count", np.array([True, False, False]))
    2
    """

    n_atoms: int
    draws: dict[str, np.ndarray] = field(default_factory=dict)
    cells: Counter[str] = field(default_factory=Counter)
    """How many different cells were released, by statistic."""

    def of(self, statistic: str) -> np.ndarray:
        """Return the draws of a statistic so far, by atom."""
        return self.draws.setdefault(statistic, np.zeros(self.n_atoms, dtype=np.int64))

    def add(self, statistic: str, draws: np.ndarray, cells: int = 0) -> None:
        """Write down new draws, by atom, and how many cells drew them."""
        self.draws[statistic] = self.of(statistic) + draws
        self.cells[statistic] += cells

    def most(self, statistic: str, atoms: np.ndarray) -> int:
        """Return the largest number of draws about any of these atoms."""
        return int(self.of(statistic)[atoms].max(initial=0))
