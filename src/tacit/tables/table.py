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

from tacit.core.errors import DataError, ProtectionError, SchemaError
from tacit.tables._additivity import describe_missed, missed_sums
from tacit.tables._selection import CellChoice, chosen_cells, code_keys
from tacit.tables.contributions import Contributions
from tacit.tables.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tacit.tables.protected import ProtectedTable
    from tacit.tables.protection import Protection
    from tacit.tables.rule import Rule
    from tacit.tables.sensitive import Sensitive

_PER_CELL = (
    *("count", "weighted_count", "lower", "upper", "cost", "level_below", "level_above"),
    *("frozen", "forced", "waived", "unsafe", "requested"),
)


@dataclass(frozen=True, eq=False)
class Table:
    """Cells with their values, and the sums that hold among them.

    Make one with `tacit.tabulate`. Every method returns a new value.
    """

    value: np.ndarray
    """What would be published: totals, or counts."""
    relations: csr_array
    """Sums that hold: relations by cells; ``relations @ value`` is zero. The total has -1.

    A relation with several -1 says that two sums are equal.
    """
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
    """Least value of each cell that anyone would think possible; 0, or no limit if negative."""
    upper: np.ndarray | None = None
    """Largest value of each cell that anyone would think possible; no limit unless given."""
    frozen: np.ndarray | None = None
    """Cells that must be published as they are, for example because they already were."""
    forced: np.ndarray | None = None
    """Cells that must not be published, whatever the rules say."""
    waived: np.ndarray | None = None
    """Cells whose contributors have agreed to publication."""
    unsafe: np.ndarray | None = None
    """Cells the user declares sensitive, whatever the rules say."""
    requested: np.ndarray | None = None
    """Cells in which a respondent has asked for protection, where the user names the cells."""
    level_below: np.ndarray | None = None
    """Lower protection level the user asks for; NaN where the rule decides."""
    level_above: np.ndarray | None = None
    """Upper protection level the user asks for; NaN where the rule decides."""
    cost: np.ndarray | None = None
    """What it costs to suppress a cell, where the user says so."""
    sums: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Totals of other variables in the same cells, by name."""
    key_sums: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Sums of the secret keys of a cell's records, by column; they stay inside."""
    value_key_sums: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The same over the records that contribute something to the value."""
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    """For linked tables: where the cells of the table of each name stand, in its order."""
    linked: Mapping[str, Table] = field(default_factory=dict)
    """The tables a linked table was made of, by name."""
    ties: tuple[str, ...] = ()
    """For linked tables: the columns of different tables that follow from one another."""
    names: tuple[str, ...] = ()
    """Names of the cells where there are no dimensions."""

    def __post_init__(self) -> None:
        n = len(self.value)
        if not hasattr(self.relations, "tocoo"):
            raise SchemaError(
                "the relations must be a sparse array of SciPy", got=type(self.relations).__name__
            )
        if self.relations.shape[1] != n:
            raise SchemaError(
                "the relations must have one column per cell",
                got=f"{self.relations.shape[1]} columns, {n} cells",
            )
        for name in _PER_CELL:
            given = getattr(self, name)
            if given is not None and len(given) != n:
                raise SchemaError(
                    f"{name} must have one entry per cell", got=f"{len(given)} for {n} cells"
                )
        if self.dimensions and self.codes.shape != (n, len(self.dimensions)):
            raise SchemaError(
                "every cell needs one code per dimension",
                got=f"codes of shape {self.codes.shape} for {n} cells",
            )
        self._check_codes()
        self._check_parts()
        self._check_flags()

    def _check_codes(self) -> None:
        for dimension, codes in zip(self.dimensions, self.codes.T, strict=True):
            if len(codes) and not 0 <= codes.min() <= codes.max() < len(dimension.codes):
                raise SchemaError(
                    f"codes must be positions in {dimension.name!r}",
                    got=f"{codes.min()} to {codes.max()} for {len(dimension.codes)} codes",
                )

    def _check_parts(self) -> None:
        """Refuse sums and contributions of other cells."""
        kinds = {"respondents": self.respondents, "holdings": self.holdings}
        parts = {name: len(units.n_units) for name, units in kinds.items() if units is not None}
        for name in ("sums", "key_sums", "value_key_sums"):
            parts |= {
                f"{name} of {key!r}": len(given) for key, given in getattr(self, name).items()
            }
        for name, length in parts.items():
            if length != len(self.value):
                raise SchemaError(
                    f"{name} must have one entry per cell",
                    got=f"{length} for {len(self.value)} cells",
                )

    def _check_flags(self) -> None:
        for one, other in (("frozen", "forced"), ("frozen", "unsafe"), ("waived", "unsafe")):
            both = self.flags(one) & self.flags(other)
            if both.any():
                raise ProtectionError(
                    f"cells cannot be {one} and {other} at once",
                    got=self.describe(np.flatnonzero(both)),
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
        return np.asarray(self.value == 0 if self.count is None else self.count == 0)

    @cached_property
    def is_total(self) -> np.ndarray:
        """Cells that are the sum of others."""
        total = np.zeros(self.n_cells, dtype=bool)
        total[self.total_of[self.total_of >= 0]] = True
        return total

    @cached_property
    def total_of(self) -> np.ndarray:
        """For each relation the position of its total; -1 where it says that two sums are equal."""
        coo = self.relations.tocoo()
        row, cell = (at[coo.data < 0] for at in coo.coords)
        total = np.full(self.relations.shape[0], -1, dtype=np.int64)
        total[row] = cell
        total[np.bincount(row, minlength=len(total)) != 1] = -1
        return total

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What anyone would think possible of each cell before anything is published."""
        least = 0.0 if self.value.size == 0 or self.value.min() >= 0 else -np.inf
        lower = np.full(self.n_cells, least) if self.lower is None else self.lower
        upper = np.full(self.n_cells, np.inf) if self.upper is None else self.upper
        return lower, upper

    def flags(self, name: str) -> np.ndarray:
        """Return one kind of flag (``"frozen"``, ``"forced"``, ...), all false if none is set."""
        given = getattr(self, name)
        return np.zeros(self.n_cells, dtype=bool) if given is None else np.asarray(given, bool)

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
        return int(chosen_cells(self, codes)[0])

    def cells(self, choice: CellChoice) -> np.ndarray:
        """Return the positions of some cells.

        Parameters
        ----------
        choice
            Codes by dimension (one, a list, or None for all; a dimension left out stands at its
            total), a list of such choices, a frame with a column per dimension, one flag per
            cell, or positions.
        """
        return chosen_cells(self, choice)

    @cached_property
    def keys(self) -> tuple[np.ndarray, np.ndarray]:
        """The codes of all cells packed into one number each, sorted, and where each stood."""
        packed = code_keys(self.codes, self.dimensions)
        order = np.argsort(packed, kind="stable")
        return packed[order], order

    @cached_property
    def code_frame(self) -> Any:
        """The codes of the cells as a Polars data frame, a column per dimension."""
        import polars as pl

        columns: dict[str, Any] = {
            dimension.name: pl.Series(dimension.codes, dtype=pl.String).gather(self.codes[:, j])
            for j, dimension in enumerate(self.dimensions)
        }
        if not self.dimensions:
            columns["cell"] = [self.labels(i)[0] for i in range(self.n_cells)]
        return pl.DataFrame(columns)

    @cached_property
    def frame(self) -> Any:
        """The cells as a Polars data frame: a column per dimension, the value and the count.

        Where a dimension has the name of the value or the count, that stands as ``count (cell)``.
        """
        columns: dict[str, Any] = {self.variable or "count": self.value}
        if self.variable not in (None, "count") and self.count is not None:
            columns["count"] = self.count
        return beside_codes(self, columns)

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
        unknown = np.flatnonzero(~np.isfinite(self.value))
        if len(unknown):
            raise DataError(
                "the table has cells whose value is missing or without limit",
                got=self.describe(unknown),
            )
        wrong = missed_sums(self)
        if len(wrong):
            raise DataError(
                "the table is not additive",
                got=describe_missed(self, wrong),
                do="correct the table, or leave the totals out and let tacit add them up",
            )

    # -- new values -----------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Table:
        """Return the table with some parts changed."""
        return replace(self, **changes)

    def _flagged(self, name: str, choice: CellChoice, flag: bool) -> Table:
        flags = self.flags(name).copy()
        flags[self.cells(choice)] = flag
        return self.replace(**{name: flags})

    def freeze(self, choice: CellChoice, flag: bool = True) -> Table:
        """Return the table with cells that must be published, or may again be suppressed."""
        return self._flagged("frozen", choice, flag)

    def force(self, choice: CellChoice, flag: bool = True) -> Table:
        """Return the table with cells that must be suppressed, or may again be published."""
        return self._flagged("forced", choice, flag)

    def waive(self, choice: CellChoice, flag: bool = True) -> Table:
        """Return the table with cells whose contributors agree to publication."""
        return self._flagged("waived", choice, flag)

    def request(self, choice: CellChoice, flag: bool = True) -> Table:
        """Return the table with cells in which a respondent has asked for protection."""
        return self._flagged("requested", choice, flag)

    def declare_unsafe(
        self, choice: CellChoice, *, below: float | None = None, above: float | None = None
    ) -> Table:
        """Return the table with cells that are sensitive whatever the rules say."""
        table = self._flagged("unsafe", choice, flag=True)
        return table.with_levels(choice, below=below, above=above)

    def with_levels(
        self, choice: CellChoice, *, below: float | None = None, above: float | None = None
    ) -> Table:
        """Return the table with protection levels for some cells in place of the rule's."""
        table = self._with_numbers("level_below", choice, below)
        return table._with_numbers("level_above", choice, above)

    def with_cost(self, choice: CellChoice, cost: Any) -> Table:
        """Return the table with what it costs to suppress some cells.

        Cells that were never given a cost have the cost of their absolute value.
        """
        present = np.abs(self.value) if self.cost is None else self.cost
        return self.replace(cost=present)._with_numbers("cost", choice, cost)

    def with_bounds(self, choice: CellChoice, *, lower: Any = None, upper: Any = None) -> Table:
        """Return the table with what anyone would think possible of some cells beforehand."""
        cells = self.cells(choice)
        low, high = (bound.copy() for bound in self.bounds)
        low[cells] = low[cells] if lower is None else lower
        high[cells] = high[cells] if upper is None else upper
        held = (low[cells] <= self.value[cells]) & (self.value[cells] <= high[cells])
        outside = cells[~held]
        if len(outside):
            raise DataError("the bounds of a cell must hold its value", got=self.describe(outside))
        return self.replace(lower=low, upper=high)

    def _with_numbers(self, name: str, choice: CellChoice, numbers: Any) -> Table:
        if numbers is None:
            return self
        if np.any(np.asarray(numbers) < 0):
            raise DataError(f"a {name.replace('_', ' ')} cannot be negative", got=numbers)
        present = getattr(self, name)
        filled = np.full(self.n_cells, np.nan) if present is None else np.array(present, float)
        filled[self.cells(choice)] = numbers
        return self.replace(**{name: filled})

    def sensitive(self, rule: Rule | Sensitive | None = None) -> Sensitive:
        """Return the sensitive cells: by a rule, and as the user declared, waived ones left out.

        Raises
        ------
        ProtectionError
            If a sensitive cell is frozen: it cannot be both published and protected.
        """
        from tacit.tables.sensitive import Sensitive, with_wishes

        if rule is None:
            found = Sensitive.none(self.n_cells)
        else:
            found = rule if isinstance(rule, Sensitive) else rule.sensitive(self)
        asked = found.rule if rule is None or isinstance(rule, Sensitive) else rule
        found = replace(with_wishes(self, found), rule=asked)
        stuck = np.flatnonzero(found.cells & self.flags("frozen"))
        if len(stuck):
            raise ProtectionError(
                "sensitive cells cannot be protected because they must be published",
                got=self.describe(stuck),
                do="release them (freeze with flag=False, or no p in the a-priori file), or waive "
                "their protection",
            )
        return found

    def protect(
        self, method: Protection, rule: Rule | Sensitive | None = None, **options: Any
    ) -> ProtectedTable:
        """Find the sensitive cells and protect them.

        Parameters
        ----------
        method
            How to protect, for example ``tables.SuppressModular()``.
        rule
            What is sensitive: a rule, several joined with ``|`` and ``&``, or cells found before;
            nothing if the user has declared the unsafe cells.
        """
        return method.protect(self, self.sensitive(rule), **options)


def beside_codes(table: Table, columns: Mapping[str, Any]) -> Any:
    """Return columns beside the codes of the cells; one with the name of a dimension is renamed."""
    import polars as pl

    codes = table.code_frame
    return codes.with_columns(
        pl.Series(f"{name} (cell)" if name in codes.columns else name, given)
        for name, given in columns.items()
    )
