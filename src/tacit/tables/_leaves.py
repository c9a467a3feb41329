"""Cells at the finest codes, aggregated where the records are.

Written once as Narwhals expressions, so that Polars, DuckDB, Spark or a database does the work and
only cells come back. Inside, columns have short names of ours, whatever the user's are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from tacit.core.frame import collect_few
from tacit.tables._checkpoint import Checkpoints
from tacit.tables.contributions import WEIGHT_SLACK

VALUE, BASIS, WEIGHT, REQUEST, AMOUNT = "__value", "__basis", "__weight", "__request", "__amount"
UNIT, SIZE, SHARES = "__unit", "__size", "__cells"
SIEVE_FROM = 5_000_000
"""Above this many records a first pass leaves out those that cannot be among the largest."""
_STEPS_PER_OCTAVE = 2
_NO_STEP = -(10**6)


@dataclass(frozen=True)
class Source:
    """The records of a table, with what each column means."""

    frame: nw.LazyFrame[Any]
    by: tuple[str, ...]
    """Columns that span the table, under our names; no value of them is missing."""
    n_records: int
    has_value: bool
    has_weight: bool
    has_request: bool
    sums: tuple[str, ...] = ()
    """Other variables to add up, under our names."""
    without_unit: Mapping[str, int] = field(default_factory=dict)
    """For each column of units the number of records that have none."""
    keys: tuple[str, ...] = ()
    """Secret keys of records to add up, under our names."""


@dataclass(frozen=True)
class Entries:
    """Contributions of units at the finest codes.

    Units in one cell only are summarised per cell; those in several cells come one by one, because
    their contributions to a total must be added before they are compared.
    """

    cells: Any
    """Polars frame: for each cell the number of units and their absolute contributions."""
    top: Any
    """Polars frame: the largest contributions to each cell."""
    spread: Iterable[Any] = ()
    """Polars frames: every contribution of units that are in several cells, unit by unit."""


def _number(whole: int) -> nw.Expr:
    """Return a constant as a float; some databases read 1.0 as a decimal."""
    return nw.lit(whole).cast(nw.Float64)


def leaf_sums(source: Source) -> Any:
    """Return a Polars frame of the cells: records, weights, totals."""
    weight = nw.col(WEIGHT) if source.has_weight else _number(1)
    made = [nw.len().cast(nw.Int64).alias(SIZE)]
    if source.has_weight:
        made.append(nw.col(WEIGHT).sum().alias(WEIGHT))
    if source.has_value:
        made.append((nw.col(VALUE) * weight).sum().alias(VALUE))
        made.append((nw.col(BASIS) * weight).sum().alias(BASIS))
    made += [(nw.col(name) * weight).sum().alias(name) for name in source.sums]
    made += [nw.col(name).sum().cast(nw.Int64).alias(name) for name in source.keys]
    if source.has_value:
        # Records that add nothing to a total must not change its key: that would be fresh noise.
        counts = nw.when(nw.col(VALUE) != 0)
        made += [
            counts.then(nw.col(name)).otherwise(nw.lit(0)).sum().cast(nw.Int64).alias(name + VALUE)
            for name in source.keys
        ]
    return _cells(_per_cell(source.frame, source.by, made), source.by)


def _cells(frame: nw.LazyFrame[Any], order: tuple[str, ...]) -> Any:
    """Bring aggregates here as a Polars frame, in an order of ours; they should be few.

    Engines give groups back in another order each time, and numbers added up in another order
    differ in their last bits.
    """
    few = collect_few(
        frame, what="the cells of the table", do="choose fewer variables or coarser codes"
    )
    return few.sort(order) if order else few


def _per_cell(
    frame: nw.LazyFrame[Any], by: tuple[str, ...], made: list[nw.Expr]
) -> nw.LazyFrame[Any]:
    """Group by the codes, or take all records together where there are none."""
    return frame.group_by(*by).agg(*made) if by else frame.select(*made)


def record_entries(source: Source, top: int) -> Entries:
    """Return the contributions of a table whose units are its records."""
    return _summarised(_contributions(source), source, top)


def unit_entries(source: Source, unit: str, top: int, place: Checkpoints) -> Entries:
    """Return the contributions of units that may have several records.

    A record that names no unit stands for itself.
    """
    known = source.frame.filter(~nw.col(unit).is_null())
    shares = place.keep(_unit_shares(known, source, unit))
    units = place.keep(_units(shares, source.by))
    alone = _with_weight(units.filter(nw.col(SHARES) == 1).drop(SHARES))
    several = shares.join(units.filter(nw.col(SHARES) > 1).select(UNIT), on=UNIT, how="semi")
    if source.without_unit[unit]:
        missing = source.frame.filter(nw.col(unit).is_null())
        named = missing.with_columns(nw.col(unit).alias(UNIT))
        own = Source(**{**vars(source), "frame": named})
        entries = place.keep(_contributions(own, UNIT))
        alone = nw.concat([alone.select(entries.collect_schema().names()), entries])
    made = _summarised(alone, source, top, UNIT)
    return Entries(made.cells, made.top, place.sorted_parts(several, UNIT, *source.by))


def _units(shares: nw.LazyFrame[Any], by: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """Return each unit's total, and its cell if it is in one only."""
    return shares.group_by(UNIT).agg(
        nw.len().cast(nw.Int64).alias(SHARES),
        *(nw.col(name).min() for name in by),
        nw.col(BASIS).sum(),
        nw.col(AMOUNT).sum(),
        nw.col(WEIGHT).max(),
        nw.col(REQUEST).max(),
    )


