"""The first pass over a design, and how its numbers are standardised, grouped and joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.replacing import as_one
from tacit.query._moments_rows import Expr, Layout, Rows, complete, condition, holds, total
from tacit.query._moments_working import cross_sums, working
from tacit.query.evidence import Factor, Link

_P = 2**31 - 1
_SAMPLE = 200_000
"""Of more records than this, rough centres are found on about so many."""
_ENOUGH = 1_000
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
    """Of each number of the layout, and of the response last: rough ones."""
    scale: np.ndarray
    column_centre: np.ndarray
    """Of each design column, exact, and of the response last."""
    column_scale: np.ndarray
    support: dict[str, int]
    labels: np.ndarray
    """Categories of each combination that occurs."""
    raw: Any = None
    """The same as the engine holds them: a Polars frame with columns g0.."""
    sums: dict[str, Any] = field(default_factory=dict)
    """Sums of squares and products by combination, with survey weights."""


def standard_of(rows: Rows, layout: Layout, weighted: bool, link: Link) -> Standard:
    """Return what the first pass over a design finds; it is made once."""
    remembered = (layout, weighted)
    if remembered not in rows.known:
        rows.known[remembered] = _first_pass(rows, layout, weighted)
    found: Standard = rows.known[remembered]
    return _of_raw_response(found) if link.startswith("log") and found.n else found


def _of_raw_response(standard: Standard) -> Standard:
    """Return the same with the response as it is, as links need it."""
    changed: dict[str, Any] = {}
    for name, last in (("centre", 0.0), ("scale", 1.0)):
        for array in (name, f"column_{name}"):
            changed[array] = np.append(getattr(standard, array)[:-1], last)
    return replace(standard, **changed)


def _first_pass(rows: Rows, layout: Layout, weighted: bool) -> Standard:
    """Add up the numbers about rough centres, in one pass; exact centres follow from the sums."""
    frame = complete(rows, layout, weighted)
    near = _near(frame, rows, len(layout.numbers))
    around = standardised(frame, layout, near)
    table = grouped(
        around.with_columns(**working("identity", None)) if weighted else around,
        layout, rows, [*_size_sums(rows), *cross_sums(len(layout.numbers), plain=not weighted)],
    )  # fmt: skip
    if not weighted:
        table["a0_0"] = table["n"]
    n, weight = int(table["n"].sum()), float(table["a0_0"].sum())
    if n == 0:
        return replace(near, n=0)
    centre, scale = _column_scales(layout, near, table, weight)
    units, keys = _units(frame, rows, table)
    return replace(
        near, n=n, units=units, weight=weight, keys=keys,
        column_centre=np.append(centre, near.centre[-1]),
        column_scale=np.append(scale, near.scale[-1]),
        support=_support(frame, rows, layout, table),
        labels=table["labels"], raw=table["raw"], sums=table,
    )  # fmt: skip


def _near(frame: Any, rows: Rows, n_numbers: int) -> Standard:
    """Return rough centres and scales, of a sample where there are many records.

    Sums about them lose no digits, and whatever they are, the moments are the same. They are
    multiples of powers of two, so that every engine finds the same ones.
    """
    names = [*(f"n{i}" for i in range(1, n_numbers)), "y"]
    found: dict[str, np.ndarray] = {"n": np.zeros(1)}
    if rows.keys is not None and rows.n > _SAMPLE:
        found = _rough_sums(frame.filter(nw.col("k1") < int(_P * (_SAMPLE / rows.n))), names)
    if found["n"][0] < _ENOUGH:
        found = _rough_sums(frame, names)
    rough = [_rounded(found["n"][0], found[f"s_{c}"][0], found[f"q_{c}"][0]) for c in names]
    centre, scale = np.array([(0.0, 1.0), *rough]).T
    blank = np.zeros(0)
    return Standard(0, 0, 0.0, (0, 0), centre, scale, blank, blank, {}, blank)


def _rough_sums(frame: Any, names: Sequence[str]) -> dict[str, np.ndarray]:
    sums = [nw.len().alias("n"), *(nw.col(c).sum().alias(f"s_{c}") for c in names)]
    sums += [(nw.col(c) * nw.col(c)).sum().alias(f"q_{c}") for c in names]
    return as_arrays(collected(frame.select(*sums)))


def _rounded(n: float, total: float, square: float) -> tuple[float, float]:
    """Return a mean and a standard deviation, to powers of two; one where it does not show."""
    mean = total / max(n, 1.0)
    variance = square / max(n, 1.0) - mean**2
    if not variance > 1e-13 * mean**2:
        return mean, 1.0
    scale = float(2.0 ** np.round(np.log2(variance) / 2))
    return float(np.round(4 * mean / scale) * scale / 4), scale


def _size_sums(rows: Rows) -> list[Expr]:
    return [nw.len().alias("n"), *([] if rows.keys is None or rows.repeated else _key_sums())]


def _key_sums() -> list[Expr]:
    return [nw.col(name).sum().cast(nw.Int64).alias(name) for name in ("k1", "k2")]


def _column_scales(
    layout: Layout, near: Standard, table: dict[str, np.ndarray], weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each design column, from sums about rough centres."""
    held, place = holds(layout, table["labels"]), np.array(layout.place)
    is_number = place > 0
    level, step = np.where(is_number, near.centre[place], 1.0), near.scale[place] * is_number
    size = table["a0_0"]
    first = np.stack([table[f"a0_{i}"] for i in range(len(layout.numbers))], axis=1)[:, place]
    second = np.stack([size, *(table[f"a{i}_{i}"] for i in range(1, len(layout.numbers)))], axis=1)
    there, firsts = held.T @ size, (held * first).sum(axis=0)
    squares = (held * second[:, place]).sum(axis=0)
    centre = (level * there + step * firsts) / weight
    gap = level - centre
    inside = gap**2 * there + 2 * gap * step * firsts + step**2 * squares
    variance = (inside + centre**2 * (weight - there)) / weight
    seen = np.where(is_number, step**2 * squares, there) / weight
    flat = variance <= 1e-13 * seen + (1e-15 * level) ** 2
    constant = np.array([not t.factors for t in layout.terms])
    scale = np.where(flat, 1.0, np.sqrt(np.where(flat, 1.0, variance)))
    return np.where(constant, 0.0, centre), np.where(constant, 1.0, scale)


def _units(frame: Any, rows: Rows, table: dict[str, np.ndarray]) -> tuple[int, tuple[int, int]]:
    if rows.repeated:
        distinct = frame.select("k1", "k2").unique()
        table = as_arrays(collected(distinct.select(nw.len().alias("n"), *_key_sums())))
    n = int(table["n"].sum())
    if rows.keys is None or n == 0:
        return n, (0, 0)
    return n, (int(table["k1"].sum()) % _P, int(table["k2"].sum()) % _P)


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
    ones = [as_one(nw.col(f"n{i}") != 0.0).alias(f"n{i}") for i in places.values()]
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
    """Return columns of sums as arrays, keys as whole numbers; a sum over nothing is zero."""
    kinds = {name: int if name in ("k1", "k2") else float for name in found.columns}
    return {c: np.array([kind(v or 0) for v in found[c].to_list()]) for c, kind in kinds.items()}


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
