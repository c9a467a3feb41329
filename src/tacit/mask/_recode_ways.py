"""The four ways to recode a column: mapping, cut points, equal width, level of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import narwhals as nw

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, SchemaError, nearest
from tacit.core.frame import collect_few
from tacit.core.hierarchy import ANY, Intervals, Prefixes, Tree
from tacit.core.replacing import needs_conditions, replaced
from tacit.core.schema import Kind
from tacit.mask._labels import interval_label, relabelled
from tacit.mask._multiples import decimals_of

_LARGEST_INDEX = 2.0**53
"""Beyond this, neighbouring classes are no longer different numbers."""
_NAMED = 20
"""Values that are looked through for the one that was meant."""


def recode_mapping(
    data: Microdata, column: str, mapping: Mapping[str, str], other: str | None, complete: bool
) -> Microdata:
    """Replace categories by the names that a mapping gives them."""
    dtype = data.lazy.collect_schema()[column]
    old = _typed_keys(column, mapping, dtype)
    text = nw.col(column).cast(nw.String)
    is_fraction = dtype.is_numeric() and not dtype.is_integer()
    value = nw.col(column).cast(nw.Float64) if is_fraction else nw.col(column)
    left_out = ~value.is_null() & ~value.is_in(old)
    unnamed = _first_values(data, column, left_out)
    if complete and unnamed:
        n_values = data.lazy.filter(left_out).select(nw.col(column).n_unique()).collect("polars")
        raise DataError(
            f"the mapping of {column!r} is not complete",
            got=f"{n_values.item()} values without a category, such as {unnamed[0]!r}",
            do="name them in the mapping, or give 'other'",
        )
    if unnamed and not _first_values(data, column, value.is_in(old)):
        raise DataError(
            f"no value of {column!r} is in the mapping",
            got=", ".join(map(repr, list(mapping)[:3])),
            do=nearest(next(iter(mapping)), map(str, unnamed)),
        )
    rest = text if other is None else nw.lit(other)
    renamed = dict(zip(old, mapping.values(), strict=True))
    if len(renamed) < len(old):
        twice = next(key for key, value in zip(mapping, old, strict=True) if old.count(value) > 1)
        raise ParameterError(
            f"parameter 'mapping' names a value of {column!r} twice", got=repr(twice)
        )
    new = replaced(value, renamed, rest, by_conditions=needs_conditions(data.lazy))
    labels = nw.when(~value.is_null()).then(new)
    return relabelled(data, column, labels, categories=_joined(data, column, mapping, other))


def _typed_keys(column: str, mapping: Mapping[str, str], dtype: nw.dtypes.DType) -> list[Any]:
    """Read the mapping's keys, which are text in a plan file, as values of the column."""
    if dtype == nw.Boolean:
        readings = {"true": True, "false": False}
        keys: list[Any] = [readings.get(key.lower()) for key in mapping]
    elif dtype.is_numeric():
        keys = [_number(key, whole=dtype.is_integer()) for key in mapping]
    elif dtype == nw.String:
        return list(mapping)
    else:
        raise SchemaError(
            "a mapping needs a column of categories or numbers", got=f"{column!r}, which is {dtype}"
        )
    for key, read in zip(mapping, keys, strict=True):
        if read is None:
            raise ParameterError(
                f"parameter 'mapping' must name values of {column!r}, which holds {dtype}",
                got=repr(key),
            )
    if len(set(keys)) < len(keys):
        raise ParameterError(f"parameter 'mapping' names a value of {column!r} twice")
    return keys


def _number(text: str, *, whole: bool) -> float | None:
    """Read a number of the column's own type; None if the text is not one."""
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if not whole:
        return float(exact)
    return int(exact) if exact.is_finite() and exact == exact.to_integral_value() else None


def _joined(
    data: Microdata, column: str, mapping: Mapping[str, str], other: str | None
) -> list[str] | None:
    """Return the ordered new categories where a mapping joins neighbours of an ordinal column."""
    categories = data.schema[column].categories
    if data.schema[column].kind is not Kind.ORDINAL or not categories:
        return None
    new = [mapping.get(old, old if other is None else other) for old in categories]
    starts = [name for i, name in enumerate(new) if i == 0 or new[i - 1] != name]
    return starts if len(set(starts)) == len(starts) else None


def recode_bins(
    data: Microdata, column: str, bins: tuple[float, ...], labels: tuple[str, ...] | None
) -> Microdata:
    """Cut numbers at given points."""
    data.schema.require([column], kinds=[Kind.NUMERIC], by="recoding into bins")
    ends = [None, *bins, None]
    names = labels or [interval_label(ends[i], ends[i + 1]) for i in range(len(bins) + 1)]
    value = nw.col(column)
    label = _label_between(value, bins, names)
    return relabelled(data, column, nw.when(~value.is_null()).then(label), categories=names)


def _label_between(value: nw.Expr, bins: Sequence[float], names: Sequence[str]) -> nw.Expr:
    """Return the label of a number's class, by halving; there is one more label than cuts."""
    if not bins:
        return nw.lit(names[0])
    at = len(bins) // 2
    below = _label_between(value, bins[:at], names[: at + 1])
    above = _label_between(value, bins[at + 1 :], names[at + 1 :])
    return nw.when(value >= bins[at]).then(above).otherwise(below)


