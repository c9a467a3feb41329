"""Design columns as Narwhals expressions: complete records, numbers, categories, weights.

Nothing here reads data. `_moments_engine` turns these expressions into sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from operator import add
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.errors import DataError
from tacit.query.evidence import Factor, Term

Expr = Any
_LARGEST = 1e50
"""Numbers beyond this cannot be squared safely on every engine; they count as missing."""
_MOST_GROUPS = 50_000
"""Above this many combinations of categories, sums are taken column by column."""


@dataclass(frozen=True, eq=False)
class Categories:
    """How one variable is used through its categories or bins inside the engine."""

    grouped: Expr
    """What records are grouped by."""
    values: Mapping[str, tuple[Any, ...]]
    """What `grouped` gives for each category; a category may pool several values."""

    def is_one(self, column: Expr, level: str) -> Expr:
        """Whether a record is in a category, `column` holding what it is grouped by."""
        if level not in self.values:
            raise DataError("the variable has no such category", got=repr(level))
        tests = [column == value for value in self.values[level]]
        return reduce(lambda a, b: a | b, tests)

    @cached_property
    def _levels(self) -> dict[Any, str]:
        return {value: level for level, values in self.values.items() for value in values}

    def level(self, value: Any) -> str | None:
        """Return the category of a value that records were grouped by; nothing if missing."""
        return self._levels.get(value)


@dataclass(frozen=True, eq=False)
class Rows:
    """The records of a universe in their engine, and the columns that have a part of their own.

    The engine makes it once per request; whatever a policy drops is already gone. `known` keeps
    what the first pass over a design has found, so that later passes need not repeat it.
    """

    frame: nw.LazyFrame[Any]
    categories: Mapping[str, Categories] = field(default_factory=dict)
    weight: str | None = None
    """Survey weight; records without a positive one are incomplete."""
    keys: tuple[str, str] | None = None
    """The two secret integer keys of each record's unit."""
    repeated: bool = False
    """Whether a unit, known by its keys, may have several records."""
    n: int = 0
    """About how many records there are; 0 where it is not known."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Least and largest value of variables, where they are known."""
    known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        frame: nw.LazyFrame[Any],
        codings: Mapping[str, Any],
        variables: Mapping[str, Any],
        *,
        weight: str | None,
        keys: tuple[str, str],
        repeated: bool,
        n: int = 0,
        ranges: Mapping[str, tuple[float, float]] | None = None,
    ) -> Rows:
        """Read how `engine.Coding` codes the categories of `source.Variable`."""
        made = {n: _categories(codings[n], v.labels) for n, v in variables.items() if n in codings}
        return cls(frame, made, weight, keys, repeated, n, ranges or {})


def _categories(coding: Any, labels: Sequence[str]) -> Categories:
    named = [(c, label) for c, label in enumerate(labels) if c != coding.missing]
    if coding.edges is not None:
        return Categories(coding.grouped, {label: (c,) for c, label in named})
    pairs = list(zip(coding.raw, coding.code, strict=True))
    values = {label: tuple(v for v, code in pairs if code == c) for c, label in named}
    return Categories(coding.grouped, {label: v for label, v in values.items() if v})


