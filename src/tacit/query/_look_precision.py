"""How precisely the size of each group of a table would be known from all answers together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tacit.query._look_table import Condition, Grids, Level, LookTable

Shown = Mapping[Level, np.ndarray] | None
"""Which cells would be shown, for each level to be released; nothing is none of them."""
Kind = tuple[Level, tuple[Condition, ...]]
"""A kind of group: the dimensions it has, and the conditions of the universe it lacks."""


@dataclass(eq=False)
class Telling:
    """What the cells of a table tell of one statistic about the groups they lie in.

    Precision is in looks: 1 is that of the number of the group itself, once.
    """

    table: LookTable
    statistic: str
    values: Grids
    """Released or releasable values of the groups."""
    variance: Grids
    """Variance of their noise."""
    counts: Grids
    """Noisy numbers of units."""
    noise: float
    """Standard deviation of the noise on counts."""
    largest: float
    """Groups of more units are not protected."""
    _known: dict[tuple[Kind, Level], np.ndarray] = field(default_factory=dict)
    _before: dict[Kind, np.ndarray] = field(default_factory=dict)
    _sizes: dict[tuple[Kind, bool], np.ndarray] = field(default_factory=dict)
    _added: dict[Kind, np.ndarray] = field(default_factory=dict)
    _given: Shown = None
    """The cells for which sums were last added up."""

    # -- sums of squares ------------------------------------------------------------------------

    def keys(self, kept: Level, left_out: tuple[Condition, ...] = ()) -> np.ndarray:
        """Return the groups of a level, with some conditions of the universe left out."""
        if not left_out:
            return self.table.keys[kept]
        return self.table.looks.keys(self.table.names(kept, left_out))

    def is_known(self, kept: Level, left_out: tuple[Condition, ...], level: Level) -> np.ndarray:
        """Return which cells of a level were counted before for the group they lie in."""
        at = ((kept, left_out), level)
        if at not in self._known:
            pairs = self.table.pairs(self.keys(kept, left_out), kept, level)
            self._known[at] = self.table.looks.knows(self.statistic, pairs)
        return self._known[at]

    def is_new(
        self,
        kept: Level,
        left_out: tuple[Condition, ...],
        level: Level,
        shown: Mapping[Level, np.ndarray],
    ) -> np.ndarray:
        """Return which cells would tell something new about the group they lie in."""
        twice = self.table.told_twice(kept, level, shown)
        return np.asarray(shown[level] & ~self.is_known(kept, left_out, level) & ~twice)

    def strength(self, level: Level) -> np.ndarray:
        """Return the square of value by noise of each cell."""
        given = self.variance[level]
        square = self.values[level] ** 2
        return np.asarray(np.divide(square, given, out=np.zeros_like(given), where=given > 0))

    def added(self, kept: Level, left_out: tuple[Condition, ...], shown: Shown) -> np.ndarray:
        """Return what the new cells add to the sum of squares of each group."""
        if shown is None:
            return np.zeros(self.table.shape(kept))
        if shown is not self._given:
            self._added, self._given = {}, shown
        if (kept, left_out) not in self._added:
            total = np.zeros(self.table.shape(kept))
            for level in self.table.inside(kept):
                new = self.is_new(kept, left_out, level, shown)
                total += self.table.gathered(new * self.strength(level), kept, level)
            self._added[kept, left_out] = total
        return self._added[kept, left_out]

    def tells_more(self, shown: Shown) -> bool:
        """Whether any cell would tell something new about any group."""
        return any(self.added(kept, left_out, shown).any() for kept, left_out in self.groups())

    def squares(self, kept: Level, left_out: tuple[Condition, ...], shown: Shown) -> np.ndarray:
        """Return the sum of squares of each group, before and with the new cells."""
        if (kept, left_out) not in self._before:
            keys = self.keys(kept, left_out)
            self._before[kept, left_out] = self.table.looks.squares(self.statistic, keys)
        return np.asarray(self._before[kept, left_out] + self.added(kept, left_out, shown))

    def remember(self, shown: Mapping[Level, np.ndarray]) -> None:
        """Write down what was told, group by group."""
        looks = self.table.looks
        for kept, precise in self.looks(shown).items():
            looks.read(self.statistic, self.keys(kept), self.values[kept], precise)
        for kept, left_out in self.groups():
            keys, pairs = self.keys(kept, left_out), []
            for level in self.table.inside(kept):
                new = self.is_new(kept, left_out, level, shown)
                if new.any():
                    pairs += self.table.pairs(keys, kept, level)[new].tolist()
            looks.add(self.statistic, keys, self.added(kept, left_out, shown), pairs)
            looks.spoken.add(self.table.variables(kept, left_out))

    def groups(self) -> Iterator[tuple[Level, tuple[Condition, ...]]]:
        """Return all kinds of groups that cells of the table lie in."""
        for left_out in ((), *self.table.without()):
            for kept in self.table.levels:
                if not any(self.table.cells.by[j] == c.variable for j in kept for c in left_out):
                    yield kept, left_out

    # -- precision ------------------------------------------------------------------------------

    def looks(self, shown: Shown, left_out: tuple[Condition, ...] = ()) -> Grids:
        """Return how many looks at each group would tell as much as all answers.

        The groups are those of the table, or those with fewer conditions.
        """
        levels = [kept for kept, away in self.groups() if away == left_out]
        squares = {kept: self.squares(kept, left_out, shown) for kept in levels}
        values = {kept: self.value(kept, left_out) for kept in levels}
        found = {}
        for kept in levels:
            own = squares[kept] / values[kept] ** 2
            beside = [_along(squares, values, kept, axis) for axis in range(len(kept))]
            for condition in self.turned(kept, left_out):
                across = self.across(kept, (condition, *left_out), shown)
                beside.append(across.beside[condition.place])
            found[kept] = _together(own, beside) * self.variance[kept]
        return found

    def turned(self, kept: Level, left_out: tuple[Condition, ...] = ()) -> list[Condition]:
        """Return the conditions of groups that other requests may turn to their siblings."""
        own = {self.table.cells.by[j] for j in kept}
        given = (c for c in self.table.conditions if c not in left_out)
        return [c for c in given if c.siblings and c.variable not in own]

    def across(self, kept: Level, left_out: tuple[Condition, ...], shown: Shown) -> Siblings:
        """Return what is known about groups that differ in the first of the conditions left out.

        The groups that have the condition are among them.
        """
        table, condition = self.table, left_out[0]
        names = table.names(kept, left_out)
        marks = np.array(condition.siblings, dtype=np.uint64).reshape(-1, *[1] * names.ndim)
        keys = table.looks.keys(names[None] + marks)
        every = table.looks.squares(self.statistic, keys)
        values = self._outside(keys, kept, left_out, along=True)
        own = left_out[1:]
        every[condition.place] = self.squares(kept, own, shown)
        values[condition.place] = self.value(kept, own)
        margin = self.squares(kept, left_out, shown), self.value(kept, left_out)
        beside = complement(every, values, every.sum(axis=0), *margin)
        return Siblings(keys, values, every / values**2, beside)

    def is_small(self, values: np.ndarray, kept: Level) -> np.ndarray:
        """Return whether groups outside the table are small enough to be protected."""
        return np.asarray(values * (self.counts[kept] / self.values[kept]) <= self.largest)

    def value(self, kept: Level, left_out: tuple[Condition, ...] = ()) -> np.ndarray:
        """Return the values of the groups of a level."""
        if not left_out:
            return self.values[kept]
        return self._outside(self.keys(kept, left_out), kept, left_out)

    def _outside(
        self, keys: np.ndarray, kept: Level, left_out: tuple[Condition, ...], along: bool = False
    ) -> np.ndarray:
        """Return about the values of groups with fewer conditions, or with another category."""
        at = ((kept, left_out), along)
        if at not in self._sizes:
            sizes = self.table.sizes(kept, left_out, self.noise, along)
            sizes = sizes * (self.values[kept] / self.counts[kept])
            self._sizes[at] = self.table.looks.values(self.statistic, keys, sizes)
        return self._sizes[at].copy()


@dataclass(frozen=True, eq=False)
class Siblings:
    """Groups that differ in one condition, along the first axis, and how they are known."""

    keys: np.ndarray
    values: np.ndarray
    own: np.ndarray
    """Precision from cells inside them."""
    beside: np.ndarray
    """Precision from their margin less the others."""


def complement(
    own: np.ndarray,
    value: np.ndarray,
    line: np.ndarray,
    margin: np.ndarray,
    whole: np.ndarray,
) -> np.ndarray:
    """Return the precision of a margin less the other cells of its line, by sums of squares.

    What was told about the margin without dividing it along the line is independent of the cells.
    """
    direct = np.maximum(margin - line, 0.0) / whole**2
    others = np.maximum(line - own, 0.0) / np.maximum(whole - value, whole / 1000) ** 2
    both = direct + others
    found = np.divide(direct * others, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray(found)


def _along(squares: Grids, values: Grids, kept: Level, axis: int) -> np.ndarray:
    """Return what a margin less the other cells of its line tells about each cell."""
    coarser = kept[:axis] + kept[axis + 1 :]
    margin = (np.expand_dims(grids[coarser], axis) for grids in (squares, values))
    line = squares[kept].sum(axis=axis, keepdims=True)
    return complement(squares[kept], values[kept], line, *margin)


def _together(own: np.ndarray, beside: list[np.ndarray]) -> np.ndarray:
    """Return the precision of a cell from looks inside it and beside it, along every dimension."""
    if not beside:
        return own
    divisor = np.where(own > 0, own, 1.0)
    product = own * np.prod([1 + b / divisor for b in beside], axis=0)
    return np.asarray(np.where(own > 0, product, np.sum(beside, axis=0)))
