"""The first pass over a design, and how its numbers are standardised, grouped and joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from tacit.query._moments_rows import Expr, Layout, Rows, complete, condition, holds, total
from tacit.query.evidence import Factor, Link

_P = 2**31 - 1
_HALF = 2**16
_WIDE = 30
"""Above this many columns, what depends on categories is joined as a small table."""


@dataclass(frozen=True, eq=False)
class Standard:
    """What the first pass finds: sizes, and what centres and scales the numbers of a design."""

    n: int
    units: int
    weight: float
    keys: tuple[int, int]
    centre: np.ndarray
    """Of each number of the layout, and of the response last."""
    scale: np.ndarray
    column_centre: np.ndarray
    """Of each design column, and of the response last."""
    column_scale: np.ndarray
    support: dict[str, int]
    labels: np.ndarray
    """Categories of each combination that occurs."""
    raw: Any = None
    """The same as the engine holds them: a Polars frame with columns g0.."""


def standard_of(rows: Rows, layout: Layout, weighted: bool, link: Link) -> Standard:
    raw_response = link.startswith("log")
    remembered = (layout, weighted, raw_response)
    if remembered not in rows.known:
        rows.known[remembered] = _first_pass(rows, layout, weighted, raw_response)
    found: Standard = rows.known[remembered]
    return found


def _first_pass(rows: Rows, layout: Layout, weighted: bool, raw_response: bool) -> Standard:
    frame = complete(rows, layout, weighted)
    table = grouped(frame, layout, rows, _first_sums(layout, rows))
    n, weight = int(table["n"].sum()), float(table["w"].sum())
    if n == 0:
        blank = np.zeros(0)
        return Standard(0, 0, 0.0, (0, 0), blank, blank, blank, blank, {}, blank)
    centre, scale = _centred(table, len(layout.numbers), weight)
    if raw_response:
        centre[-1], scale[-1] = 0.0, 1.0
    columns = _column_scales(layout, table, weight)
    units, keys = _units(frame, rows, table)
    return Standard(
        n, units, weight, keys, centre, scale,
        np.append(columns[0], centre[-1]), np.append(columns[1], scale[-1]),
        _support(frame, rows, layout, table), table["labels"], table["raw"],
    )  # fmt: skip


def _first_sums(layout: Layout, rows: Rows) -> list[Expr]:
    w = nw.col("w")
    sums = [nw.len().alias("n"), w.sum()]
    for name in [*(f"n{i}" for i in range(1, len(layout.numbers))), "y"]:
        column = nw.col(name)
        sums += [
            (w * column).sum().alias(f"s_{name}"),
            (w * column * column).sum().alias(f"q_{name}"),
        ]
    if rows.keys is not None and not rows.repeated:
        sums += _key_sums()
    return sums


def _key_sums() -> list[Expr]:
    """Return sums of halves of the keys: exact in a double, which engines turn big sums into."""
    halves = []
    for name in ("k1", "k2"):
        key = nw.col(name)
        halves += [(key // _HALF).cast(nw.Float64).sum().alias(f"{name}_high")]
        halves += [(key % _HALF).cast(nw.Float64).sum().alias(f"{name}_low")]
    return halves


def _centred(table: dict[str, np.ndarray], n_numbers: int, weight: float) -> tuple[Any, Any]:
    names = [*(f"n{i}" for i in range(1, n_numbers)), "y"]
    centre = np.array([0.0, *(table[f"s_{name}"].sum() / weight for name in names)])
    square = np.array([1.0, *(table[f"q_{name}"].sum() / weight for name in names)])
    return centre, _spread(centre, square)


def _spread(centre: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Return standard deviations; one where a column does not vary beyond what sums can tell."""
    variance = square - centre**2
    flat = variance <= 1e-13 * np.maximum(square, 1e-300)
    return np.where(flat, 1.0, np.sqrt(np.where(flat, 1.0, variance)))


