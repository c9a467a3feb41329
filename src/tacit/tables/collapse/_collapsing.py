"""A table whose classifications are coarser, and which of its cells are sensitive then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from tacit.core.errors import DataError, SchemaError
from tacit.tables._grid import grid_relations, sparse_relations
from tacit.tables._selection import code_keys
from tacit.tables.collapse._coarsening import Coarsening, Design, Step
from tacit.tables.collapse._merge import Grouping, shared_codes, sums_of_cells
from tacit.tables.dimension import Dimension
from tacit.tables.rule import Rule
from tacit.tables.sensitive import Sensitive, with_wishes
from tacit.tables.table import Table

Designs = tuple[Design, ...]
"""A design for each classification that may be made coarser."""


class Collapsing:
    """A table with the ways to make some of its classifications coarser."""

    def __init__(self, table: Table, rule: Rule | None, axes: dict[int, Coarsening]) -> None:
        self.table, self.rule = table, rule
        self.axes, self.ways = list(axes), list(axes.values())
        self.start: Designs = tuple(way.start for way in self.ways)
        self.coarsest: Designs = tuple(way.coarsest for way in self.ways)
        self.looks_around = _looks_around(rule)
        self._shared = shared_codes(table)
        self._rows = [
            _rows_by_code(table.codes[:, axis], len(way.start))
            for axis, way in zip(self.axes, self.ways, strict=True)
        ]
        self._slabs: dict[Any, np.ndarray] = {}

    # -- the table of a design ------------------------------------------------------------------

    def table_of(self, designs: Designs) -> Table:
        """Return the table with the classifications of a design."""
        made = {
            axis: way.result(design)
            for axis, way, design in zip(self.axes, self.ways, designs, strict=True)
        }
        if not self.table.linked:
            return self._with_classifications(self.table, made)
        return self._linked(made)

    def _with_classifications(
        self, table: Table, made: dict[int, tuple[Dimension, np.ndarray]]
    ) -> Table:
        dimensions = tuple(made[j][0] if j in made else d for j, d in enumerate(table.dimensions))
        codes, grouping = self._grouping(table, {axis: place for axis, (_, place) in made.items()})
        full = len(codes) == prod(len(d.codes) for d in dimensions)
        relations = grid_relations(dimensions) if full else sparse_relations(codes, dimensions)
        return Table(
            relations=relations, dimensions=dimensions, codes=codes.astype(np.int32),
            variable=table.variable, **sums_of_cells(table, grouping),
        )  # fmt: skip

    def _grouping(self, table: Table, places: dict[int, np.ndarray]) -> tuple[np.ndarray, Grouping]:
        """Return the codes of the new cells in their order, and the cells that go into each."""
        codes = table.codes.astype(np.int64)
        shared = np.zeros(len(codes), dtype=bool)
        for axis, place in places.items():
            at = codes[:, axis]
            several = np.bincount(place[place >= 0], minlength=len(place))[place] > 1
            shared |= (several & self._shared[axis])[at]
            codes[:, axis] = place[at]
        rows = np.flatnonzero((codes >= 0).all(axis=1))
        return _group(codes[rows], rows, shared[rows])

    def _linked(self, made: dict[int, tuple[Dimension, np.ndarray]]) -> Table:
        """Return linked tables with the same codes merged in each, linked again."""
        from tacit.tables.link import link

        whole = self.table
        codes, grouping = self._grouping(whole, {axis: place for axis, (_, place) in made.items()})
        dimensions = [made[j][0] if j in made else d for j, d in enumerate(whole.dimensions)]
        parts = {}
        for name, table in whole.linked.items():
            own = {}
            for j, dimension in enumerate(table.dimensions):
                axis = next(k for k, d in enumerate(whole.dimensions) if d.name == dimension.name)
                if axis in made:
                    own[j] = self._in_part(whole.dimensions[axis], dimension, made[axis])
            part = Collapsing(table, None, {})
            parts[name] = part._with_classifications(table, own)
        again = link(parts)
        keys = code_keys(codes, dimensions)
        order = np.argsort(keys)
        names = [d.name for d in again.dimensions]
        at = np.zeros((again.n_cells, len(dimensions)), dtype=np.int64)
        for j, dimension in enumerate(dimensions):
            of = again.dimensions[names.index(dimension.name)]
            place = np.array([dimension.index[code] for code in of.codes])
            at[:, j] = place[again.codes[:, names.index(dimension.name)]]
        row = order[np.searchsorted(keys[order], code_keys(at, dimensions))]
        return again.replace(**_taken(sums_of_cells(whole, grouping), row))

    def _in_part(
        self, whole: Dimension, part: Dimension, made: tuple[Dimension, np.ndarray]
    ) -> tuple[Dimension, np.ndarray]:
        """Return the classification of one of the linked tables, made coarser as the whole's."""
        if set(part.codes) != set(whole.codes) or set(part.groups) != set(whole.groups):
            raise SchemaError(
                "linked tables must classify alike what is collapsed",
                got=f"{part.name!r} with other codes in one of them",
                do="give the tables the same hierarchy",
            )
        new, place = made
        return new, place[[whole.index[code] for code in part.codes]]

    # -- sensitive cells ------------------------------------------------------------------------

    def sensitive_at(self, designs: Designs) -> np.ndarray:
        """Return the sensitive cells of a design by their codes, merged ones by the first."""
        if self.looks_around:
            table = self.table_of(designs)
            cells: np.ndarray = table.codes[_judged(table, self.rule).primary].astype(np.int64)
            for axis, way, design in zip(self.axes, self.ways, designs, strict=True):
                cells[:, axis] = np.array(way.present(design))[cells[:, axis]]
            return cells
        codes, grouping = self._grouping(self.table, self._places(designs))
        return np.asarray(codes[_judged(self._bare(grouping), self.rule).cells])

    def _places(self, designs: Designs) -> dict[int, np.ndarray]:
        return {a: np.array(d, np.int64) for a, d in zip(self.axes, designs, strict=True)}

    def sensitive_after(
        self, designs: Designs, cells: np.ndarray, steps: Sequence[tuple[int, Step]]
    ) -> list[np.ndarray]:
        """Return the sensitive cells after each of several steps from a design.

        Parameters
        ----------
        designs, cells
            The design and its sensitive cells.
        steps
            Changes with the number of the classification that each is of.
        """
        after = [_with(designs, k, step.design) for k, step in steps]
        if self.looks_around:
            return [self.sensitive_at(designs) for designs in after]
        self._judge(designs, steps)
        found = []
        for k, step in steps:
            held = np.array(step.design)[cells[:, self.axes[k]]]
            stays = (held == cells[:, self.axes[k]]) & ~np.isin(held, step.members)
            slab = self._slabs[_slab_key(designs, k, step)] if step.members else cells[:0]
            found.append(np.concatenate([cells[stays], slab]))
        return found

    def _judge(self, designs: Designs, steps: Sequence[tuple[int, Step]]) -> None:
        """Judge the cells of merged codes that were not judged yet, all at once."""
        new = {
            _slab_key(designs, k, s): (k, s)
            for k, s in steps
            if s.members and _slab_key(designs, k, s) not in self._slabs
        }
        if not new:
            return
        made = [self._slab(designs, k, step) for k, step in new.values()]
        which = np.repeat(np.arange(len(made)), [len(rows) for _, rows, _ in made])
        codes, rows, shared = (np.concatenate(part) for part in zip(*made, strict=True))
        codes, grouping = _group(np.column_stack([which, codes]), rows, shared)
        hit = codes[_judged(self._bare(grouping), self.rule).cells]
        for number, key in enumerate(new):
            self._slabs[key] = hit[hit[:, 0] == number, 1:]

    def _slab(
        self, designs: Designs, k: int, step: Step
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cells that go into the cells of a merged code: codes, rows, whether shared."""
        rows = np.concatenate([self._rows[k][code] for code in step.members])
        codes = self.table.codes[rows].astype(np.int64)
        shared = self._shared[self.axes[k]][codes[:, self.axes[k]]]
        codes[:, self.axes[k]] = min(step.members)
        for j, (axis, design) in enumerate(zip(self.axes, designs, strict=True)):
            if j != k:
                place = np.array(design)
                several = np.bincount(place[place >= 0], minlength=len(place))[place] > 1
                shared |= (several & self._shared[axis])[codes[:, axis]]
                codes[:, axis] = place[codes[:, axis]]
        kept = (codes >= 0).all(axis=1)
        return codes[kept], rows[kept], shared[kept]

    def _bare(self, grouping: Grouping) -> Table:
        from scipy.sparse import csr_array

        return Table(
            relations=csr_array((0, grouping.n)), variable=self.table.variable,
            **sums_of_cells(self.table, grouping),
        )  # fmt: skip


def _slab_key(designs: Designs, k: int, step: Step) -> tuple[Any, ...]:
    return (k, step.members, *(d for j, d in enumerate(designs) if j != k))


def _with(designs: Designs, k: int, design: Design) -> Designs:
    return (*designs[:k], design, *designs[k + 1 :])


def _judged(table: Table, rule: Rule | None) -> Sensitive:
    found = Sensitive.none(table.n_cells) if rule is None else rule.sensitive(table)
    return with_wishes(table, found)


def _group(codes: np.ndarray, rows: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, Grouping]:
    """Return the different codes in their order, and the cells that have each."""
    if not len(rows):
        return codes, Grouping(rows, rows, 0, shared)
    order = np.lexsort(codes.T[::-1])
    first = np.r_[True, (codes[order][1:] != codes[order][:-1]).any(axis=1)]
    group = np.empty(len(rows), dtype=np.int64)
    group[order] = np.cumsum(first) - 1
    n = int(first.sum())
    mixed = np.bincount(group, shared, n) > 0
    mixed &= np.bincount(group, minlength=n) > 1
    return codes[order][first], Grouping(rows, group, n, mixed)


def _rows_by_code(codes: np.ndarray, n: int) -> list[np.ndarray]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n)))


def _taken(parts: dict[str, Any], row: np.ndarray) -> dict[str, Any]:
    """Return what tables hold per cell, in another order."""

    def of(given: Any) -> Any:
        if isinstance(given, dict):
            return {name: of(one) for name, one in given.items()}
        if given is None:
            return None
        return given.take(row) if hasattr(given, "take") and hasattr(given, "depth") else given[row]

    return {name: of(given) for name, given in parts.items()}


def _looks_around(rule: Rule | None) -> bool:
    """Return whether a rule, or one it is joined from, may judge a cell by others."""
    ours = "tacit.tables.rules."
    return any(
        not type(one).__module__.startswith(ours) or type(one).key == "group-disclosure"
        for one in single_rules(rule)
    )


def single_rules(rule: Rule | None) -> Iterable[Rule]:
    """Yield the rules that a rule is joined from.

    Raises
    ------
    DataError
        If one names cells: these are not the same after categories were merged.
    """
    from tacit.tables.rules.user_rule import UserRule

    if rule is None:
        return
    parts = getattr(rule, "rules", None)
    for one in (rule,) if parts is None else parts:
        if parts is not None:
            yield from single_rules(one)
            continue
        if isinstance(one, UserRule) and one.cells:
            raise DataError(
                "a rule that names cells cannot judge a table whose categories are merged",
                got=one.describe(),
                do="declare these cells unsafe, with declare_unsafe or an a-priori file",
            )
        yield one
