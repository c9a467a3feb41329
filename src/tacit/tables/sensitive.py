"""Sensitive cells: which, by which rule, and how much protection each must get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.errors import DataError

if TYPE_CHECKING:
    from tacit.tables.rule import Rule
    from tacit.tables.table import Table

DECLARED = "declared unsafe"
"""The name under which cells stand that the user declared sensitive."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The primary cells of a table with the protection each requires.

    An intruder's interval of a primary cell of value x must reach down to ``x - below``, up to
    ``x + above``, and be at least ``width`` wide; and it must never be a single point.
    """

    cells: np.ndarray
    """Which cells are sensitive, one flag per cell."""
    below: np.ndarray
    """Lower protection level of each cell."""
    above: np.ndarray
    """Upper protection level of each cell."""
    width: np.ndarray
    """Least width of an intruder's interval (sliding protection level)."""
    hits: Mapping[str, np.ndarray] = field(default_factory=dict)
    """For each rule the cells it found."""
    rule: Rule | None = None
    """The rule itself, which judges cells that a protection makes."""

    @classmethod
    def none(cls, n_cells: int) -> Sensitive:
        """Return the verdict that no cell is sensitive."""
        zero = np.zeros(n_cells)
        return cls(np.zeros(n_cells, dtype=bool), zero, zero, zero)

    @classmethod
    def by(
        cls,
        rule: str,
        cells: np.ndarray,
        above: np.ndarray | float,
        below: np.ndarray | float | None = None,
        width: np.ndarray | float = 0.0,
    ) -> Sensitive:
        """Return the verdict of one rule; levels of cells that are not sensitive are zero.

        The lower level equals the upper one unless given.
        """
        below = above if below is None else below
        lower, upper, least = (np.where(cells, level, 0.0) for level in (below, above, width))
        return cls(cells, lower, upper, least, hits={rule: cells})

    @property
    def primary(self) -> np.ndarray:
        """Positions of the sensitive cells."""
        return np.flatnonzero(self.cells)

    def __len__(self) -> int:
        return int(self.cells.sum())

    def __repr__(self) -> str:
        rules = ", ".join(f"{name}: {int(hit.sum())}" for name, hit in self.hits.items())
        return f"Sensitive({len(self)} of {len(self.cells)} cells; {rules or 'no rule'})"

    def __or__(self, other: Sensitive) -> Sensitive:
        """Cells that either finds, each with the larger protection."""
        return Sensitive(
            self.cells | other.cells,
            np.maximum(self.below, other.below),
            np.maximum(self.above, other.above),
            np.maximum(self.width, other.width),
            _joined(self.hits, other.hits),
        )

    def __and__(self, other: Sensitive) -> Sensitive:
        """Cells that both find, each with the larger protection."""
        both = self.cells & other.cells
        return (self | other)._among(both)

    def _among(self, kept: np.ndarray) -> Sensitive:
        below, above, width = (
            np.where(kept, level, 0.0) for level in (self.below, self.above, self.width)
        )
        hits = {name: hit & kept for name, hit in self.hits.items()}
        return Sensitive(self.cells & kept, below, above, width, hits, self.rule)

    def without(self, cells: np.ndarray) -> Sensitive:
        """Return the verdict with some cells left out, for example waived ones."""
        return self._among(~cells)

    def take(self, cells: np.ndarray) -> Sensitive:
        """Return the verdict on some cells only, by position."""
        return Sensitive(
            self.cells[cells],
            self.below[cells],
            self.above[cells],
            self.width[cells],
            {name: hit[cells] for name, hit in self.hits.items()},
            self.rule,
        )


def _joined(
    one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the cells found by each rule; a rule that stands in both found those of both."""
    return {
        name: one[name] | other[name]
        if name in one and name in other
        else one.get(name, other.get(name, np.empty(0, bool)))
        for name in {**one, **other}
    }


def with_wishes(table: Table, found: Sensitive) -> Sensitive:
    """Add the cells a user declares unsafe, set the levels asked for, leave waived cells out.

    Raises
    ------
    DataError
        If a protection level that somebody asked for is below zero.
    """
    if table.unsafe is not None:
        found = found | Sensitive.by(DECLARED, table.unsafe, 0.0)
    _check_levels(table, found.cells)
    below, above = (
        _asked(found.cells, given, asked)
        for given, asked in ((found.below, table.level_below), (found.above, table.level_above))
    )
    found = replace(found, below=below, above=above)
    return found if table.waived is None else found.without(table.waived)


def _check_levels(table: Table, cells: np.ndarray) -> None:
    for asked in (table.level_below, table.level_above):
        if asked is not None and (cells & (asked < 0)).any():
            raise DataError(
                "a protection level must not be below zero: such a cell would not be protected",
                got=table.describe(np.flatnonzero(cells & (asked < 0))),
                do="give how far below and above the value an intruder's interval must reach",
            )


def _asked(cells: np.ndarray, given: np.ndarray, asked: np.ndarray | None) -> np.ndarray:
    """Return the protection levels, the user's own standing in place of the rule's."""
    if asked is None:
        return given
    return np.where(cells & ~np.isnan(asked), asked, given)
