"""From a user's records to what the aggregation reads: columns renamed, checked, cleaned."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.schema import Kind
from tacit.tables._leaves import BASIS, REQUEST, VALUE, WEIGHT, Source

MissingCodes = Literal["error", "own category", "drop"]
MissingValues = Literal["error", "drop"]
_SOME_DAY = dt.datetime(1970, 1, 1)
MISSING_LABEL = "missing"
"""The code of records that have none, where they form a category of their own."""


@dataclass(frozen=True)
class Columns:
    """Which column plays which part."""

    by: tuple[str, ...]
    value: str | None = None
    shadow: str | None = None
    weight: str | None = None
    request: str | None = None
    units: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def check(self, data: Microdata) -> None:
        """Refuse columns that are not there, are named twice or are not numbers."""
        if len(set(self.by)) < len(self.by):
            raise ParameterError("by names a column twice", got=", ".join(self.by))
        data.schema.require((*self.by, *self.units))
        numbers = [c for c in (self.value, self.shadow, self.weight, *self.sums) if c is not None]
        data.schema.require(numbers, kinds=[Kind.NUMERIC], by="a total")
        if self.request is not None:
            data.schema.require([self.request])
        data.schema.require(self.keys)
        types = data.lazy.collect_schema()
        for name in self.by:
            if types[name] == nw.Duration:
                raise SchemaError(f"{name!r} holds spans of time", do="convert it to a number")
        fractions = [name for name in self.keys if not types[name].is_integer()]
        if fractions:
            raise SchemaError(
                "record keys must be whole numbers, whose sums are the same on every engine",
                got=f"{fractions[0]!r}, {types[fractions[0]]}",
                do="make them with tables.with_record_keys, or tables.whole_keys from fractions",
            )


@dataclass(frozen=True)
class Prepared:
    """Records ready to be aggregated, and how to read the codes that come back."""

    source: Source
    columns: Columns
    flags: dict[int, str] = field(default_factory=dict)
    """For a dimension with missing codes, the column that marks them."""
    units: dict[str, str] = field(default_factory=dict)
    """Our name of each column of units."""
    has_negative: bool = False


def prepare(
    data: Microdata, columns: Columns, missing: MissingCodes, missing_value: MissingValues
) -> Prepared:
    """Select, rename and check the columns of a table; one pass over the records."""
    columns.check(data)
    frame, units = _renamed(data, columns)
    facts = _facts(frame, columns)
    _check_codes(columns, facts, missing)
    _check_values(columns, facts, missing_value)
    _check_keys(columns, facts)
    frame = _without_missing(frame, columns, facts)
    flags: dict[int, str] = {}
    if missing == "own category":
        gaps = [j for j in range(len(columns.by)) if facts[f"c{j}_null"]]
        frame, flags = _filled(frame, gaps)
    elif any(facts[f"c{j}_null"] for j in range(len(columns.by))):
        for j in range(len(columns.by)):
            frame = frame.filter(~nw.col(f"c{j}").is_null())
    source = Source(
        frame=frame,
        by=(*(f"c{j}" for j in range(len(columns.by))), *flags.values()),
        n_records=int(facts["n"]),
        has_value=columns.value is not None,
        has_weight=columns.weight is not None,
        has_request=columns.request is not None,
        sums=tuple(f"s{j}" for j in range(len(columns.sums))),
        without_unit={name: int(facts[f"{name}_null"]) for name in units.values()},
        keys=tuple(f"k{j}" for j in range(len(columns.keys))),
    )
    lowest = facts.get(f"{BASIS}_min")
    return Prepared(source, columns, flags, units, lowest is not None and lowest < 0)


def _renamed(data: Microdata, columns: Columns) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
    units = {name: f"u{j}" for j, name in enumerate(columns.units)}
    types = data.lazy.collect_schema()
    taken = [_code(n, types[n] == nw.Boolean).alias(f"c{j}") for j, n in enumerate(columns.by)]
    if columns.value is not None:
        taken.append(nw.col(columns.value).cast(nw.Float64).alias(VALUE))
        taken.append(nw.col(columns.shadow or columns.value).cast(nw.Float64).alias(BASIS))
    if columns.weight is not None:
        taken.append(nw.col(columns.weight).cast(nw.Float64).alias(WEIGHT))
    if columns.request is not None:
        taken.append(_request(data, columns.request).alias(REQUEST))
    taken += [nw.col(name).alias(ours) for name, ours in units.items()]
    taken += [nw.col(n).cast(nw.Float64).alias(f"s{j}") for j, n in enumerate(columns.sums)]
    taken += [nw.col(n).cast(nw.Int64).alias(f"k{j}") for j, n in enumerate(columns.keys)]
    if not taken:
        taken = [nw.col(data.columns[0]).alias("c")]
    return data.lazy.select(taken), units


def _code(name: str, is_flag: bool) -> nw.Expr:
    """Return a column of codes; flags become words, because not every engine can order them."""
    if not is_flag:
        return nw.col(name)
    words = nw.when(nw.col(name)).then(nw.lit("true")).otherwise(nw.lit("false"))
    return nw.when(~nw.col(name).is_null()).then(words)


def _request(data: Microdata, column: str) -> nw.Expr:
    """Return 1 or 2 where a respondent asks for protection (the two request codes), else 0."""
    dtype = data.lazy.collect_schema()[column]
    if dtype == nw.Boolean:
        return nw.when(nw.col(column)).then(nw.lit(1)).otherwise(nw.lit(0))
    if dtype.is_numeric():
        given = nw.col(column).cast(nw.Float64)
        asked = nw.when(given == 2).then(nw.lit(2)).otherwise(nw.lit(1))
        return nw.when(given.fill_null(0.0) != 0).then(asked).otherwise(nw.lit(0))
    text = nw.col(column).cast(nw.String).fill_null("").str.strip_chars()
    asked = nw.when(text == "2").then(nw.lit(2)).otherwise(nw.lit(1))
    return nw.when((text != "") & (text != "0")).then(asked).otherwise(nw.lit(0))


def _facts(frame: nw.LazyFrame[Any], columns: Columns) -> dict[str, Any]:
    """Return the number of records, of missing values and the ranges of numbers."""
    names = frame.collect_schema().names()
    asked = [nw.len().alias("n")]
    asked += [nw.col(c).count().alias(f"{c}_there") for c in names]
    for c in names:
        if c in (VALUE, BASIS, WEIGHT) or c[0] in "sk":
            asked += [nw.col(c).min().alias(f"{c}_min"), nw.col(c).max().alias(f"{c}_max")]
    facts = frame.select(asked).collect("polars").rows(named=True)[0]
    gaps = {f"{c}_null": int(facts["n"]) - int(facts[f"{c}_there"]) for c in names}
    return {**facts, **gaps}


def _check_codes(columns: Columns, facts: dict[str, Any], missing: MissingCodes) -> None:
    if missing not in ("error", "own category", "drop"):
        raise ParameterError(
            "missing codes are an error, a category of their own or dropped", got=repr(missing)
        )
    for j, name in enumerate(columns.by):
        if missing == "error" and facts[f"c{j}_null"]:
            raise DataError(
                f"{name!r} is missing on some records",
                got=f"{facts[f'c{j}_null']:,} of {facts['n']:,}",
                do="say missing='own category' or missing='drop'",
            )


def _check_values(columns: Columns, facts: dict[str, Any], missing_value: MissingValues) -> None:
    numbers = {VALUE: columns.value, BASIS: columns.shadow or columns.value, WEIGHT: columns.weight}
    numbers |= {f"s{j}": name for j, name in enumerate(columns.sums)}
    for ours, name in numbers.items():
        if name is None:
            continue
        low, high, gaps = (facts[f"{ours}_{fact}"] for fact in ("min", "max", "null"))
        if gaps and (ours == WEIGHT or missing_value == "error"):
            raise DataError(
                f"{name!r} is missing on some records",
                got=f"{gaps:,} of {facts['n']:,}",
                do="give every record a weight" if ours == WEIGHT else "say missing_value='drop'",
            )
        if low is not None and not (np.isfinite(low) and np.isfinite(high)):
            raise DataError(f"{name!r} has values without limit", do="correct or drop the records")
        if ours == WEIGHT and low is not None and low <= 0:
            raise DataError(
                f"the weight {name!r} must be a number above 0 on every record", got=f"{low:g}"
            )


def _check_keys(columns: Columns, facts: dict[str, Any]) -> None:
    for j, name in enumerate(columns.keys):
        low, high, gaps = (facts[f"k{j}_{fact}"] for fact in ("min", "max", "null"))
        if gaps or (low is not None and (low < 0 or high >= 2**31)):
            raise DataError(
                f"every record needs a key from 0 to 2^31 - 1 in {name!r}",
                got=f"{gaps:,} missing" if gaps else f"{low:,} to {high:,}",
                do="make keys with tables.with_record_keys",
            )
        # With one key for all, the noise of a cell follows from its count and hides nothing.
        if low is not None and low == high and facts["n"] > 1:
            raise DataError(
                f"record keys must differ, and all of {name!r} are the same",
                got=f"{low:,} on {facts['n']:,} records",
                do="make keys with tables.with_record_keys",
            )


def _without_missing(
    frame: nw.LazyFrame[Any], columns: Columns, facts: dict[str, Any]
) -> nw.LazyFrame[Any]:
    """Leave out records without a value: one that reports nothing must not count as a unit."""
    numbers = [VALUE, BASIS, *(f"s{j}" for j in range(len(columns.sums)))]
    for ours in numbers:
        if facts.get(f"{ours}_null"):
            frame = frame.filter(~nw.col(ours).is_null())
    return frame


def _filled(frame: nw.LazyFrame[Any], gaps: list[int]) -> tuple[nw.LazyFrame[Any], dict[int, str]]:
    """Mark missing codes in a column of their own, because joins do not match missing values."""
    types = frame.collect_schema()
    made, flags = [], {}
    for j in gaps:
        name, dtype = f"c{j}", types[f"c{j}"]
        column, filler = nw.col(name), nw.lit("")
        if dtype.is_numeric():
            filler = nw.lit(0)
        elif dtype in (nw.Date, nw.Datetime):
            filler = nw.lit(_SOME_DAY).cast(dtype)
        elif dtype != nw.String:
            column = column.cast(nw.String)
        flags[j] = f"m{j}"
        mark = nw.when(nw.col(name).is_null()).then(nw.lit(1)).otherwise(nw.lit(0))
        made.append(mark.alias(flags[j]))
        made.append(nw.when(nw.col(name).is_null()).then(filler).otherwise(column).alias(name))
    return (frame.with_columns(made) if made else frame), flags
