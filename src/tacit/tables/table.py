"""A table: a vector of cells and the sparse linear relations among them.

That is all the algorithms see. Dimensions and codes name the cells for people; a table made from
bare relations (a JJ file, linked tables of different shape) has the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, SchemaError, nearest
from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tacit.tables.protected import ProtectedTable
    from tacit.tables.protection import Protection
    from tacit.tables.rule import Rule
    from tacit.tables.sensitive import Sensitive

TOLERANCE = 1e-6
"""Share of its largest term by which a sum may miss before it counts as not additive."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The largest contributions to each cell, by respondents or by holdings."""

    top: np.ndarray
    """Largest contributions in absolute value, largest first; cells by places, 0 where none."""
    n_units: np.ndarray
    """How many distinct units contribute to each cell."""
    absolute: np.ndarray
    """Sum of all contributions in absolute value, weighted as the table is."""
    weight: np.ndarray | None = None
    """Sampling weights of the largest contributions."""
    unit: np.ndarray | None = None
    """Which unit each of the largest contributions came from, -1 where none."""
    requested: np.ndarray | None = None
    """Which of the largest contributors asked for protection."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions are known."""
        return int(self.top.shape[1])

    def take(self, cells: np.ndarray) -> Contributions:
        """Return the contributions of some cells."""
        parts = {name: None if kept is None else kept[cells] for name, kept in vars(self).items()}
        return Contributions(**parts)


