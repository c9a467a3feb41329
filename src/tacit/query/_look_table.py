"""The groups of one table: all its margins, and those with fewer conditions than its universe.

Arrays are grids: one axis for each dimension that a level of margins keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.query._coarser_atoms import summed
from tacit.query.evidence import Cells
from tacit.query.group_looks import GroupLooks, described, paired, units_of
from tacit.tables.perturb.record_keys import MODULUS

if TYPE_CHECKING:
    from tacit.query.guard import Context

Level = tuple[int, ...]
"""Dimensions that are kept."""
Grids = dict[Level, np.ndarray]
MOST_SIBLINGS = 32
"""Of a variable with more categories than this, the others tell next to nothing about one."""
_MOST_CONDITIONS = 5
"""Conditions that are left out in turn; more are taken for one."""


@dataclass(frozen=True)
class Condition:
    """One condition of a universe, as it adds to the description of a group."""

    variable: str
    mark: int
    siblings: tuple[int, ...]
    """Marks of all categories of the variable, where the condition is one of a few."""

    @property
    def place(self) -> int:
        """Which of the categories it is."""
        return self.siblings.index(self.mark)


@dataclass(frozen=True, eq=False)
class LookTable:
    """A table on its way, with the descriptions of its groups and the units of its cells."""

    cells: Cells
    context: Context
    looks: GroupLooks
    told: tuple[Level, ...]
    """Levels that would be released."""

    @cached_property
    def levels(self) -> list[Level]:
        """All levels of margins, the coarsest first."""
        every = range(len(self.cells.by))
        return [kept for size in range(len(every) + 1) for kept in combinations(every, size)]

    @cached_property
    def place(self) -> dict[Level, slice]:
        """Where the cells of each level are, of those that were read."""
        found, start = {}, 0
        for kept in self.cells.levels:
            stop = start + self.cells.level_size(kept)
            found[kept], start = slice(start, stop), stop
        return found

    def shape(self, kept: Level) -> tuple[int, ...]:
        """Return the number of categories of the dimensions of a level."""
        return tuple(len(self.cells.labels[j]) for j in kept)

    def grids(self, values: np.ndarray) -> Grids:
        """Return values by cell as one grid for each level; levels that were not read are sums."""
        found = {kept: values[at].reshape(self.shape(kept)) for kept, at in self.place.items()}
        inner = found[self.levels[-1]]
        for kept in self.levels:
            if kept not in found:
                others = tuple(j for j in self.levels[-1] if j not in kept)
                found[kept] = inner.sum(axis=others)
        return found

    # -- descriptions ---------------------------------------------------------------------------

    @cached_property
    def _pieces(self) -> tuple[dict[str, tuple[int, ...]], int]:
        """The conditions that can be left out in turn, and the mark of all others."""
        pieces, schema = self.context.selection.pieces, self.context.schema
        if len(pieces) != 1:
            return {}, described("", repr([sorted(piece.items()) for piece in pieces]))
        given = {
            name: tuple(codes)
            for name, codes in pieces[0].items()
            if len(codes) < len(schema.variable(name).labels)
        }
        names = list(given)
        rest = [(name, given[name]) for name in names[_MOST_CONDITIONS:]]
        kept = {name: given[name] for name in names[:_MOST_CONDITIONS]}
        return kept, described("", repr(rest)) if rest else 0

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the universe."""
        found = []
        for name, codes in self._pieces[0].items():
            labels = self.context.schema.variable(name).labels
            marks = tuple(described(name, label) for label in labels)
            if len(codes) == 1:
                few = marks if len(labels) <= MOST_SIBLINGS else ()
                found.append(Condition(name, marks[codes[0]], few))
            else:
                words = repr([labels[c] for c in codes])
                found.append(Condition(name, described(name, words), ()))
        return tuple(found)

    def without(self) -> Iterator[tuple[Condition, ...]]:
        """Return all ways to leave out some conditions of the universe."""
        for size in range(1, len(self.conditions) + 1):
            yield from combinations(self.conditions, size)

    def names(self, kept: Level, left_out: tuple[Condition, ...] = ()) -> np.ndarray:
        """Return the description of each group of a level."""
        own = {self.cells.by[j] for j in kept}
        mark = self._pieces[1]
        for condition in self.conditions:
            if condition.variable not in own and condition not in left_out:
                mark += condition.mark
        found = np.full(self.shape(kept), mark % 2**64, dtype=np.uint64)
        for axis, j in enumerate(kept):
            marks = [described(self.cells.by[j], label) for label in self.cells.labels[j]]
            along = [1] * len(kept)
            along[axis] = -1
            found += np.array(marks, dtype=np.uint64).reshape(along)
        return found

    def variables(self, kept: Level, left_out: tuple[Condition, ...] = ()) -> frozenset[str]:
        """Return the variables that describe the groups of a level."""
        held = (c.variable for c in self.conditions if c not in left_out)
        return frozenset((*held, *(self.cells.by[j] for j in kept)))

    @cached_property
    def units(self) -> Grids:
        """The set of units of each cell, as one number; 0 where it was not read."""
        ids = units_of(self.cells.keys)
        zeros = {k: np.zeros(self.shape(k), np.uint64) for k in self.levels if k not in self.place}
        return zeros | {k: ids[at].reshape(self.shape(k)) for k, at in self.place.items()}

    @cached_property
    def keys(self) -> Grids:
        """The group of each cell and margin."""
        return {kept: self.looks.keys(self.names(kept), self.units[kept]) for kept in self.levels}

    # -- cells in groups ------------------------------------------------------------------------

    def inside(self, kept: Level) -> list[Level]:
        """Return the levels to be released whose cells lie inside the groups of a level."""
        return [level for level in self.told if set(kept) <= set(level)]

    def spread(self, grid: np.ndarray, kept: Level, level: Level) -> np.ndarray:
        """Return a grid of groups for each of the cells of a finer level."""
        where = tuple(slice(None) if j in kept else None for j in level)
        return np.broadcast_to(grid[where], self.shape(level))

    def gathered(self, grid: np.ndarray, kept: Level, level: Level) -> np.ndarray:
        """Return the sum over the cells of a finer level, by group."""
        axes = tuple(axis for axis, j in enumerate(level) if j not in kept)
        return np.asarray(grid.sum(axis=axes))

    def pairs(self, groups: np.ndarray, kept: Level, level: Level) -> np.ndarray:
        """Return the pair of each cell of a level with the group it lies in."""
        return paired(self.spread(groups, kept, level), self.units[level])

    def told_twice(self, kept: Level, level: Level, shown: Mapping[Level, Any]) -> np.ndarray:
        """Return which cells hold the same units as a coarser one that is told of the group."""
        twice = np.zeros(self.shape(level), dtype=bool)
        for j in level:
            coarser = tuple(i for i in level if i != j)
            if j not in kept and coarser in self.told:
                same = self.spread(self.units[coarser], coarser, level) == self.units[level]
                twice |= same & self.spread(shown[coarser], coarser, level)
        return twice

    # -- groups outside the table ---------------------------------------------------------------

    def sizes(
        self, kept: Level, left_out: tuple[Condition, ...], noise: float, along: bool = False
    ) -> np.ndarray:
        """Return about how many units groups with fewer conditions have.

        With `along`, a first axis holds the categories of the one variable that is left out.
        """
        cube, cells = self.context.state.cube, self.cells
        away = [c.variable for c in left_out]
        piece = {n: codes for n, codes in self.context.selection.pieces[0].items() if n not in away}
        first = away[:1] if along else []
        small = cube.over((*piece, *first, *(cells.by[j] for j in kept)))
        place = small.cell_in(cells, kept)
        chosen = small.piece_mask(piece) & (place >= 0)
        shape = self.shape(kept)
        for name in first:
            at = small.place[name]
            place = place + small.codes[:, at] * int(np.prod(shape, initial=1))
            shape = (small.sizes[at], *shape)
        n = int(np.prod(shape, initial=1))
        keys = [summed(small.keys[chosen, i], place[chosen], n) % MODULUS for i in range(2)]
        size = summed(small.n[chosen], place[chosen], n).astype(float)
        change = noise * self.context.sticky.normal("looks", np.stack(keys, axis=1))
        return np.asarray(np.maximum(size + np.rint(change), 1.0)).reshape(shape)
