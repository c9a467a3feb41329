r"""Decomposable log-linear models of the table of the keys, fitted in closed form.

A model is a graph on the keys whose cycles have chords. Its vertices can be ordered so that the
earlier neighbours of each are joined to each other; the fitted count of a cell is then a product
of conditional shares,

.. math:: \hat\mu_k = n \prod_v \frac{n_{v, \mathrm{pa}(v)}(k)}{n_{\mathrm{pa}(v)}(k)},

so that neither iterations nor the whole cross product of the keys are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tacit.core.keys import group_ids

Edge = tuple[int, int]


@dataclass(frozen=True)
class KeyTable:
    """The non-empty cells of the table of the keys."""

    cells: np.ndarray
    """Cells by keys: one code per key, from 0; a missing value is a category of its own."""
    counts: np.ndarray
    """Number of records of each cell."""
    cell_of: np.ndarray
    """The cell of each record."""
    _ids: dict[frozenset[int], tuple[np.ndarray, int]] = field(default_factory=dict, repr=False)
    _everywhere: dict[frozenset[int], np.ndarray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, codes: np.ndarray) -> KeyTable:
        """Count the records of each combination of keys."""
        from tacit.core._keys_kernel import first_rows

        ids, n_cells = group_ids(codes)
        cells = codes[first_rows(ids, n_cells)]
        shifted = cells - cells.min(axis=0, initial=0)
        return cls(shifted, np.bincount(ids, minlength=n_cells).astype(np.float64), ids)

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return int(self.cells.shape[1])

    @property
    def n_records(self) -> float:
        """Number of records."""
        return float(self.counts.sum())

    @property
    def n_possible(self) -> float:
        """Number of cells of the cross product of the keys, empty ones included."""
        return float(np.prod(self.cells.max(axis=0, initial=0) + 1.0))

    def grouped(self, keys: frozenset[int]) -> tuple[np.ndarray, int]:
        """Give numbers to the cells by their values of some keys."""
        if keys not in self._ids:
            self._ids[keys] = group_ids(self.cells[:, sorted(keys)])
        return self._ids[keys]

    def margin(self, keys: frozenset[int]) -> np.ndarray:
        """Return, for each cell, the number of records that share its values of some keys."""
        ids, n_groups = self.grouped(keys)
        return np.asarray(np.bincount(ids, weights=self.counts, minlength=n_groups)[ids])

    def margin_everywhere(self, keys: frozenset[int]) -> np.ndarray:
        """Return, for every cell of the cross product, the records that share some of its keys."""
        if keys not in self._everywhere:
            shape = self.cells.max(axis=0, initial=0) + 1
            kept = np.isin(np.arange(self.n_keys), list(keys))
            totals = np.zeros(np.where(kept, shape, 1))
            np.add.at(totals, tuple(np.where(kept, self.cells, 0).T), self.counts)
            self._everywhere[keys] = np.broadcast_to(totals, shape).reshape(-1)
        return self._everywhere[keys]


@dataclass(frozen=True)
class DecomposableModel:
    """A log-linear model given by a graph without chordless cycles."""

    table: KeyTable
    neighbours: tuple[frozenset[int], ...]
    """For each key the keys it interacts with."""

    @classmethod
    def independence(cls, table: KeyTable) -> DecomposableModel:
        """Return the model without interactions."""
        return cls(table, (frozenset(),) * table.n_keys)

    @property
    def edges(self) -> list[Edge]:
        """Pairs of keys that interact."""
        return [(u, v) for u, near in enumerate(self.neighbours) for v in sorted(near) if u < v]

    def with_edge(self, edge: Edge) -> DecomposableModel:
        """Let two more keys interact."""
        u, v = edge
        near = list(self.neighbours)
        near[u], near[v] = near[u] | {v}, near[v] | {u}
        return DecomposableModel(self.table, tuple(near))

    def additions(self) -> Iterator[Edge]:
        """List the pairs whose addition leaves the model decomposable."""
        for u, v in combinations(range(self.table.n_keys), 2):
            if v not in self.neighbours[u] and not self._connected(u, v, without=self.common(u, v)):
                yield u, v

    def common(self, u: int, v: int) -> frozenset[int]:
        """Return the keys that interact with both."""
        return self.neighbours[u] & self.neighbours[v]

    def _connected(self, start: int, goal: int, without: frozenset[int]) -> bool:
        seen, waiting = {start, *without}, [start]
        while waiting:
            at = waiting.pop()
            if at == goal:
                return True
            waiting.extend(self.neighbours[at] - seen)
            seen |= self.neighbours[at]
        return False

    def ordered(self) -> list[tuple[int, frozenset[int]]]:
        """Order the keys, each with its earlier neighbours (maximum cardinality search)."""
        left, order = set(range(self.table.n_keys)), []
        done: frozenset[int] = frozenset()
        while left:
            key = max(sorted(left), key=lambda k: len(self.neighbours[k] & done))
            order.append((key, self.neighbours[key] & done))
            left.remove(key)
            done |= {key}
        return order

    def fitted(self) -> np.ndarray:
        """Return the expected number of records of each non-empty cell."""
        table = self.table
        expected = np.full(len(table.counts), table.n_records)
        for key, parents in self.ordered():
            expected *= table.margin(parents | {key}) / table.margin(parents)
        return expected

    def fitted_everywhere(self) -> np.ndarray:
        """Return the expected number of records of every cell of the cross product."""
        table = self.table
        expected = np.full(int(table.n_possible), table.n_records)
        for key, parents in self.ordered():
            joint = table.margin_everywhere(parents | {key})
            expected *= joint / np.maximum(table.margin_everywhere(parents), 1.0)
        return expected

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw cells with probability proportional to their expected numbers of records.

        Returns the cells and these numbers.
        """
        table, known = self.table, self.table.cells
        cells = np.zeros((n, table.n_keys), dtype=known.dtype)
        expected = np.full(n, table.n_records)
        for key, parents in self.ordered():
            columns = sorted(parents)
            ids, n_groups = group_ids(np.concatenate([known[:, columns], cells[:, columns]]))
            chosen = _drawn(ids[: len(known)], table.counts, ids[len(known) :], n_groups, rng)
            cells[:, key] = known[chosen, key]
            expected *= (table.margin(parents | {key}) / table.margin(parents))[chosen]
        return cells, expected

    # -- search -----------------------------------------------------------------------------------

    def gain(self, edge: Edge) -> tuple[float, int]:
        """Return twice the gain in log-likelihood by one more edge, and the parameters it adds."""
        u, v = edge
        common, table = self.common(u, v), self.table
        both, one, other = common | {u, v}, common | {u}, common | {v}
        ratio = (
            table.margin(both) * table.margin(common) / (table.margin(one) * table.margin(other))
        )
        return 2 * float(table.counts @ np.log(ratio)), self._n_parameters(one, other, common)

    def _n_parameters(
        self, one: frozenset[int], other: frozenset[int], common: frozenset[int]
    ) -> int:
        """Count the parameters of an interaction within the values that occur."""
        ids, n_groups = self.table.grouped(common)
        levels = []
        for keys in (one, other):
            finer, n_finer = self.table.grouped(keys)
            group_of = np.zeros(n_finer, dtype=np.int64)
            group_of[finer] = ids
            levels.append(np.bincount(group_of, minlength=n_groups))
        return int((levels[0] - 1) @ (levels[1] - 1))

    def path(self, penalty: float) -> Iterator[tuple[DecomposableModel, float]]:
        """Yield this model and, one edge after the other, larger ones up to the saturated model.

        Beside each model stands what its last edge was worth: the gain less `penalty` for each
        parameter, the largest that any edge offered.
        """
        model, last = self, np.inf
        known: dict[tuple[Edge, frozenset[int]], float] = {}
        while True:
            yield model, last
            worths = {}
            for edge in model.additions():
                at = (edge, model.common(*edge))
                if at not in known:
                    gain, n_parameters = model.gain(edge)
                    known[at] = gain - penalty * n_parameters
                worths[edge] = known[at]
            if not worths:
                return
            best = max(worths, key=lambda edge: worths[edge])
            model, last = model.with_edge(best), worths[best]


def _drawn(
    group_of: np.ndarray,
    counts: np.ndarray,
    wanted: np.ndarray,
    n_groups: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw, for each wanted group, one of its members with probability proportional to counts."""
    by_group = np.argsort(group_of, kind="stable")
    members = np.repeat(by_group, counts[by_group].astype(np.int64))
    sizes = np.bincount(group_of, weights=counts, minlength=n_groups).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    return np.asarray(members[starts[wanted] + rng.integers(0, sizes[wanted])])
