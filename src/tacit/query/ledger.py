"""The ledger: how many different noisy numbers were given about each atom, and each variable."""

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
    about: Counter[str] = field(default_factory=Counter)
    """How many numbers that depend on a variable were given, in tables and models together."""
    models: set[str] = field(default_factory=set)
    """Models whose numbers are in `about`."""

    def of(self, statistic: str) -> np.ndarray:
        """Return the draws of a statistic so far, by atom."""
        return self.draws.setdefault(statistic, np.zeros(self.n_atoms, dtype=np.int64))

    def add(self, statistic: str, draws: np.ndarray, about: Mapping[str, int] = NONE) -> None:
        """Write down new draws, by atom, and how many numbers depend on each variable."""
        self.draws[statistic] = self.of(statistic) + draws
        self.about.update(about)

    def would_exceed(self, about: Mapping[str, int], most: float) -> bool:
        """Whether with these more than `most` numbers would depend on some variable."""
        return any(self.about[name] + new > most for name, new in about.items() if new)

    def most(self, statistic: str, atoms: np.ndarray) -> int:
        """Return the largest number of draws about any of these atoms."""
        return int(self.of(statistic)[atoms].max(initial=0))
