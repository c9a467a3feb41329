"""Microdata: a lazy frame and a schema, never changed in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.constraints import Constraint
from tacit.core.errors import DataError, SchemaError
from tacit.core.frame import Origin, collect, enter
from tacit.core.hierarchy import as_hierarchy
from tacit.core.knowledge import Knowledge
from tacit.core.replacing import as_one
from tacit.core.schema import Kind, Role, Schema, Variable

ROW = "__tacit_row__"
"""Hidden column that remembers which original record a released record came from."""
_AS_IT_IS = "\0as it is"
"""Stands for a role that is left alone; no column of a file has this name."""


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records of units with what is known about their columns.

    Make one with `tacit.read`. Every method returns a new value; the frame that came in is never
    changed.

    Examples
    --------
    >>> import tacit
    >>> data = tacit.datasets.patients()
    >>> data.schema.keys
    ['Age', 'State']
    >>> data.n_records
    10
    """

    lazy: nw.LazyFrame[Any]
    """The records as a Narwhals lazy frame, the form in which methods work."""
    schema: Schema
    """Roles, kinds, hierarchies and constraints."""
    origin: Origin
    """What kind of frame came in."""
    knowledge: Knowledge = field(default_factory=Knowledge)
    """What an intruder knows about single records, beyond the keys."""
    source: str | None = None
    """The file or table the records were read from."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How they were read (format, declared types, options), as `tacit.read` takes it."""

    @classmethod
    def of(cls, data: Any, *, source: str | None = None) -> Microdata:
        """Wrap a frame of any kind; microdata are returned as they are."""
        if isinstance(data, Microdata):
            return data
        frame, origin = enter(data)
        types = frame.collect_schema()
        if ROW in types:
            raise DataError(f"the column name {ROW!r} is taken by tacit", do="rename the column")
        patterns = [name for name in types if _is_pattern(name)]
        if patterns:
            raise DataError(
                "a column name must not be a pattern that stands for several columns",
                got=repr(patterns[0]),
                do="rename the column",
            )
        variables = tuple(Variable(name=name, kind=_kind_of(t)) for name, t in types.items())
        schema = Schema(variables=variables)
        return cls(frame, _with_declared_order(schema, origin), origin, source=source)

    # -- looking --------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.schema.columns

    @cached_property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.lazy.select(nw.len()).collect("polars").item())

    def __len__(self) -> int:
        return self.n_records

    def __repr__(self) -> str:
        roles = ", ".join(f"{r}: {self.schema.names(r)}" for r in Role if self.schema.names(r))
        return f"Microdata({self.n_records:,} records, {len(self.columns)} columns; {roles})"

    @property
    def frame(self) -> Any:
        """The records as the kind of frame that came in."""
        return self.origin.restore(self.lazy.select(self.columns))

    @cached_property
    def local(self) -> Any:
        """The records as a Polars `DataFrame` in memory."""
        return collect(self.lazy)

    def in_memory(self) -> Microdata:
        """Return the same records, held in memory by Polars."""
        return self._holding(self.local, self.schema)

    # -- arrays for kernels ---------------------------------------------------------------------

    def numeric(self, columns: Sequence[str]) -> np.ndarray:
        """Return the columns as an array of floats, records by columns; missing values are NaN."""
        self.schema.require(columns, kinds=[Kind.NUMERIC])
        if not columns:
            return np.empty((self.n_records, 0))
        table = collect(self.lazy.select(nw.col(list(columns)).cast(nw.Float64)))
        return np.ascontiguousarray(
            np.column_stack([table[c].to_numpy() for c in columns]), dtype=np.float64
        )

    @property
    def weights(self) -> np.ndarray | None:
        """Sampling weights, where the schema names them; they must be finite and above zero."""
        if self.schema.weight is None:
            return None
        weights = self.numeric([self.schema.weight])[:, 0]
        if not np.all(np.isfinite(weights) & (weights > 0)):
            raise DataError(
                f"the weight {self.schema.weight!r} must be a number above 0 on every record",
                got=f"{int(np.sum(~(np.isfinite(weights) & (weights > 0))))} other values",
            )
        return weights

    @property
    def rows(self) -> np.ndarray | None:
        """For each record the original record it came from, where a plan has kept count."""
        if ROW not in self.lazy.collect_schema():
            return None
        return np.asarray(self.local[ROW].to_numpy(), dtype=np.int64)

    # -- new values -----------------------------------------------------------------------------

    def _holding(self, table: Any, schema: Schema) -> Microdata:
        return replace(self, lazy=nw.from_native(table.lazy()), schema=schema)

    def numbered(self) -> Microdata:
        """Return the records in memory with a hidden column that counts them."""
        table = self.local.drop(ROW, strict=False).with_row_index(ROW)
        return self._holding(table, self.schema)

    def sorted_by_number(self) -> Microdata:
        """Return the records in memory, in the order of the numbers that a plan gave them."""
        return self._holding(self.local.sort(ROW), self.schema)

    def with_schema(self, schema: Schema) -> Microdata:
        """Use another schema for the same columns, given in any order."""
        missing = [c for c in schema.columns if c not in self.columns]
        if missing:
            self.schema[missing[0]]
        described = {v.name: v for v in schema.variables}
        variables = tuple(described.get(v.name, v) for v in self.schema.variables)
        full = Schema(variables=variables, constraints=schema.constraints)
        return self._described_by(full)

    def _described_by(self, schema: Schema) -> Microdata:
        """Use a schema whose new kinds fit the types of their columns."""
        types = self.lazy.collect_schema()
        for before, after in zip(self.schema.variables, schema.variables, strict=True):
            if after.kind != before.kind and not _can_be(types[after.name], after.kind):
                raise SchemaError(
                    f"{after.name!r} cannot be {after.kind}",
                    got=f"a column of {types[after.name]}",
                    do=f"convert it, for example with tacit.read(..., "
                    f"types={{{after.name!r}: {str(after.kind)!r}}})",
                )
        return replace(self, schema=schema)

    def with_roles(
        self,
        *,
        identifiers: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        confidential: Iterable[str] | None = None,
        non_confidential: Iterable[str] | None = None,
        weight: str | None = _AS_IT_IS,
        household: str | None = _AS_IT_IS,
        strata: Iterable[str] | None = None,
        linked: Mapping[str, str] | None = None,
    ) -> Microdata:
        """Classify columns; a role that is given replaces its former columns.

        An empty list takes a role away, as None does for weight and household.

        Parameters
        ----------
        identifiers
            Columns that name a unit outright; removed before anything else.
        keys
            Columns an intruder may know (quasi-identifiers).
        confidential
            Columns that must not become known about a unit.
        non_confidential
            Columns that are neither.
        weight
            Sampling weight; None for no weight.
        household
            Column that says which records belong together; None for no such column.
        strata
            Strata of the sampling design.
        linked
            Columns that copy the suppressions of a key: ``{"city_name": "city"}``.
        """
        given: dict[Role, Iterable[str] | None] = {
            Role.IDENTIFIER: identifiers,
            Role.KEY: keys,
            Role.CONFIDENTIAL: confidential,
            Role.NON_CONFIDENTIAL: non_confidential,
            Role.WEIGHT: _alone(weight),
            Role.HOUSEHOLD: _alone(household),
            Role.STRATUM: strata,
        }
        roles = {role: _names(names, role) for role, names in given.items() if names is not None}
        schema = self.schema.with_roles(roles)
        if linked is not None:
            schema = schema.with_linked(linked)
        return replace(self, schema=schema)

    def with_kinds(self, **kinds: Kind | str) -> Microdata:
        """Say how columns compare: ``with_kinds(sex="nominal")``."""
        return self._described_by(self.schema.with_kinds(kinds))

    def with_categories(self, **categories: Iterable[str]) -> Microdata:
        """Declare ordinal columns with their ordered categories, lowest first."""
        return replace(self, schema=self.schema.with_categories(categories))

    def with_hierarchies(self, **hierarchies: Any) -> Microdata:
        """Attach value hierarchies to columns."""
        known = {name: as_hierarchy(h) for name, h in hierarchies.items()}
        return replace(self, schema=self.schema.with_hierarchies(known))

    def with_constraints(self, *constraints: Constraint) -> Microdata:
        """Add edit rules that the release must keep."""
        schema = self.schema.replace(constraints=(*self.schema.constraints, *constraints))
        types = self.lazy.collect_schema()
        for rule in constraints:
            if not rule.fits(types):
                raise SchemaError(
                    f"the rule {str(rule)!r} does not fit the types of its columns",
                    got=", ".join(f"{c!r}: {types[c]}" for c in rule.columns),
                    do="compare numbers with numbers, and an indicator with a value of its type",
                )
        return replace(self, schema=schema)

    def with_knowledge(
        self, everyone: Iterable[str] = (), some: Mapping[str, Iterable[bool]] | None = None
    ) -> Microdata:
        """Say which fields an intruder knows, for every record or for some (TFB, section 3)."""
        if isinstance(everyone, str):
            raise SchemaError(
                "known columns are given as a list of names",
                got=repr(everyone),
                do=f"write [{everyone!r}]",
            )
        knowledge = Knowledge.of(everyone, some or {}, self.n_records)
        self.schema.require(knowledge.columns)
        return replace(self, knowledge=knowledge)

    def with_columns(self, **expressions: nw.Expr) -> Microdata:
        """Replace columns by Narwhals expressions, evaluated in the engine."""
        self.schema.require(expressions)
        changed = [expression.alias(name) for name, expression in expressions.items()]
        return replace(self, lazy=self.lazy.with_columns(changed))

    def with_arrays(self, arrays: Mapping[str, np.ndarray]) -> Microdata:
        """Replace columns by arrays, one value per record; NaN becomes missing."""
        import polars as pl

        self.schema.require(arrays)
        series = []
        for name, array in arrays.items():
            self._check_length(name, array)
            column = pl.Series(name, np.array(array))  # a copy: Polars would share the memory
            series.append(column.fill_nan(None) if column.dtype.is_float() else column)
        return self._holding(self.local.with_columns(series), self.schema)

    def with_missing(self, masks: Mapping[str, np.ndarray]) -> Microdata:
        """Blank the values where a column's mask is true; all else stays as it is."""
        import polars as pl

        self.schema.require(masks)
        for name, mask in masks.items():
            self._check_length(name, mask)
        blanked = [
            pl.when(pl.Series(~np.asarray(mask, dtype=bool))).then(pl.col(name)).alias(name)
            for name, mask in masks.items()
        ]
        return self._holding(self.local.with_columns(blanked), self.schema)

    def with_local(self, table: Any) -> Microdata:
        """Return the same variables held by another Polars frame of as many records."""
        if table.height != self.n_records or not set(self.columns) <= set(table.columns):
            raise DataError(
                "the frame must hold the same columns and as many records",
                got=f"{table.height} records of {table.width} columns",
            )
        return self._holding(table, self.schema)

    def _check_length(self, name: str, values: np.ndarray) -> None:
        if np.shape(values) != (self.n_records,):
            shape = " by ".join(map(str, np.shape(values)))
            raise DataError(f"{name!r} needs one value per record", got=f"{shape} values")

    def take(self, index: np.ndarray) -> Microdata:
        """Return the records at these positions, in this order."""
        taken = self._holding(self.local[index], self.schema)
        return replace(taken, knowledge=self.knowledge.take(index))

    def drop(self, columns: Iterable[str]) -> Microdata:
        """Return the records without some columns."""
        columns = list(columns)
        self.schema.require(columns)
        kept = [c for c in self.columns if c not in columns]
        return replace(
            self,
            lazy=self.lazy.drop(columns),
            schema=self.schema.select(kept),
            knowledge=self.knowledge.only(kept),
        )

    def broken_constraints(self) -> dict[str, int]:
        """Count, for each rule of the schema, the records that break it.

        A rule about a column that has become text (intervals, say) can no longer be broken.
        """
        broken = self._broken()
        if not broken:
            return {}
        counts = [as_one(flag).sum().alias(rule) for rule, flag in broken.items()]
        row = self.lazy.select(counts).collect("polars").rows(named=True)[0]
        return {rule: int(count or 0) for rule, count in row.items()}

    def breaking_records(self) -> dict[str, np.ndarray]:
        """Say, for each rule of the schema, which records break it."""
        broken = self._broken()
        if not broken:
            return {}
        flags = [flag.fill_null(False).alias(rule) for rule, flag in broken.items()]
        table = collect(self.lazy.select(flags))
        return {rule: np.asarray(table[rule].to_numpy(), dtype=bool) for rule in broken}

    def _broken(self) -> dict[str, nw.Expr]:
        types = self.lazy.collect_schema()
        return {str(rule): rule.broken() for rule in self.schema.constraints if rule.fits(types)}


