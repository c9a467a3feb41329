"""The most exposed unit of a model: leverage, influence, fit of categories, parts in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from tacit.query._moments_first import (
    Standard,
    as_arrays,
    beside,
    collected,
    grouped,
    is_wide,
    linear_parts,
    standard_of,
    standardised,
    with_predictor,
)
from tacit.query._moments_rows import Expr, Layout, Rows, complete, condition, total
from tacit.query._moments_working import logistic, poisson
from tacit.query.evidence import Factor, GroupFit, Influence, Link, Term


def influence(
    rows: Rows,
    terms: Sequence[Term],
    response: Term,
    coefficients: np.ndarray,
    inverse: np.ndarray,
    *,
    weighted: bool = False,
    link: Link = "identity",
    groups: Sequence[Factor] = (),
    leverage: bool = True,
) -> Influence:
    """Return the largest leverage and scores of a single unit, and the fit of each category.

    `inverse` is (X'WX)^-1 in standardised columns, zero for columns that are not in the model. The
    leverage of a unit is the sum over its records, so that copies of a record do not hide it.
    Without `leverage` it is not looked for, and infinite.
    """
    layout = Layout.of(terms, response)
    standard = standard_of(rows, layout, weighted, link)
    used = np.flatnonzero(np.diag(inverse) != 0)
    if standard.n == 0 or not len(used):
        return Influence(0.0, np.zeros(len(terms)), 0.0)
    frame = standardised(complete(rows, layout, weighted), layout, standard)
    beta = np.asarray(coefficients, float)
    frame = _exposed(with_predictor(frame, layout, standard, beta, rows), link, weighted)
    if is_wide(layout, len(used)) and not rows.repeated:
        return _wide_influence(frame, layout, standard, rows, inverse, groups, leverage)
    frame = _with_columns(frame, layout, standard, used, rows)
    if leverage:
        frame = _with_leverage(frame, inverse, used)
    table, fits = _maxima(frame, layout, rows, used, groups, leverage)
    scores = np.zeros(len(terms))
    scores[used] = [table[f"m{j}"].max() for j in used.tolist()]
    largest = float(table["h"].max()) if leverage else np.inf
    return Influence(largest, scores, float(table["rr"].sum()), fits)


def _exposed(frame: Any, link: Link, weighted: bool) -> Any:
    """Add the weighted residual r and the working weight a of each record."""
    if link in ("logit", "log"):
        working = logistic() if link == "logit" else poisson()
        return frame.with_columns(a=working["a"], r=working["b"])
    w, gap = nw.col("w"), nw.col("y") - nw.col("e")
    return frame.with_columns(a=w, r=w * gap if weighted else gap)


def _with_columns(
    frame: Any, layout: Layout, standard: Standard, used: np.ndarray, rows: Rows
) -> Any:
    """Add the standardised design columns x0.. of the model."""
    columns = {f"x{j}": _column(j, layout, standard, rows) for j in used.tolist()}
    return frame.with_columns(**columns)


def _column(j: int, layout: Layout, standard: Standard, rows: Rows) -> Expr:
    centre, scale = float(standard.column_centre[j]), float(standard.column_scale[j])
    place, test = layout.place[j], condition(layout, j, rows)
    level = float(standard.centre[place]) if place else 1.0
    inside: Expr = nw.lit((level - centre) / scale).cast(nw.Float64)
    if place:
        inside = nw.col(f"z{place}") * float(standard.scale[place] / scale) + inside
    return inside if test is None else nw.when(test).then(inside).otherwise(-centre / scale)


def _with_leverage(frame: Any, inverse: np.ndarray, used: np.ndarray) -> Any:
    """Add h = a x'(X'WX)^-1 x, as a sum of squares by Cholesky's factor."""
    root = np.linalg.cholesky(inverse[np.ix_(used, used)])
    squares = []
    for column in range(len(used)):
        weights = root[column:, column].tolist()
        parts = [nw.col(f"x{j}") * v for j, v in zip(used[column:].tolist(), weights, strict=True)]
        squares.append(total(parts))
    frame = frame.with_columns(**{f"t{i}": part for i, part in enumerate(squares)})
    return frame.with_columns(
        h=nw.col("a") * total([nw.col(f"t{i}") * nw.col(f"t{i}") for i in range(len(squares))])
    )


def _maxima(
    frame: Any,
    layout: Layout,
    rows: Rows,
    used: np.ndarray,
    groups: Sequence[Factor],
    leverage: bool,
) -> tuple[dict[str, Any], dict[str, GroupFit]]:
    """Return the largest parts of a unit and the fit of categories, in one pass if units allow."""
    parts = {f"m{j}": nw.col("r") * nw.col(f"x{j}") for j in used.tolist()}
    parts["rr"] = nw.col("r") * nw.col("r") / nw.col("w")
    if leverage:
        parts["h"] = nw.col("h")
    if rows.repeated:
        units = frame.select("k1", "k2", **parts).group_by("k1", "k2")
        units = units.agg(*(nw.col(c).sum() for c in parts))
        table = as_arrays(collected(units.select(*_largest({c: nw.col(c) for c in parts}))))
        return table, _fits(frame, layout, groups, rows)
    if not layout.groups or not groups:
        return as_arrays(collected(frame.select(*_largest(parts)))), {}
    table = grouped(frame, layout, rows, [*_largest(parts), *_fit_sums()])
    return table, _fits_from(table, layout, groups)