def _column_scales(
    layout: Layout, table: dict[str, np.ndarray], weight: float
) -> tuple[np.ndarray, np.ndarray]:
    held = holds(layout, table["labels"])
    firsts = np.stack([table["w"], *(table[f"s_n{i}"] for i in range(1, len(layout.numbers)))])
    squares = np.stack([table["w"], *(table[f"q_n{i}"] for i in range(1, len(layout.numbers)))])
    place = list(layout.place)
    centre = (held * firsts[place].T).sum(axis=0) / weight
    square = (held * squares[place].T).sum(axis=0) / weight
    constant = np.array([not t.factors for t in layout.terms])
    scale = _spread(centre, square)
    return np.where(constant, 0.0, centre), np.where(constant, 1.0, scale)


def _units(frame: Any, rows: Rows, table: dict[str, np.ndarray]) -> tuple[int, tuple[int, int]]:
    if rows.repeated:
        distinct = frame.select("k1", "k2").unique()
        table = as_arrays(collected(distinct.select(nw.len().alias("n"), *_key_sums())))
    n = int(table["n"].sum())
    if rows.keys is None or n == 0:
        return n, (0, 0)
    high, low = (
        [int(table[f"{k}_{part}"].sum()) for k in ("k1", "k2")] for part in ("high", "low")
    )
    keys = [(h * _HALF + low_) % _P for h, low_ in zip(high, low, strict=True)]
    return n, (keys[0], keys[1])


def _support(
    frame: Any, rows: Rows, layout: Layout, table: dict[str, np.ndarray]
) -> dict[str, int]:
    """Count the units for which each column that stands for categories is one."""
    if not layout.groups:
        return _support_by_variable(rows, layout, frame)
    held = holds(layout, table["labels"])
    sizes: dict[str, int] = {}
    for needed in dict.fromkeys(c for c in layout.conditions if c):
        columns = [j for j, c in enumerate(layout.conditions) if c == needed]
        size = _distinct(frame, layout, rows, needed) if rows.repeated else None
        counted = int((held[:, columns[0]] * table["n"]).sum()) if size is None else size
        sizes |= {layout.terms[j].name: counted for j in columns}
    return sizes


def _distinct(frame: Any, layout: Layout, rows: Rows, needed: tuple[Factor, ...]) -> int:
    test = condition(layout, layout.conditions.index(needed), rows)
    units = frame.filter(test).select("k1", "k2").unique()
    return int(as_arrays(collected(units.select(n=nw.len())))["n"][0])


def _support_by_variable(rows: Rows, layout: Layout, frame: Any) -> dict[str, int]:
    """Count units of indicator columns that are numbers of their own, in one pass."""
    places = {
        t.name: i
        for t, i in zip(layout.terms, layout.place, strict=True)
        if any(f.level is not None for f in t.factors)
    }
    if not places:
        return {}
    ones = [(nw.col(f"n{i}") != 0.0).cast(nw.Float64).alias(f"n{i}") for i in places.values()]
    if rows.repeated:
        largest = [nw.col(f"n{i}").max() for i in places.values()]
        frame = frame.select("k1", "k2", *ones).group_by("k1", "k2").agg(*largest)
        ones = [nw.col(f"n{i}") for i in places.values()]
    summed = frame.select(*ones).select(*(nw.col(f"n{i}").sum() for i in places.values()))
    counts = as_arrays(collected(summed))
    return {name: int(counts[f"n{i}"][0]) for name, i in places.items()}


def grouped(frame: Any, layout: Layout, rows: Rows, sums: Sequence[Expr]) -> dict[str, Any]:
    """Take sums over each combination of categories; `labels` says which."""
    names = [f"g{i}" for i in range(len(layout.groups))]
    if not names:
        empty = np.zeros((1, 0), dtype=object)
        return {**as_arrays(collected(frame.select(*sums))), "labels": empty, "raw": None}
    found = collected(frame.group_by(*names).agg(*sums))
    labels = np.empty((found.height, len(names)), dtype=object)
    for i, (name, variable) in enumerate(zip(names, layout.groups, strict=True)):
        known = rows.categories[variable]
        labels[:, i] = [known.level(value) for value in found[name].to_list()]
    return {**as_arrays(found.drop(names)), "labels": labels, "raw": found.select(names)}


