"""Moments of designs, taken in the engine: X'WX, X'Wy, IRLS passes, leverage, influence.

Every function takes a Narwhals frame of any engine (Polars, DuckDB, Ibis on a SQL database, Spark)
and returns sums and maxima; no record leaves the engine. Columns are centred and scaled there, so
that the moments are well conditioned; what was taken off is told in `Moments.centre` and `scale`,
and coefficients here are those of the columns so standardised. `engine.py` calls `moments` and
`influence` with the `Rows` of a request and hands the results to the view.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from tacit.query._moments_bound import leverage_bound as leverage_bound
from tacit.query._moments_first import (
    Standard,
    grouped,
    linear_parts,
    standard_of,
    standardised,
    with_predictor,
)
from tacit.query._moments_influence import influence as influence
from tacit.query._moments_influence import pairs as pairs
from tacit.query._moments_rows import Layout, Rows, complete
from tacit.query._moments_working import cross_sums, working
from tacit.query.evidence import Link, Moments, Term


def moments(
    rows: Rows,
    terms: Sequence[Term],
    response: Term,
    *,
    weighted: bool = False,
    link: Link = "identity",
    coefficients: np.ndarray | None = None,
    clip: float | None = None,
) -> Moments:
    """Return X'WX, X'Wy and y'Wy of a design in one pass over the complete records.

    The first pass over a design gives those of the identity too, so that asking for them again
    reads nothing. Links: ``identity``;
    ``logit`` and ``log`` with working weights, score and deviance at `coefficients`; ``squares``
    with squared residuals as weights (for robust standard errors). With `clip`, residuals larger
    than it (in standard deviations of the response) count less, as Huber does.
    """
    layout = Layout.of(terms, response)
    standard = standard_of(rows, layout, weighted, link)
    names = tuple(t.name for t in terms)
    if standard.n == 0:
        return _nothing(names, link)
    if link == "identity" and clip is None:
        table = standard.sums
    else:
        beta = np.zeros(len(terms)) if coefficients is None else np.asarray(coefficients, float)
        frame = standardised(complete(rows, layout, weighted), layout, standard)
        frame = with_predictor(frame, layout, standard, beta, rows)
        frame = frame.with_columns(**working(link, clip))
        more = [] if clip is None else [nw.col("rr").sum(), nw.col("inside").sum()]
        table = grouped(frame, layout, rows, [*cross_sums(len(layout.numbers)), *more])
    xtx, xty = _assembled(layout, standard, table)
    return Moments(
        names=names, xtx=xtx, xty=xty, yty=float(table["yy"].sum()), n=standard.n,
        units=standard.units, weight=standard.weight, keys=standard.keys,
        y_sum=float(table["b0"].sum()), link=link, support=standard.support,
        extra=_extra(table), centre=standard.column_centre, scale=standard.column_scale,
    )  # fmt: skip


def _nothing(names: tuple[str, ...], link: Link) -> Moments:
    k = len(names)
    empty = np.zeros(k)
    return Moments(names, np.zeros((k, k)), empty, 0.0, 0, 0, 0.0, (0, 0), link=link,
                   centre=np.zeros(k + 1), scale=np.ones(k + 1))  # fmt: skip


def _extra(table: dict[str, np.ndarray]) -> dict[str, float]:
    names = {"rr": "clipped", "inside": "inside"}
    return {ours: float(table[name].sum()) for name, ours in names.items() if name in table}


def _assembled(
    layout: Layout, standard: Standard, table: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return X'WX and X'Wy of the standardised design from sums over combinations of categories."""
    alpha, gamma, place = linear_parts(layout, standard, table["labels"])
    q = range(len(layout.numbers))
    first = np.stack([table[f"a0_{i}"] for i in q], axis=1)[:, place]
    cross = np.stack([table[f"b{i}"] for i in q], axis=1)[:, place]
    mixed = alpha.T @ (gamma * first)
    xtx = (alpha * table["a0_0"][:, None]).T @ alpha + mixed + mixed.T
    for i in q[1:]:
        for j in q[i:]:
            left, right = np.flatnonzero(place == i), np.flatnonzero(place == j)
            block = (gamma[:, left] * table[f"a{i}_{j}"][:, None]).T @ gamma[:, right]
            xtx[np.ix_(left, right)] += block
            if i != j:
                xtx[np.ix_(right, left)] += block.T
    return xtx, alpha.T @ table["b0"] + (gamma * cross).sum(axis=0)