def _largest(parts: dict[str, Expr]) -> list[Expr]:
    sums = [part.abs().max().alias(name) for name, part in parts.items() if name != "rr"]
    return [*sums, parts["rr"].sum().alias("rr")]


def _wide_influence(
    frame: Any,
    layout: Layout,
    standard: Standard,
    rows: Rows,
    inverse: np.ndarray,
    groups: Sequence[Factor],
    leverage: bool,
) -> Influence:
    """Take the maxima by combination of categories, within which dummies do not vary.

    Scores of columns that are a category times a number are bounded from above.
    """
    alpha, gamma, place = linear_parts(layout, standard, standard.labels)
    q = len(layout.numbers)
    z: list[Expr] = [nw.lit(1.0).cast(nw.Float64), *(nw.col(f"z{i}") for i in range(1, q))]
    sums = _fit_sums()
    if leverage:
        frame = beside(frame, standard, _leverage_parts(alpha, gamma, place, inverse, q))
        parts = [nw.col(f"h{i}_{j}") * z[i] * z[j] for i in range(q) for j in range(i, q)]
        sums.append((nw.col("a") * total(parts)).max().alias("h"))
    sums += [(nw.col("r") * z[i]).abs().max().alias(f"m{i}") for i in range(q)]
    table = grouped(frame, layout, rows, sums)
    alpha, gamma, place = linear_parts(layout, standard, table["labels"])
    parts_of_units = np.stack([table[f"m{i}"] for i in range(q)], axis=1)
    scores = np.abs(alpha) * parts_of_units[:, :1] + np.abs(gamma) * parts_of_units[:, place]
    found = np.where(np.diag(inverse) != 0, scores.max(axis=0), 0.0)
    fits = _fits_from(table, layout, groups)
    largest = float(table["h"].max()) if leverage else np.inf
    return Influence(largest, found, float(table["sr"].sum()), fits)


def _leverage_parts(
    alpha: np.ndarray, gamma: np.ndarray, place: np.ndarray, inverse: np.ndarray, q: int
) -> dict[str, np.ndarray]:
    """Return x'Ax of each combination as a polynomial in the numbers z."""
    vectors = [alpha, *(np.where(place == i, gamma, 0.0) for i in range(1, q))]
    turned = [v @ inverse for v in vectors]
    return {
        f"h{i}_{j}": (turned[i] * vectors[j]).sum(axis=1) * (1.0 if i == j else 2.0)
        for i in range(q)
        for j in range(i, q)
    }


def _fits(frame: Any, layout: Layout, groups: Sequence[Factor], rows: Rows) -> dict[str, GroupFit]:
    """Return how well each category is predicted, from one grouped pass."""
    if not layout.groups or not groups:
        return {}
    return _fits_from(grouped(frame, layout, rows, _fit_sums()), layout, groups)


def _fit_sums() -> list[Expr]:
    w, y, r = nw.col("w"), nw.col("y"), nw.col("r")
    sums = {"sw": w, "sy": w * y, "sq": w * y * y, "sr": r * r / w}
    return [part.sum().alias(name) for name, part in sums.items()]


def _fits_from(
    table: dict[str, Any], layout: Layout, groups: Sequence[Factor]
) -> dict[str, GroupFit]:
    fits = {}
    for i, variable in enumerate(layout.groups):
        label, rest = table["labels"][:, i], np.ones(len(table["sw"]), dtype=bool)
        for factor in groups:
            if factor.variable == variable:
                at = label == factor.level
                rest &= ~at
                fits[f"{variable}[{factor.level}]"] = _fit_of(table, at)
        fits[f"{variable}, reference"] = _fit_of(table, rest)
    return fits


def _fit_of(table: dict[str, Any], at: np.ndarray) -> GroupFit:
    return GroupFit(*(float(table[name][at].sum()) for name in ("sw", "sy", "sq", "sr")))


def pairs(
    rows: Rows, terms: Sequence[Term], correlation: np.ndarray, *, weighted: bool = False
) -> np.ndarray:
    """Return the largest part of a single unit in each correlation, and in each variance.

    Off the diagonal this is the largest w |z_j z_k - r_jk (z_j^2 + z_k^2) / 2|, on it the largest
    w |z_j^2 - 1|, for standardised columns z.
    """
    layout = Layout.of(terms, Term("1"))
    standard = standard_of(rows, layout, weighted, "identity")
    k = len(terms)
    if standard.n == 0:
        return np.zeros((k, k))
    frame = standardised(complete(rows, layout, weighted), layout, standard)
    frame = _with_columns(frame, layout, standard, np.arange(k), rows)
    parts = {(i, j): _pair(i, j, float(correlation[i, j])) for i in range(k) for j in range(i, k)}
    names = {at: f"m{at[0]}_{at[1]}" for at in parts}
    units = [nw.col(c) for c in (("k1", "k2") if rows.repeated else ())]
    frame = frame.select(*units, *(part.alias(names[at]) for at, part in parts.items()))
    if rows.repeated:
        frame = frame.group_by("k1", "k2").agg(*(nw.col(n).sum() for n in names.values()))
    table = as_arrays(collected(frame.select(*(nw.col(n).abs().max() for n in names.values()))))
    largest = np.zeros((k, k))
    for (i, j), name in names.items():
        largest[i, j] = largest[j, i] = table[name][0]
    return largest


def _pair(i: int, j: int, r: float) -> Expr:
    w, x, z = nw.col("w"), nw.col(f"x{i}"), nw.col(f"x{j}")
    if i == j:
        return w * (x * x - 1.0)
    return w * (x * z - (x * x + z * z) * (r / 2))