@dataclass(frozen=True)
class Layout:
    """How the columns of a design are built from categories and numbers.

    Column j of the design is 1 or 0, by its categories, times number `numbers[place[j]]`; number 0
    is the constant one. Where there are too many combinations of categories, each column is a
    number of its own and nothing is grouped.
    """

    terms: tuple[Term, ...]
    response: Term
    groups: tuple[str, ...]
    """Variables by which sums are grouped."""
    numbers: tuple[tuple[Factor, ...], ...]
    place: tuple[int, ...]
    conditions: tuple[tuple[Factor, ...], ...]
    """Categories that column j needs, for grouped sums."""

    @classmethod
    def of(cls, terms: Sequence[Term], response: Term) -> Layout:
        """Arrange a design."""
        levels = {f for t in terms for f in t.factors if f.level is not None}
        variables = tuple(sorted({f.variable for f in levels}))
        sizes = [sum(f.variable == v for f in levels) + 1 for v in variables]
        grouped = prod(sizes) <= _MOST_GROUPS
        parts = [_parts(t, grouped) for t in terms]
        numbers = tuple(dict.fromkeys([(), *(number for _, number in parts)]))
        return cls(
            terms=tuple(terms),
            response=response,
            groups=variables if grouped else (),
            numbers=numbers,
            place=tuple(numbers.index(number) for _, number in parts),
            conditions=tuple(condition for condition, _ in parts),
        )

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Every factor of the design and the response."""
        listed = (f for t in (*self.terms, self.response) for f in t.factors)
        return tuple(dict.fromkeys(listed))


def _parts(term: Term, grouped: bool) -> tuple[tuple[Factor, ...], tuple[Factor, ...]]:
    if not grouped:
        return (), term.factors
    condition = tuple(f for f in term.factors if f.level is not None)
    return condition, tuple(f for f in term.factors if f.level is None)


def complete(rows: Rows, layout: Layout, weighted: bool) -> nw.LazyFrame[Any]:
    """Return the complete records with short names: n1.. numbers, g0.. categories, y, w, k1, k2.

    A record is complete when every variable of the design, the response and the weight has a
    usable value: the rules that follow then see the design the model really has.
    """
    schema = rows.frame.collect_schema()
    weight = rows.weight if weighted else None
    numbers = [f for f in layout.factors if f.level is None]
    _check(rows, layout, schema)
    # A number that is missing is in no range.
    named = {f.variable for f in layout.factors if f.level is not None or _is_flag(f, schema)}
    usable = [~nw.col(v).is_null() for v in sorted(named)]
    usable += [_in_range(f, schema) for f in numbers if not _is_flag(f, schema)]
    if weight is not None:
        number = _number(weight, schema)
        usable += [~nw.col(weight).is_null(), (number > 0) & (number <= _LARGEST)]
    kept = rows.frame.filter(*usable) if usable else rows.frame
    return kept.select(*_columns(rows, layout, weight, schema))


def _is_flag(factor: Factor, schema: Any) -> bool:
    return bool(schema[factor.variable] == nw.Boolean)


def _check(rows: Rows, layout: Layout, schema: Any) -> None:
    for factor in layout.factors:
        if factor.variable not in schema:
            raise DataError("the data have no such column", got=repr(factor.variable))
        if factor.level is not None and factor.variable not in rows.categories:
            raise DataError("this variable has no categories", got=repr(factor.variable))


def _columns(rows: Rows, layout: Layout, weight: str | None, schema: Any) -> list[Expr]:
    columns = [
        _double(number, rows, schema).alias(f"n{i}")
        for i, number in enumerate(layout.numbers)
        if number
    ]
    columns += [rows.categories[v].grouped.alias(f"g{i}") for i, v in enumerate(layout.groups)]
    columns += [_double(layout.response.factors, rows, schema).alias("y")]
    columns += [_one(rows).alias("w") if weight is None else _number(weight, schema).alias("w")]
    if rows.keys is not None:
        columns += [nw.col(k).alias(a) for k, a in zip(rows.keys, ("k1", "k2"), strict=True)]
    return columns


def _one(rows: Rows) -> Expr:
    """Return a one that is a double on every engine; PostgreSQL adds up plain ones as decimals."""
    if rows.keys is None:
        return nw.lit(1.0)
    return nw.col(rows.keys[0]).cast(nw.Float64) * 0.0 + 1.0


def _double(factors: tuple[Factor, ...], rows: Rows, schema: Any) -> Expr:
    """Return a product of factors that is a double, also where all of them are ones and zeros."""
    whole = _product(factors, rows, schema)
    written = all(f.level is not None or _is_flag(f, schema) for f in factors)
    return whole * _one(rows) if written else whole


def _product(factors: tuple[Factor, ...], rows: Rows, schema: Any) -> Expr:
    if not factors:
        return nw.lit(1.0).cast(nw.Float64)
    whole: Expr = reduce(lambda a, b: a * b, [_value(f, rows, schema) for f in factors])
    return whole


def _value(factor: Factor, rows: Rows, schema: Any) -> Expr:
    if factor.level is not None:
        known = rows.categories[factor.variable]
        return (
            nw.when(known.is_one(known.grouped, factor.level))
            .then(1.0)
            .otherwise(0.0)
            .cast(nw.Float64)
        )
    number = _number(factor.variable, schema)
    match factor.transform:
        case "identity":
            return number
        case "square":
            return number * number
        case "sqrt":
            # The test comes first because some engines stop at a root of a negative number.
            return nw.when(number >= 0).then(number).otherwise(0.0).sqrt()
        case "log":
            return nw.when(number > 0).then(number).otherwise(1.0).log()
    raise DataError("there is no such transformation", got=repr(factor.transform))


def _in_range(factor: Factor, schema: Any) -> Expr:
    number = _number(factor.variable, schema)
    # Written so that NaN, which some engines hold to be the largest number, is left out.
    usable = (number <= _LARGEST) & (number >= -_LARGEST)
    if factor.transform == "log":
        return usable & (number > 0)
    return usable & (number >= 0) if factor.transform == "sqrt" else usable


def _number(name: str, schema: Any) -> Expr:
    dtype = schema[name]
    if dtype == nw.Boolean:
        return nw.when(nw.col(name)).then(1.0).otherwise(0.0).cast(nw.Float64)
    if not dtype.is_numeric():
        raise DataError("this variable does not hold numbers", got=repr(name))
    return nw.col(name).cast(nw.Float64)


def condition(layout: Layout, column: int, rows: Rows) -> Expr | None:
    """Whether column j of a grouped design is not zero, on records with short names."""
    tests = []
    for factor in layout.conditions[column]:
        short = nw.col(f"g{layout.groups.index(factor.variable)}")
        tests.append(rows.categories[factor.variable].is_one(short, str(factor.level)))
    return reduce(lambda a, b: a & b, tests) if tests else None


def total(parts: Sequence[Expr]) -> Expr:
    """Add up expressions."""
    return reduce(add, parts) if parts else nw.lit(0.0).cast(nw.Float64)


def holds(layout: Layout, labels: np.ndarray) -> np.ndarray:
    """Whether each column of the design is not zero, for each combination of categories."""
    found = np.ones((len(labels), len(layout.terms)), dtype=bool)
    tests: dict[Factor, np.ndarray] = {}
    for j, needed in enumerate(layout.conditions):
        for factor in needed:
            if factor not in tests:
                tests[factor] = labels[:, layout.groups.index(factor.variable)] == factor.level
            found[:, j] &= tests[factor]
    return found
