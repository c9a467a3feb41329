"""Sets of columns that local suppression may blank together, cheapest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

_MOST_SETS = 5_000
"""All sets up to some size are tried while there are no more than this many."""
_MOST_BATCHES = 40
_BEAM = 300
"""Sets of one size that are tried where there are too many to try all."""
_WORK = 5_000_000
"""Records times sets looked at together, which bounds memory and the time between interrupts."""


class ColumnSets:
    """Batches of column sets in order of cost.

    Small sets are all on offer. Where the columns are too many for that, larger sets grow from
    those that brought the violators closest to safety (a beam search).

    Parameters
    ----------
    costs
        Cost of blanking a value of each column; infinite for never.
    n_rows
        Rows that each set will be tried on, which limits how many sets a batch holds.
    """

    def __init__(self, costs: np.ndarray, n_rows: int) -> None:
        self.costs = costs
        self.columns = [int(j) for j in np.flatnonzero(np.isfinite(costs))]
        self.capacity = max(len(self.columns), min(_MOST_SETS, _WORK // max(n_rows, 1)))
        self._scores: dict[int, float] = {}

    def small(self) -> Iterator[np.ndarray]:
        """Yield batches of all sets up to the size of which there are not too many."""
        sizes = range(1, self._largest_full_size() + 1)
        sets = [_pattern(s) for size in sizes for s in combinations(self.columns, size)]
        yield from self._by_cost(np.array(sets, dtype=np.int64))

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield all small sets, then larger ones grown from those told to be promising."""
        yield from self.small()
        for size in range(self._largest_full_size() + 1, len(self.columns) + 1):
            grown = self._grown(size)
            self._scores = {}
            yield grown

    def learn(self, pattern: int, score: float) -> None:
        """Tell how close to safety the violators would come with a set."""
        self._scores[pattern] = score

    @property
    def everything(self) -> np.ndarray:
        """The set of all columns that may be blanked, in a batch of its own."""
        return np.array([_pattern(self.columns)], dtype=np.int64)

    def cost(self, sets: np.ndarray) -> np.ndarray:
        """Cost of blanking each set in one record."""
        bits = (sets[:, None] >> np.array(self.columns, dtype=np.int64)) & 1
        return np.asarray(bits @ self.costs[self.columns])

    def ranks(self, sets: np.ndarray) -> np.ndarray:
        """Rank the sets by cost; equal costs get equal ranks."""
        cost = np.round(self.cost(sets) / max(1e-300, self.costs[self.columns].min()), 9)
        return np.unique(cost, return_inverse=True)[1].astype(np.int64)

    def _largest_full_size(self) -> int:
        n_columns, size, total = len(self.columns), 0, 0
        while size < n_columns and (size == 0 or total + comb(n_columns, size + 1) <= self._limit):
            size += 1
            total += comb(n_columns, size)
        return size

    @property
    def _limit(self) -> int:
        return min(_MOST_SETS, 10 * self.capacity)

    @property
    def _beam(self) -> int:
        return max(len(self.columns), min(_BEAM, self.capacity))

    def _by_cost(self, sets: np.ndarray) -> Iterator[np.ndarray]:
        """Split into batches of equal cost, joined where they would be too many."""
        if not len(sets):
            return
        ranks = self.ranks(sets)
        order = np.lexsort((sets, ranks))
        joined = ranks[order] * _MOST_BATCHES // max(_MOST_BATCHES, int(ranks.max()) + 1)
        for batch in np.split(sets[order], np.flatnonzero(np.diff(joined)) + 1):
            yield from np.array_split(batch, -(-len(batch) // self.capacity))

    def _grown(self, size: int) -> np.ndarray:
        """Make sets of `size` columns from the most promising smaller ones."""
        promising = sorted(self._scores, key=lambda s: (-self._scores[s], s))
        grown: dict[int, None] = {}
        for parent in (s for s in promising if s.bit_count() == size - 1):
            grown.update((parent | 1 << j, None) for j in self.columns if not parent >> j & 1)
            if len(grown) >= self._beam:
                break
        sets = sorted(list(grown)[: self._beam])
        return np.array(sets, dtype=np.int64) if sets else self.everything


def _pattern(columns: tuple[int, ...] | list[int]) -> int:
    return sum(1 << j for j in columns)