@dataclass(frozen=True, eq=False)
class Table:
    """Cells with their values, and the sums that hold among them.

    Make one with `tacit.tabulate`. Every method returns a new value.
    """

    value: np.ndarray
    """What would be published: totals, or counts."""
    relations: csr_array
    """Sums that hold: relations by cells; ``relations @ value`` is zero. The total has -1."""
    dimensions: tuple[Dimension, ...] = ()
    """Classifications that span the table."""
    codes: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32))
    """For each cell the position of its code in each dimension."""
    variable: str | None = None
    """What was summed; nothing for a table of counts."""
    count: np.ndarray | None = None
    """Number of records in each cell, unweighted."""
    weighted_count: np.ndarray | None = None
    """Sum of the sampling weights in each cell."""
    respondents: Contributions | None = None
    """The largest contributions by respondent."""
    holdings: Contributions | None = None
    """The largest contributions by holding."""
    lower: np.ndarray | None = None
    """Least value of each cell that anyone would think possible; 0 unless values can be negative."""
    upper: np.ndarray | None = None
    """Largest value of each cell that anyone would think possible; no limit unless given."""
    frozen: np.ndarray | None = None
    """Cells that must be published as they are, for example because they already were."""
    forced: np.ndarray | None = None
    """Cells that must not be published, whatever the rules say."""
    waived: np.ndarray | None = None
    """Cells whose contributors have agreed to publication."""
    cost: np.ndarray | None = None
    """What it costs to suppress a cell, where the user says so."""
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    """For linked tables: which cells belong to the table of each name."""
    names: tuple[str, ...] = ()
    """Names of the cells where there are no dimensions."""

    def __post_init__(self) -> None:
        n = len(self.value)
        if self.relations.shape[1] != n:
            raise SchemaError(
                "the relations must have one column per cell",
                got=f"{self.relations.shape[1]} columns, {n} cells",
            )
        for name in (
            "count",
            "weighted_count",
            "lower",
            "upper",
            "frozen",
            "forced",
            "waived",
            "cost",
        ):
            given = getattr(self, name)
            if given is not None and len(given) != n:
                raise SchemaError(
                    f"{name} must have one entry per cell", got=f"{len(given)} for {n} cells"
                )

    # -- looking --------------------------------------------------------------------------------

    @property
    def n_cells(self) -> int:
        """Number of cells, totals and empty cells included."""
        return len(self.value)

    def __len__(self) -> int:
        return self.n_cells

    def __repr__(self) -> str:
        what = "counts" if self.variable is None else f"totals of {self.variable!r}"
        by = " x ".join(d.name for d in self.dimensions) or "cells"
        return (
            f"Table({what} by {by}; {self.n_cells:,} cells, {self.relations.shape[0]:,} relations)"
        )

    @property
    def is_count(self) -> bool:
        """Whether the cells are counts and not totals of a variable."""
        return self.variable is None

    @cached_property
    def integral(self) -> bool:
        """Whether every value is a whole number."""
        return bool(np.all(self.value == np.round(self.value)))

    @cached_property
    def is_empty(self) -> np.ndarray:
        """Cells nobody contributes to; without counts, cells whose value is zero."""
        return self.value == 0 if self.count is None else self.count == 0

    @cached_property
    def is_total(self) -> np.ndarray:
        """Cells that are the sum of others."""
        total = np.zeros(self.n_cells, dtype=bool)
        coo = self.relations.tocoo()
        total[coo.coords[1][coo.data < 0]] = True
        return total

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What anyone would think possible of each cell before anything is published."""
        least = 0.0 if self.value.size == 0 or self.value.min() >= 0 else -np.inf
        lower = np.full(self.n_cells, least) if self.lower is None else self.lower
        upper = np.full(self.n_cells, np.inf) if self.upper is None else self.upper
        return lower, upper

    def labels(self, cell: int) -> tuple[str, ...]:
        """Return the codes of a cell, or its name where there are no dimensions."""
        if not self.dimensions:
            return (self.names[cell] if self.names else str(cell),)
        codes = zip(self.dimensions, self.codes[cell], strict=True)
        return tuple(dimension.codes[int(code)] for dimension, code in codes)

    def describe(self, cells: np.ndarray, most: int = 5) -> str:
        """Name some cells in an error or a report."""
        cells = np.asarray(cells)
        shown = ["(" + ", ".join(self.labels(int(i))) + ")" for i in cells[:most]]
        more = f" and {len(cells) - most} more" if len(cells) > most else ""
        return ", ".join(shown) + more

    def cell(self, **codes: str) -> int:
        """Return the position of a cell; a dimension left out stands at its total.

        Raises
        ------
        SchemaError
            If there is no such dimension, code or cell.
        """
        names = [d.name for d in self.dimensions]
        for name in codes:
            if name not in names:
                raise SchemaError(f"there is no dimension {name!r}", do=nearest(name, names))
        wanted = []
        for dimension in self.dimensions:
            code = str(codes.get(dimension.name, dimension.total))
            if code not in dimension.index:
                raise SchemaError(
                    f"{dimension.name!r} has no code {code!r}", do=nearest(code, dimension.codes)
                )
            wanted.append(dimension.index[code])
        found = self._position.get(tuple(wanted))
        if found is None:
            raise SchemaError("the table has no such cell", got=codes)
        return found

    @cached_property
    def _position(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.codes.tolist())}

    @cached_property
    def frame(self) -> Any:
        """The cells as a Polars data frame: a column per dimension, the value and the count."""
        import polars as pl

        columns: dict[str, Any] = {}
        for j, dimension in enumerate(self.dimensions):
            columns[dimension.name] = np.array(dimension.codes, dtype=object)[self.codes[:, j]]
        if not self.dimensions:
            columns["cell"] = [self.labels(i)[0] for i in range(self.n_cells)]
        columns[self.variable or "count"] = self.value
        if self.variable is not None and self.count is not None:
            columns["count"] = self.count
        return pl.DataFrame(columns)

    # -- checking -------------------------------------------------------------------------------

    def residuals(self) -> np.ndarray:
        """Return by how much each relation is missed."""
        return np.asarray(self.relations @ self.value)

    def check_additive(self) -> None:
        """Refuse a table whose cells do not add up.

        Raises
        ------
        DataError
            With the totals that are missed, and by how much.
        """
        missed = self.residuals()
        size = np.asarray(abs(self.relations) @ np.abs(self.value))
        wrong = np.flatnonzero(np.abs(missed) > TOLERANCE * np.maximum(size, 1.0))
        if len(wrong):
            first = wrong[0]
            row = self.relations[[first], :].tocoo()
            total = row.coords[1][row.data < 0]
            raise DataError(
                "the table is not additive",
                got=f"{len(wrong)} sums are missed; the parts of {self.describe(total)} miss it "
                f"by {missed[first]:g}",
                do="correct the table, or leave the totals out and let tacit add them up",
            )

    # -- new values -----------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Table:
        """Return the table with some parts changed."""
        return replace(self, **changes)

    def protect(self, method: Protection, rule: Rule | Sensitive, **options: Any) -> ProtectedTable:
        """Find the sensitive cells and protect them.

        Parameters
        ----------
        method
            How to protect, for example ``tables.SuppressModular()``.
        rule
            What is sensitive: a rule, several joined with ``|`` and ``&``, or cells found before.
        """
        sensitive = rule if not hasattr(rule, "sensitive") else rule.sensitive(self)
        return method.protect(self, sensitive, **options)
