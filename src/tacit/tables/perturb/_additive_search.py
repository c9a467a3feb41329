"""Tables that add up again: the finest cells as free whole numbers, all others their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.progress import track
from tacit.tables._free_leaves import Leaves
from tacit.tables.table import Table

_PARTNERS = 6
"""How many leaves of a sum are tried as the partner of one that changes."""
_BEND = 0.1
"""A little of the squared deviation: it tells apart changes that cost the same otherwise."""
_ROUNDS = 30
_WINDOWS = (6.0, 30.0, 1000.0)
"""How far from their targets cells are sought by integer programming, one after the other."""


@dataclass
class Search:
    """Whole numbers at the leaves, and by how much each cell deviates from its target."""

    leaves: Leaves
    counts: np.ndarray
    deviation: np.ndarray
    weight: np.ndarray

    @classmethod
    def begin(cls, leaves: Leaves, target: np.ndarray, start: np.ndarray) -> Search:
        """Return the leaves at their start; cells without a target do not count."""
        counts = np.rint(start).astype(np.int64)
        goal = np.where(np.isnan(target), 0.0, np.rint(target))
        deviation = np.rint(leaves.sums @ counts - goal).astype(np.int64)
        return cls(leaves, counts, deviation, np.where(np.isnan(target), 0.0, 1.0))

    @property
    def cost(self) -> float:
        """Sum of the absolute deviations."""
        return float(self.weight @ np.abs(self.deviation))

    def improve(self, least: int, rng: np.random.Generator, rounds: int = _ROUNDS) -> None:
        """Change leaves, one or two at a time, until that no longer helps.

        Parameters
        ----------
        least
            Smallest value of a leaf that is not zero.
        """
        from tacit.tables.perturb import _additive_kernel as kernel

        by_leaf, by_cell = self.leaves.sums.tocsc(), self.leaves.sums
        links = (by_leaf.indptr.astype(np.int64), by_leaf.indices.astype(np.int64))
        state = (*links, self.deviation, self.weight, _BEND)
        members = (by_cell.indptr.astype(np.int64), by_cell.indices.astype(np.int64))
        everything = np.arange(len(self.counts))
        with track("restoring additivity", rounds) as advance:
            for k in range(rounds):
                order = rng.permutation(everything)
                before = self.cost
                changed = kernel.single_sweep(self.counts, least, True, order, *state)
                changed += kernel.pair_sweep(
                    self.counts, least, True, order, *state, *members, _PARTNERS, k
                )
                advance(1)
                if not changed or before - self.cost < 1e-4 * before:
                    break


def nearest_by_programme(
    table: Table, target: np.ndarray, free: np.ndarray, least: int, seconds: float
) -> np.ndarray | None:
    """Return the nearest additive whole numbers by integer programming, whatever the relations.

    For tables whose leaves are tied to each other; slow beyond some thousand cells. Values are
    sought near their targets first: a narrow programme is much easier.
    """
    for window in _WINDOWS:
        found = _within(table, target, free, least, window, seconds)
        if found is not None:
            return found
    return None


def _within(
    table: Table, target: np.ndarray, free: np.ndarray, least: int, window: float, seconds: float
) -> np.ndarray | None:
    from scipy.sparse import block_array, csc_array, dia_array, eye_array

    from tacit.tables._linear_program import LinearProgram

    n, n_sums = table.relations.shape[1], table.relations.shape[0]
    known = ~np.isnan(target)
    goal = np.where(known, target, 0.0)
    low = np.where(known & free, np.maximum(goal - window, 0.0), 0.0)
    far = goal + window if known.all() else np.full(n, goal.sum() + window)
    high = np.where(free, far, 0.0)
    one, none = eye_array(n), None
    most = dia_array((high[None, :], [0]), shape=(n, n))
    # Columns: values, distances, whether a value is above zero.
    rows = [
        [table.relations, none, none],
        [one, -one, none],
        [one, one, none],
        [one, none, -least * one],
        [one, none, -most],
    ]
    zero, wide = np.zeros(n), np.full(n, np.inf)
    programme = LinearProgram(
        csc_array(block_array(rows, format="csc")),
        np.concatenate([low, zero, (low >= least).astype(float)]),
        np.concatenate([high, np.full(n, np.inf), np.ones(n)]),
        cost=np.concatenate([zero, known.astype(float), zero]),
        row_lower=np.concatenate([np.zeros(n_sums), -wide, goal, zero, -wide]),
        row_upper=np.concatenate([np.zeros(n_sums), goal, wide, wide, zero]),
        integer=True,
    )
    programme.set_option("time_limit", seconds)
    programme.set_option("mip_rel_gap", 0.01)
    programme.solve()
    return np.rint(programme.values[:n]) if programme.has_solution else None


def raked(table: Table, leaves: Leaves, target: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Return the leaves fitted to the margins of one dimension each, in proportion.

    Margins of different dimensions are first brought to the same grand total.
    """
    counts = np.asarray(target[leaves.at], dtype=float)
    total = float(target[table.cell()])
    margins = [_margin(table, leaves, axis, target) for axis in range(len(table.dimensions))]
    for _ in range(rounds):
        worst = 0.0
        for group, wanted in margins:
            wanted = wanted * (total / wanted.sum() if wanted.sum() > 0 else 0.0)
            present = np.bincount(group, counts, len(wanted))
            scale = np.divide(wanted, present, out=np.ones(len(wanted)), where=present > 0)
            counts = counts * scale[group]
            worst = max(worst, float(np.abs(present - wanted).max(initial=0.0)))
        if worst < 1e-9 * max(total, 1.0):
            break
    return counts


def _margin(
    table: Table, leaves: Leaves, axis: int, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of each leaf in one dimension and the target of each code's margin."""
    codes, group = np.unique(table.codes[leaves.at, axis], return_inverse=True)
    totals = np.array([d.index[d.total] for d in table.dimensions])
    wanted = np.tile(totals, (len(codes), 1))
    wanted[:, axis] = codes
    from tacit.tables._selection import code_keys

    keys, order = table.keys
    at = order[np.searchsorted(keys, code_keys(wanted, table.dimensions))]
    return group, np.maximum(target[at], 0.0)