def recode_width(data: Microdata, column: str, width: float, origin: float) -> Microdata:
    """Cut numbers into classes of equal width."""
    data.schema.require([column], kinds=[Kind.NUMERIC], by="recoding into equal classes")
    index = _class_index(nw.col(column).cast(nw.Float64), width, origin)
    found = collect_few(
        data.lazy.select(index.alias("class")).unique(),
        what=f"the classes of {column!r}",
        do="choose wider classes",
    )["class"]
    present = sorted(found.drop_nulls().to_list())
    if present and max(-present[0], present[-1]) > _LARGEST_INDEX:
        raise DataError(
            f"{column!r} has values too large for classes of this width",
            got=f"width = {width:g}",
            do="top-code the column first, or choose wider classes",
        )
    start, step = Decimal(str(origin)), Decimal(str(width))
    names = [interval_label(start + int(k) * step, start + int(k + 1) * step) for k in present]
    if not names:
        return relabelled(data, column, nw.col(column).cast(nw.String), categories=())
    nothing = nw.lit(None, dtype=nw.String)
    named = dict(zip(present, names, strict=True))
    labels = replaced(index, named, nothing, by_conditions=needs_conditions(data.lazy))
    return relabelled(data, column, labels, categories=names)


def _class_index(value: nw.Expr, width: float, origin: float) -> nw.Expr:
    """Return the number of the class, exact also where 0.3 / 0.1 is a little below 3."""
    index = ((value - origin) / width).floor()
    decimals = decimals_of(width, origin)
    low, high = index * width + origin, (index + 1) * width + origin
    if decimals is not None:
        low, high = low.round(decimals), high.round(decimals)
    lower = nw.when(value < low).then(index - 1).otherwise(index)
    return nw.when(value >= high).then(index + 1).otherwise(lower)


def recode_level(data: Microdata, column: str, level: int) -> Microdata:
    """Replace values by their labels at a level of the column's hierarchy."""
    hierarchy = data.schema[column].hierarchy
    if hierarchy is None:
        raise SchemaError(
            f"{column!r} has no hierarchy", do="attach one with with_hierarchies, or give a mapping"
        )
    if level >= hierarchy.n_levels:
        raise ParameterError(
            f"parameter 'level' must be a level of the hierarchy of {column!r}",
            got=level,
            do=f"choose 1 to {hierarchy.n_levels - 1}",
        )
    if isinstance(hierarchy, Intervals):
        return _recode_intervals(data, column, hierarchy, level)
    if isinstance(hierarchy, Prefixes):
        labels = hierarchy.generalise(nw.col(column), level)
        return relabelled(data, column, labels, hierarchy=_prefixes_above(hierarchy, level))
    by_conditions = needs_conditions(data.lazy)
    labels = hierarchy.generalise(nw.col(column), level, by_conditions=by_conditions)
    joined = _joined(data, column, hierarchy.mapping(level), ANY)
    return relabelled(
        data, column, labels, categories=joined, hierarchy=_tree_above(hierarchy, level)
    )


def _recode_intervals(data: Microdata, column: str, hierarchy: Intervals, level: int) -> Microdata:
    """Replace numbers by intervals, which stay ordered and become a tree of labels."""
    if level == hierarchy.n_levels - 1:
        labels = hierarchy.generalise(nw.col(column), level)
        return relabelled(data, column, labels, categories=(ANY,))
    levels = range(level, hierarchy.n_levels)
    found = collect_few(
        data.lazy.filter(~nw.col(column).is_null())
        .select(
            nw.col(column).alias("value"),
            *(hierarchy.generalise(nw.col(column), k).alias(str(k)) for k in levels),
        )
        .group_by(*map(str, levels))
        .agg(nw.col("value").min())
        .sort("value"),
        what=f"the intervals of {column!r}",
        do="choose a higher level",
    )
    paths = found.drop("value").rows()
    labels = hierarchy.generalise(nw.col(column), level)
    tree = Tree(paths=tuple(paths)) if paths else None
    return relabelled(data, column, labels, categories=[p[0] for p in paths], hierarchy=tree)


def _tree_above(tree: Tree, level: int) -> Tree | None:
    """Return what is left of a tree above a level."""
    if level == tree.n_levels - 1:
        return None
    return Tree(paths=tuple(dict.fromkeys(path[level:] for path in tree.paths)))


def _prefixes_above(prefixes: Prefixes, level: int) -> Prefixes | None:
    kept = prefixes.keep or tuple(range(prefixes.length - 1, -1, -1))
    return Prefixes(length=prefixes.length, keep=kept[level:]) if kept[level:] else None


def _first_values(data: Microdata, column: str, where: nw.Expr) -> list[Any]:
    """Return some of the distinct values, in order: all would be too many of a long column."""
    distinct = data.lazy.filter(where).select(column).unique()
    return list(distinct.sort(column).head(_NAMED).collect("polars")[column].to_list())