def _contributions(source: Source, *extra: str) -> nw.LazyFrame[Any]:
    """Return each record's contribution: signed, weighted, and whether it asks for protection."""
    basis = nw.col(BASIS) if source.has_value else _number(1)
    weight = nw.col(WEIGHT) if source.has_weight else _number(1)
    request = nw.col(REQUEST) if source.has_request else nw.lit(0)
    return source.frame.select(
        *source.by,
        *extra,
        basis.cast(nw.Float64).alias(BASIS),
        (basis * weight).cast(nw.Float64).alias(AMOUNT),
        weight.cast(nw.Float64).alias(WEIGHT),
        request.cast(nw.Int64).alias(REQUEST),
    )


def _unit_shares(known: nw.LazyFrame[Any], source: Source, unit: str) -> nw.LazyFrame[Any]:
    """Return what each unit contributes to each cell."""
    named = known.with_columns(nw.col(unit).alias(UNIT))
    entries = _contributions(Source(**{**vars(source), "frame": named}), UNIT)
    return entries.group_by(*source.by, UNIT).agg(
        nw.col(BASIS).sum(), nw.col(AMOUNT).sum(), nw.col(WEIGHT).max(), nw.col(REQUEST).max()
    )


def _with_weight(units: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Put in place of the largest weight that which gives a unit's weighted contribution.

    Where there is none, see `tacit.tables.contributions.weighed`.
    """
    there, largest = nw.col(BASIS) != 0, nw.col(WEIGHT)
    weight = nw.col(AMOUNT) / nw.when(there).then(nw.col(BASIS)).otherwise(_number(1))
    fits = there & (weight > 0) & (weight <= largest * (1 + WEIGHT_SLACK))
    return units.with_columns(
        nw.when(fits).then(nw.col(BASIS)).otherwise(nw.col(AMOUNT) / largest).alias(BASIS),
        nw.when(fits).then(weight).otherwise(largest).alias(WEIGHT),
    )


def _summarised(entries: nw.LazyFrame[Any], source: Source, top: int, *extra: str) -> Entries:
    made = [nw.len().cast(nw.Int64).alias(SIZE), nw.col(AMOUNT).abs().sum().alias(AMOUNT)]
    cells = _cells(_per_cell(entries, source.by, made), source.by)
    return Entries(cells, _largest(entries, source, top, *extra))


def _largest(entries: nw.LazyFrame[Any], source: Source, top: int, *extra: str) -> Any:
    """Return the largest contributions to each cell, ties broken by what else is known of them."""
    order = {
        "__o1": -nw.col(BASIS).abs(),
        "__o2": nw.col(BASIS),
        "__o3": -nw.col(WEIGHT),
        "__o4": -nw.col(REQUEST),
    }
    by = source.by
    if not by:
        entries, by = entries.with_columns(nw.lit(0).alias("__all")), ("__all",)
    entries = entries.with_columns(**order)
    if source.n_records > SIEVE_FROM:
        entries = _sieved(entries, by, top)
    place = nw.col("__o1").cum_count().over(*by, order_by=[*order, *extra])
    ranked = entries.with_columns(place.alias(SIZE)).filter(nw.col(SIZE) <= top)
    chosen = ranked.select(*source.by, *extra, BASIS, WEIGHT, REQUEST, SIZE)
    return _cells(chosen, (*source.by, SIZE))


def _sieved(entries: nw.LazyFrame[Any], by: tuple[str, ...], top: int) -> nw.LazyFrame[Any]:
    """Leave out contributions that are surely not among the largest of their cell.

    Contributions are counted by size, in steps of a root of two; only the highest steps that hold
    enough of them stay. This needs no sorting of all records, which a window function would.
    """
    size = nw.col(BASIS).abs()
    step = (nw.when(size > 0).then(size).otherwise(_number(1)).log(2) * _STEPS_PER_OCTAVE).floor()
    step = nw.when(size > 0).then(step).otherwise(_number(_NO_STEP)).cast(nw.Int64)
    stepped = entries.with_columns(step.alias("__step"))
    counted = stepped.group_by(*by, "__step").agg(nw.len().cast(nw.Int64).alias("__n"))
    counted = counted.with_columns((-nw.col("__step")).alias("__down"))
    above = nw.col("__n").cum_sum().over(*by, order_by="__down") - nw.col("__n")
    enough = counted.with_columns(above.alias("__above")).filter(nw.col("__above") < top)
    return stepped.join(enough.select(*by, "__step"), on=[*by, "__step"], how="semi")
