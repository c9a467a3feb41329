"""The ledger: how many different noisy numbers have been given about each atom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

NONE: Mapping[str, int] = MappingProxyType({})


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
    cells: dict[str, Counter[str]] = field(default_factory=dict)
    """How many different cells were released that a variable tells apart, by statistic."""

    def of(self, statistic: str) -> np.ndarray:
        """Return the draws of a statistic so far, by atom."""
        return self.draws.setdefault(statistic, np.zeros(self.n_atoms, dtype=np.int64))

    def about(self, statistic: str) -> Counter[str]:
        """Return how many cells each variable told apart so far."""
        return self.cells.setdefault(statistic, Counter())

    def add(self, statistic: str, draws: np.ndarray, cells: Mapping[str, int] = NONE) -> None:
        """Write down new draws, by atom, and how many cells each variable told apart."""
        self.draws[statistic] = self.of(statistic) + draws
        self.about(statistic).update(cells)

    def most(self, statistic: str, atoms: np.ndarray) -> int:
        """Return the largest number of draws about any of these atoms."""
        return int(self.of(statistic)[atoms].max(initial=0))
