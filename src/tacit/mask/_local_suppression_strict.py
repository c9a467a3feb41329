"""Local suppression where missing is a value of its own: truly k-anonymous classes.

Small classes are merged by blanking the same values in all their records. An offer (a set of
columns and the classes that agree outside it) has a price: what must be blanked, in its violators
and in the records they borrow from larger classes, per violating record. Cheap offers go first;
dearer sets of columns are looked at only when nothing cheaper than them is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.core.progress import track
from tacit.mask import _local_suppression_strict_kernel as kernel
from tacit.mask._local_suppression_crowd import Crowd, blank_out, fewest_in_reach, rare
from tacit.mask._local_suppression_kernel import classes, empty_slots
from tacit.mask._local_suppression_regain import Regain
from tacit.mask._local_suppression_sets import ColumnSets

_PRICE_STEP = 1.05
"""Offers within this factor of the cheapest are accepted in one sweep."""
_MOST_MEMBERS = 100_000_000
"""Entries of offers kept in memory; the oldest go first."""

_NO_OFFERS = kernel.Offers(
    np.empty(0, np.int64), np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0)
)


def suppress(
    codes: np.ndarray, combinations: Sequence[Sequence[int]], k: int, costs: np.ndarray
) -> np.ndarray:
    """Return which values to blank for every combination of columns to have classes of k.

    Blanking takes a record out of its classes on other combinations, so these cannot be treated
    one by one. Records at risk on any combination are therefore merged on all columns at once,
    which makes them safe on every combination, until nobody is at risk; then what no combination
    needs is given back.
    """
    now = codes.copy()
    targets = _targets(codes, combinations, k, costs)
    with track("local suppression") as advance:
        while any([_merge(now, target, combinations, k, costs, advance) for target in targets]):
            pass
    if len(combinations) > 1:
        regain = Regain(codes, now != codes, combinations, k, costs)
        records, blanks = regain.run()
        now = codes.copy()
        blank_out(now, records, range(codes.shape[1]), blanks)
    return np.asarray(now != codes)


def _targets(
    codes: np.ndarray, combinations: Sequence[Sequence[int]], k: int, costs: np.ndarray
) -> Sequence[Sequence[int]]:
    """Columns to merge on: all, unless those that must be kept are too rare together."""
    everything = list(range(codes.shape[1]))
    if fewest_in_reach(codes, everything, costs, "strict") >= k:
        return [everything]
    return combinations


def _merge(
    now: np.ndarray,
    target: Sequence[int],
    combinations: Sequence[Sequence[int]],
    k: int,
    costs: np.ndarray,
    advance: Callable[[float], None],
) -> bool:
    """Merge the records at risk on combinations within some columns; return whether any lost."""
    within = [columns for columns in combinations if set(columns) <= set(target)]
    at_risk = rare(now, within, k, "strict")
    if not at_risk.any():
        return False
    blanks = StrictSuppression(now[:, target], k, costs[target], at_risk).run(advance)
    touched = np.flatnonzero(blanks)
    blank_out(now, touched, target, blanks[touched])
    return len(touched) > 0


class StrictSuppression:
    """Blank few values so that each key, missing values included, is shared by k records.

    Parameters
    ----------
    codes
        Codes of the columns, records by columns, -1 for missing.
    k
        Smallest number of records with equal keys.
    costs
        Cost of blanking a value of each column; infinite for never.
    at_risk
        Records that must end up in a class of k; others may stay in smaller ones.
    """

    def __init__(self, codes: np.ndarray, k: int, costs: np.ndarray, at_risk: np.ndarray) -> None:
        self.k, self.costs = k, costs
        crowd = Crowd.of(codes)
        risky = np.bincount(crowd.row_of[at_risk], minlength=len(crowd.rows)) > 0
        self.nodes = _nodes(crowd, np.where(risky | (crowd.counts >= k), k, 0))
        self.sets = ColumnSets(costs, len(crowd.rows))
        self.offers = _NO_OFFERS

    def run(self, advance: Callable[[float], None]) -> np.ndarray:
        """Return the pattern of what each record loses."""
        batches = iter(self.sets)
        sets = next(batches, None)
        while sets is not None and self.n_violators:
            self._open(sets)
            following = next(batches, None)
            self._accept(np.inf if following is None else self._reach(sets), advance)
            sets = following
        self._merge_the_rest(advance)
        return np.asarray(self.nodes.blanks)

    @property
    def n_violators(self) -> int:
        """Number of records whose class is too small."""
        counts = self.nodes.counts
        return int(counts[counts < self.nodes.quorum].sum())

    def _merge_the_rest(self, advance: Callable[[float], None]) -> None:
        """Blank all columns where violators are left whose larger neighbours were used up."""
        left, before = self.n_violators, -1
        while left not in (0, before):
            self.offers = _NO_OFFERS
            self._open(self.sets.everything)
            self._accept(np.inf, advance)
            left, before = self.n_violators, left

    def _reach(self, sets: np.ndarray) -> float:
        """Price from which larger sets may be better."""
        return float(self.sets.cost(sets).max() + self.costs[self.sets.columns].min())

    def _open(self, sets: np.ndarray) -> None:
        """Add the offers of a batch of sets."""
        live = np.flatnonzero(self.nodes.counts).astype(np.int32)
        opened = [self.offers]
        for pattern in sets.tolist():
            opened.append(self._offers(live, pattern))
        size = sum(len(o.members) for o in opened)
        while size > _MOST_MEMBERS and len(opened) > len(sets):
            size -= len(opened.pop(0).members)
        self.offers = _joined(opened)

    def _offers(self, live: np.ndarray, pattern: int) -> kernel.Offers:
        groups, listed, starts = classes(self.nodes.rows, live, pattern)
        n_groups = int(groups.max()) + 1
        sizes, at_risk = kernel.violated(
            groups, self.nodes.counts[live], self.nodes.quorum[live], n_groups
        )
        self.sets.learn(pattern, float(np.minimum(sizes[at_risk], self.k).sum()))
        useful = at_risk & (sizes >= self.k)
        lengths = np.diff(starts)[:n_groups]
        return kernel.Offers(
            np.full(int(useful.sum()), pattern),
            live[listed[np.repeat(useful, lengths)]],
            np.append(0, np.cumsum(lengths[useful])),
            np.zeros(int(useful.sum())),
        )

    def _accept(self, limit: float, advance: Callable[[float], None]) -> None:
        """Accept offers from the cheapest up."""
        self.offers.floor[:] = 0
        price = 0.0
        while price <= limit:
            helped, lowest = kernel.sweep(self.nodes, self.offers, self.costs, self.k, price)
            advance(helped)
            if not np.isfinite(lowest):
                break
            price = lowest if lowest > limit else min(limit, lowest * _PRICE_STEP)


def _nodes(crowd: Crowd, quorum: np.ndarray) -> kernel.Nodes:
    n_rows, n_columns = crowd.rows.shape
    room = n_rows + int((crowd.counts < quorum).sum()) + 1
    nodes = kernel.Nodes(
        rows=np.zeros((room, n_columns), dtype=np.int32),
        counts=np.zeros(room, dtype=np.int64),
        quorum=np.zeros(room, dtype=np.int64),
        slots=empty_slots(room),
        size=np.array([n_rows]),
        first_record=np.full(room, -1, dtype=np.int64),
        next_record=np.full(len(crowd.row_of), -1, dtype=np.int64),
        blanks=np.zeros(len(crowd.row_of), dtype=np.int64),
    )
    nodes.rows[:n_rows] = crowd.rows
    nodes.counts[:n_rows] = crowd.counts
    nodes.quorum[:n_rows] = quorum
    kernel.enter(nodes, crowd.row_of)
    return nodes


def _joined(parts: list[kernel.Offers]) -> kernel.Offers:
    ends = np.cumsum([len(p.members) for p in parts])
    starts = [p.starts[1:] + end - len(p.members) for p, end in zip(parts, ends, strict=True)]
    return kernel.Offers(
        np.concatenate([p.sets for p in parts]),
        np.concatenate([p.members for p in parts]),
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate([p.floor for p in parts]),
    )
