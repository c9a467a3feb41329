"""Sources: data as a server knows them, and as it describes them to its users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, SchemaError
from tacit.core.schema import Kind, Role
from tacit.query.answer import PARSE, Refused
from tacit.query.universe import Condition, Range, Universe

MISSING, OTHER = "missing", "other"
"""Categories of records without a value, and of values too rare to be named."""


@dataclass(frozen=True, eq=False)
class Source:
    """Data to be served, and which of their columns play which part.

    Parameters
    ----------
    data
        Microdata, or a frame of any kind: Polars, pandas, DuckDB, Ibis, Spark.
    unit
        Column that names the unit of each record; several records may belong to one unit.
    keys
        Two columns of stored record keys, in place of a unit.
    one_record_per_unit
        Whether every record is a unit of its own; else it is counted once, which takes a while on
        very large data.
    weight
        Survey weight; by default the one of the schema.
    categories
        Variables to be used through their categories; by default all nominal and ordinal ones.
    numbers
        Numeric variables to be summed and modelled, and used through cutpoints; by default all.
    bins
        Cutpoints of numeric variables, chosen by hand, by name.
    hierarchies
        Hierarchies whose nodes may be used as conditions, by name of the variable.

    Examples
    --------
    >>> import tacit
    >>> source = Source(tacit.datasets.census(200), bins={"age": [18, 65]})
    >>> "age" in source.numeric
    True
    """

    data: Any
    unit: str | None = None
    keys: tuple[str, str] | None = None
    one_record_per_unit: bool = False
    weight: str | None = None
    categories: Sequence[str] | None = None
    numbers: Sequence[str] | None = None
    bins: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Any) -> Source:
        """Wrap data; a source is returned as it is."""
        return data if isinstance(data, Source) else cls(data)

    @cached_property
    def microdata(self) -> Microdata:
        """The records with their schema."""
        data = Microdata.of(self.data)
        named = [*(self.categories or ()), *(self.numbers or ()), *self.bins, *self.hierarchies]
        data.schema.require([*named, *filter(None, (self.unit, self.weight))])
        return data

    @cached_property
    def weight_column(self) -> str | None:
        """Column of survey weights."""
        return self.weight or self.microdata.schema.weight

    @cached_property
    def _apart(self) -> set[str]:
        """Columns that are never variables: names of units, keys, weights."""
        schema = self.microdata.schema
        special = schema.names(Role.IDENTIFIER, Role.WEIGHT, Role.HOUSEHOLD)
        return {*special, *(self.keys or ()), *filter(None, (self.unit, self.weight_column))}

    @cached_property
    def categorical(self) -> tuple[str, ...]:
        """Variables used through their categories."""
        schema = self.microdata.schema
        if self.categories is not None:
            return self._allowed(self.categories)
        found = [n for k in (Kind.NOMINAL, Kind.ORDINAL) for n in schema.names(kind=k)]
        return tuple(n for n in schema.columns if n in found and n not in self._apart)

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Variables that may be summed and modelled."""
        schema = self.microdata.schema
        if self.numbers is not None:
            schema.require(self.numbers, kinds=[Kind.NUMERIC], by="a server's number")
            return self._allowed(self.numbers)
        found = [n for n in schema.names(kind=Kind.NUMERIC) if n not in self._apart]
        return tuple(n for n in found if n not in (self.categories or ()))

    def _allowed(self, names: Sequence[str]) -> tuple[str, ...]:
        if isinstance(names, str):
            raise ParameterError("variables are given as a list of names", got=repr(names))
        wrong = [name for name in names if name in self._apart]
        if wrong:
            raise SchemaError(
                "a column that names units or weighs them cannot be asked about", got=repr(wrong[0])
            )
        return tuple(names)


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable as users see it: its categories, or its bins."""

    name: str
    labels: tuple[str, ...]
    """Categories, or the bins in words; `MISSING` last where some records have no value."""
    edges: tuple[float, ...] = ()
    """Cutpoints of a numeric variable: bin j holds values from edge j-1 up to below edge j."""
    is_number: bool = False
    nodes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Nodes of the hierarchy: which categories each stands for."""
    spans: frozenset[tuple[int, int]] = frozenset()
    """Tree nodes over the bins: first bin, and the one after the last."""

    def codes(self, condition: Condition) -> tuple[int, ...]:
        """Return the categories or bins that a condition names; anything else is refused."""
        if condition.ranges and not self.is_number:
            raise unknown("this variable has categories, no numbers")
        if condition.ranges:
            found = {c for one in condition.ranges for c in range(*self.span(one))}
        else:
            found = {c for value in condition.values for c in self._named(value)}
        return tuple(sorted(found))

    def _named(self, value: str) -> tuple[int, ...]:
        if value in self._places:
            return (self._places[value],)
        if value in self.nodes:
            return self.nodes[value]
        if self.is_number:
            raise unknown("a numeric variable is cut at its cutpoints only")
        raise unknown("the variable has no such category")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def span(self, given: Range) -> tuple[int, int]:
        """Return the first bin of a range, and the one after its last."""
        n_bins = len(self.edges) + 1
        low = 0 if given.low is None else self._edge(given.low) + 1
        high = n_bins if given.high is None else self._edge(given.high) + 1
        return low, high

    def _edge(self, value: float) -> int:
        at = int(np.searchsorted(self.edges, value))
        if at >= len(self.edges) or self.edges[at] != value:
            raise unknown("a numeric variable is cut at its cutpoints only")
        return at

    def plain(self) -> dict[str, Any]:
        """Return what users may know about the variable."""
        told: dict[str, Any] = {"name": self.name, "categories": list(self.labels)}
        if self.is_number:
            told = {"name": self.name, "bins": list(self.labels), "cutpoints": list(self.edges)}
        return told | ({"nodes": sorted(self.nodes)} if self.nodes else {})


def unknown(reason: str) -> Refused:
    """Return the refusal of something that the public description does not have."""
    return Refused(PARSE, reason, hint="see describe() for variables, categories and cutpoints")


@dataclass(frozen=True, eq=False)
class Registered:
    """The public description of the data: variables with categories and cutpoints."""

    variables: Mapping[str, Variable]
    numbers: tuple[str, ...]
    has_weight: bool
    version: str

    def variable(self, name: str) -> Variable:
        """Return a variable usable through categories or bins, or refuse."""
        if name not in self.variables:
            raise unknown("there is no such variable")
        return self.variables[name]

    def number(self, name: str) -> str:
        """Return a variable that may be summed, or refuse."""
        if name not in self.numbers:
            raise unknown("there is no such numeric variable")
        return name

    def pieces(self, universe: Universe) -> list[dict[str, tuple[int, ...]]]:
        """Return the codes that each piece of a universe allows, by variable."""
        return [
            {c.variable: self.variable(c.variable).codes(c) for c in p} for p in universe.pieces
        ]

    def plain(self) -> dict[str, Any]:
        """Return the description as plain data."""
        return {
            "variables": [v.plain() for v in self.variables.values()],
            "numbers": list(self.numbers),
            "weighted": self.has_weight,
            "data": self.version,
        }