def as_arrays(found: Any) -> dict[str, np.ndarray]:
    """Return columns of sums as arrays; a sum over nothing is zero."""
    columns = found.columns
    return {name: np.array([float(v or 0.0) for v in found[name].to_list()]) for name in columns}


def collected(frame: Any) -> Any:
    """Collect a small table of sums."""
    return (frame.collect() if _is_polars(frame) else frame.collect("polars")).to_native()


def _is_polars(frame: Any) -> bool:
    return bool(frame.implementation is nw.Implementation.POLARS)


# -- what later passes share ---------------------------------------------------------------------


def standardised(frame: Any, layout: Layout, standard: Standard) -> Any:
    """Return records with z1.. in place of the numbers n1.., and a standardised response."""
    centre, scale = standard.centre.tolist(), standard.scale.tolist()
    numbers = [
        ((nw.col(f"n{i}") - centre[i]) / scale[i]).alias(f"z{i}")
        for i in range(1, len(layout.numbers))
    ]
    kept = [nw.col(f"g{i}") for i in range(len(layout.groups))]
    kept += [nw.col(c) for c in ("w", "k1", "k2") if c in frame.collect_schema()]
    return frame.select(*kept, *numbers, ((nw.col("y") - centre[-1]) / scale[-1]).alias("y"))


def linear_parts(
    layout: Layout, standard: Standard, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return alpha and gamma of each combination and column, and the number of each column.

    Within a combination, a standardised column is alpha + gamma z with z one of the numbers.
    """
    held = holds(layout, labels)
    place = np.array(layout.place)
    c, s = standard.column_centre[:-1], standard.column_scale[:-1]
    level = np.where(place == 0, 1.0, standard.centre[place])
    slope = np.where(place == 0, 0.0, standard.scale[place])
    return (held * level - c) / s, held * slope / s, place


def is_wide(layout: Layout, n_columns: int) -> bool:
    """Whether a design has so many dummies that they are better joined than written out."""
    return bool(layout.groups) and n_columns > _WIDE


def beside(frame: Any, standard: Standard, parts: dict[str, np.ndarray]) -> Any:
    """Join numbers that depend on the combination of categories."""
    import polars as pl

    from tacit.query.keys import in_engine

    small = standard.raw.with_columns(*(pl.Series(n, values) for n, values in parts.items()))
    if _is_polars(frame):
        other = nw.from_native(small.lazy())
    else:
        other = in_engine(small.to_arrow(), frame)
    return frame.join(other, on=standard.raw.columns, how="inner")


def with_predictor(
    frame: Any, layout: Layout, standard: Standard, beta: np.ndarray, rows: Rows
) -> Any:
    """Add the linear predictor e."""
    if not is_wide(layout, int(np.count_nonzero(beta))):
        return frame.with_columns(e=_predictor(layout, standard, beta, rows))
    alpha, gamma, place = linear_parts(layout, standard, standard.labels)
    parts = {"e0": alpha @ beta}
    for i in range(1, len(layout.numbers)):
        parts[f"e{i}"] = np.where(place == i, gamma, 0.0) @ beta
    slopes = [nw.col(f"e{i}") * nw.col(f"z{i}") for i in range(1, len(layout.numbers))]
    return beside(frame, standard, parts).with_columns(e=total([nw.col("e0"), *slopes]))


def _predictor(layout: Layout, standard: Standard, beta: np.ndarray, rows: Rows) -> Expr:
    """Return the linear predictor of standardised coefficients as one expression."""
    c, s = standard.column_centre[:-1], standard.column_scale[:-1]
    slope = beta / s
    constant = float(-(slope * c).sum())
    parts: list[Expr] = []
    for j in np.flatnonzero(beta).tolist():
        test, place = condition(layout, j, rows), layout.place[j]
        level = float(slope[j] * (standard.centre[place] if place else 1.0))
        value: Expr = nw.lit(level).cast(nw.Float64)
        if place:
            value = value + nw.col(f"z{place}") * float(slope[j] * standard.scale[place])
        parts.append(value if test is None else nw.when(test).then(value).otherwise(0.0))
    return total([nw.lit(constant).cast(nw.Float64), *parts])