def _alone(name: str | None) -> list[str] | None:
    """Return the columns of a role that one column at most can have; None leaves it alone."""
    if name == _AS_IT_IS:
        return None
    return [] if name is None else [name]


def _names(names: Iterable[str], role: Role) -> list[str]:
    if isinstance(names, str):
        raise SchemaError(
            f"{role} columns are given as a list of names", got=repr(names), do=f"write [{names!r}]"
        )
    return list(names)


def _kind_of(dtype: Any) -> Kind:
    if dtype.is_numeric():
        return Kind.NUMERIC
    if dtype.is_temporal():
        return Kind.DATE
    return Kind.NOMINAL


def _is_pattern(name: str) -> bool:
    """Whether Polars would take the name for several columns: ``*``, or ``^...$``."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def _can_be(dtype: Any, kind: Kind) -> bool:
    """Whether values of this type compare as the kind says."""
    if kind is Kind.NUMERIC:
        return bool(dtype.is_numeric() or dtype == nw.Boolean)
    return kind is not Kind.DATE or bool(dtype.is_temporal())


def _with_declared_order(schema: Schema, origin: Origin) -> Schema:
    """Keep what the types of the columns said: categories, and their order if they had one."""
    unordered = {
        name: Kind.NOMINAL
        for name, dtype in origin.declared.items()
        if type(dtype).__name__ == "CategoricalDtype"
    }
    return schema.with_kinds(unordered).with_categories(origin.orders)
