"""The lattice of full-domain generalisations: counting the classes of one combination of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.keys import group_ids
from tacit.mask._classes import first_of
from tacit.mask._generalise_domains import Domain
from tacit.mask._generalise_objectives import Objective, Tally
from tacit.mask._privacy_models import Conditions

_MOST_KEPT = 40_000_000
"""Numbers held in kept groupings."""
_WORTH_KEEPING = 0.6
"""A grouping is kept where it has at most this share of the classes of the one it came from."""

_LARGEST_TABLE = 1_000_000
"""Cells of a table of two keys beyond which it is not made."""
_SLACK = 1e-6
"""Forced suppressions are sums of shares, which are inexact."""

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Check:
    """What one combination of levels gives."""

    levels: Levels
    n_suppressed: int
    """Records in classes that fail."""
    rules_out_finer: bool = True
    """Whether every finer combination must break the conditions too."""
    is_met: bool = False
    """Whether the conditions hold with as many records suppressed as allowed."""
    total: float = np.inf
    """The sum that the search minimises."""
    lasting_excess: np.ndarray | None = None
    """Per key, what is suppressed here and at every finer combination."""
    floor_above: float = 0.0
    """Bound of the total of every coarser combination."""


@dataclass(frozen=True)
class _Grouping:
    """Classes at one combination of levels, from which coarser ones are counted."""

    levels: np.ndarray
    rows: np.ndarray
    """One distinct row of each class."""
    sizes: np.ndarray
    members: np.ndarray | None
    """Class of each distinct row, where confidential values must be counted."""


class Lattice:
    """All combinations of levels of some keys, over the distinct rows of a file."""

    def __init__(
        self,
        domains: Sequence[Domain],
        conditions: Conditions,
        objective: Objective,
        max_suppressed: int,
        *,
        strict: bool,
    ) -> None:
        self.domains, self.conditions, self.objective = domains, conditions, objective
        self.max_suppressed, self.strict = max_suppressed, strict
        codes = np.stack([d.codes for d in domains])
        self.row_of, n_rows = group_ids(codes.T)
        self.codes = np.ascontiguousarray(codes[:, first_of(self.row_of, n_rows)])
        self.sizes = np.bincount(self.row_of, minlength=n_rows)
        self.n_records = len(self.row_of)
        self._pairs = [_pairs(self.row_of, c.codes) for c in conditions.columns]
        self._losses = [objective.cell_losses(d) for d in domains]
        self.means = [
            losses @ np.bincount(d.codes, minlength=losses.shape[1]) / max(self.n_records, 1)
            for d, losses in zip(domains, self._losses, strict=True)
        ]
        start = np.zeros(len(domains), dtype=np.int64)
        members = np.arange(n_rows) if conditions.columns else None
        self._kept = [_Grouping(start, np.arange(n_rows), self.sizes, members)]
        self._kept_levels, self._kept_sizes, self._n_kept = start[None], np.array([n_rows]), 0
        self.n_checks = 0

    # -- two keys -------------------------------------------------------------------------------

    def n_too_few(self, j: int, other: int) -> np.ndarray | None:
        """Count the records that two keys alone leave in classes below k, by levels of both.

        All keys together leave no fewer. None where the two have too many values to look at.
        """
        a, b = self.domains[j], self.domains[other]
        shape = a.labels.shape[1], b.labels.shape[1]
        if shape[0] * shape[1] > _LARGEST_TABLE:
            return None
        cells = self.codes[j].astype(np.int64) * shape[1] + self.codes[other]
        table = np.bincount(cells, self.sizes, minlength=shape[0] * shape[1]).reshape(shape)
        found = np.zeros((a.n_levels, b.n_levels))
        for level, labels in enumerate(a.labels):
            joined = _joined(table, labels)
            for above, names in enumerate(b.labels):
                counts = _joined(joined.T, names)
                found[level, above] = counts[counts < self.conditions.k].sum()
        return found

    # -- one combination ------------------------------------------------------------------------

    def check(self, levels: Levels) -> Check:
        """Count the classes at these levels and judge them."""
        self.n_checks += 1
        grouping = self._grouped(levels)
        forced = self._forced(grouping)
        if forced.sum() > self.max_suppressed + _SLACK:
            return Check(levels, int(grouping.sizes[forced > 0].sum()))
        return self._judged(levels, grouping, forced)

    def _judged(self, levels: Levels, grouping: _Grouping, forced: np.ndarray) -> Check:
        out = np.where(forced > 0, grouping.sizes, 0)
        n_out = int(out.sum())
        lasting = self._excess(levels, grouping, forced)
        excess = lasting if forced.sum() == n_out else self._excess(levels, grouping, out)
        released = grouping.sizes[forced == 0].astype(np.float64)
        tally = Tally(excess, len(released), float(np.sum(released**2)), n_out, self.n_records)
        means = np.array([self.means[j][level] for j, level in enumerate(levels)])
        return Check(
            levels,
            n_out,
            rules_out_finer=False,
            is_met=n_out <= self.max_suppressed
            and self._blank_class_holds(levels, grouping, forced > 0),
            total=self.objective.total(means, tally),
            lasting_excess=lasting,
            floor_above=self.objective.floor_above(grouping.sizes),
        )

    def suppressed_records(self, levels: Levels) -> np.ndarray:
        """Return for each record whether its class at these levels fails."""
        classes = self._classes_from(self._kept[0], levels)
        members = np.asarray(classes[0])
        grouping = _Grouping(np.array(levels), classes[1], classes[2], members)
        return np.asarray((self._forced(grouping) > 0)[members][self.row_of])

    def _grouped(self, levels: Levels) -> _Grouping:
        wanted = np.array(levels)
        finer = np.flatnonzero((self._kept_levels <= wanted).all(axis=1))
        source = self._kept[finer[np.argmin(self._kept_sizes[finer])]]
        ids, first, sizes = self._classes_from(source, levels)
        members = None if source.members is None else ids[source.members]
        grouping = _Grouping(wanted, first, sizes, members)
        if len(first) <= _WORTH_KEEPING * len(source.rows):
            self._keep(grouping)
        return grouping

    def _classes_from(
        self, source: _Grouping, levels: Levels
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from tacit.mask._generalise_kernel import classes

        maps = self._at(levels, [d.labels for d in self.domains]).astype(np.int32)
        radices = maps.max(axis=1).astype(np.int64) + 1
        ids, first, sizes = classes(self.codes, source.rows, source.sizes, maps, radices)
        return ids, first, sizes

    def _at(self, levels: Levels, tables: Sequence[np.ndarray]) -> np.ndarray:
        """Stack one level of each key's table, padded to the widest."""
        width = max(table.shape[1] for table in tables)
        stacked = np.zeros((len(tables), width))
        for j, (table, level) in enumerate(zip(tables, levels, strict=True)):
            stacked[j, : table.shape[1]] = table[level]
        return stacked

    def _keep(self, grouping: _Grouping) -> None:
        members = 0 if grouping.members is None else len(grouping.members)
        self._n_kept += 2 * len(grouping.rows) + members
        if self._n_kept <= _MOST_KEPT:
            self._kept.append(grouping)
            self._kept_levels = np.vstack([self._kept_levels, grouping.levels])
            self._kept_sizes = np.append(self._kept_sizes, len(grouping.rows))

    # -- judging --------------------------------------------------------------------------------

    def _forced(self, grouping: _Grouping) -> np.ndarray:
        """Return how many records of each class this and every finer combination must suppress.

        It is above 0 exactly for the classes that fail here.
        """
        from tacit.mask._privacy_models_kernel import mark_failing

        too_small = grouping.sizes < self.conditions.k
        forced = np.where(too_small, grouping.sizes, 0).astype(np.float64)
        if grouping.members is None:
            return forced
        for (rows, values, amounts), column in zip(
            self._pairs, self.conditions.columns, strict=True
        ):
            # Once too many are out for good, the rest need not be known.
            if forced.sum() > self.max_suppressed + _SLACK:
                break
            mark_failing(
                grouping.members[rows], values, amounts, grouping.sizes, column.arguments, forced
            )
        return forced

    def _excess(self, levels: Levels, grouping: _Grouping, out: np.ndarray) -> np.ndarray:
        from tacit.mask._generalise_kernel import excess

        losses = self._at(levels, self._losses)
        sums = excess(self.codes, grouping.rows, out.astype(np.float64), losses)
        return np.asarray(sums / self.n_records)

    def _blank_class_holds(self, levels: Levels, grouping: _Grouping, fails: np.ndarray) -> bool:
        """Whether the suppressed records, which all look alike, meet the conditions themselves."""
        if not self.strict or not fails.any():
            return True
        blank = fails | self._is_blank(levels, grouping.rows)
        if grouping.members is None:
            return int(grouping.sizes[blank].sum()) >= self.conditions.k
        return self.conditions.hold(np.flatnonzero(blank[grouping.members][self.row_of]))

    def _is_blank(self, levels: Levels, rows: np.ndarray) -> np.ndarray:
        """Return which rows show nothing but missing values at these levels."""
        blank = np.ones(len(rows), dtype=bool)
        for domain, codes, level in zip(self.domains, self.codes, levels, strict=True):
            blank &= domain.is_blank(level)[codes[rows]]
        return blank


def _joined(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Add up the rows of a table that carry the same label."""
    sums = np.zeros((int(labels.max(initial=-1)) + 1, table.shape[1]))
    np.add.at(sums, labels, table)
    return sums


def _pairs(row_of: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the records of each pair of distinct row and value, in ascending order of the value."""
    packed, amounts = np.unique(values * (row_of.max(initial=0) + 1) + row_of, return_counts=True)
    found, rows = np.divmod(packed, row_of.max(initial=0) + 1)
    return rows, found, amounts
