"""Working weights, scores and deviances of each record, as expressions."""

from __future__ import annotations

import narwhals as nw

from tacit.query._moments_rows import Expr
from tacit.query.evidence import Link

_STEEPEST = 30.0
"""Linear predictors are kept within this range: exp(30) is beyond any count or odds."""


def working(link: Link, clip: float | None) -> dict[str, Expr]:
    """Return the working weight a, what is summed against the columns b, and the squares yy."""
    w, y = nw.col("w"), nw.col("y")
    match link:
        case "identity":
            if clip is None:
                return {"a": w, "b": w * y, "yy": w * y * y}
            a = w * _huber(clip)
            return {"a": a, "b": a * y, "yy": a * y * y, "rr": w * _clipped_square(clip),
                    "inside": w * _is_inside(clip)}  # fmt: skip
        case "squares":
            return _squared(w * (y - nw.col("e")))
        case "logit":
            return logistic()
        case "log":
            return poisson()
        case "logit squares":
            return _squared(logistic()["b"])
        case "log squares":
            return _squared(poisson()["b"])


def cross_sums(n_numbers: int, *, plain: bool = False) -> list[Expr]:
    """Return the sums a z_i z_j, b z_i and yy; `plain` ones have a = 1 and b = y."""
    z = [nw.col(f"z{i}") for i in range(n_numbers)]
    y = nw.col("y")
    if plain:
        sums = [(y * y).sum().alias("yy"), y.sum().alias("b0")]
    else:
        sums = [nw.col("yy").sum(), nw.col("a").sum().alias("a0_0"), nw.col("b").sum().alias("b0")]
    for i in range(1, n_numbers):
        first, cross = (z[i], z[i] * y) if plain else (nw.col("a") * z[i], nw.col("b") * z[i])
        sums += [first.sum().alias(f"a0_{i}"), cross.sum().alias(f"b{i}")]
        sums += [(first * z[j]).sum().alias(f"a{i}_{j}") for j in range(i, n_numbers)]
    return sums


def _squared(score: Expr) -> dict[str, Expr]:
    """Weigh by squared scores, for covariances that need no model of the residuals."""
    # Zero as a product of a column: PostgreSQL would add up plain zeros as decimals.
    zero = score * 0.0
    return {"a": score * score, "b": zero, "yy": zero}


def _is_inside(clip: float) -> Expr:
    gap = (nw.col("y") - nw.col("e")).abs()
    return nw.when(gap <= clip).then(1.0).otherwise(0.0).cast(nw.Float64)


def _huber(clip: float) -> Expr:
    gap = (nw.col("y") - nw.col("e")).abs()
    # Inside the bound one stands in for the gap: some engines compute both branches.
    larger = nw.when(gap > clip).then(gap).otherwise(1.0)
    return nw.when(gap > clip).then(nw.lit(clip).cast(nw.Float64) / larger).otherwise(1.0)


def _clipped_square(clip: float) -> Expr:
    gap = nw.col("y") - nw.col("e")
    return nw.when(gap.abs() > clip).then(clip * clip).otherwise(gap * gap)


def _bounded(eta: Expr) -> Expr:
    top = nw.when(eta > _STEEPEST).then(_STEEPEST).otherwise(eta)
    return nw.when(top < -_STEEPEST).then(-_STEEPEST).otherwise(top)


def logistic() -> dict[str, Expr]:
    w, y, eta = nw.col("w"), nw.col("y"), _bounded(nw.col("e"))
    odds = eta.exp()
    mean = odds / (odds + 1.0)
    deviance = ((odds + 1.0).log() - y * eta) * w * 2.0
    return {"a": w * odds / ((odds + 1.0) * (odds + 1.0)), "b": w * (y - mean), "yy": deviance}


def poisson() -> dict[str, Expr]:
    w, y, eta = nw.col("w"), nw.col("y"), _bounded(nw.col("e"))
    mean = eta.exp()
    positive = nw.when(y > 0).then(y).otherwise(1.0)
    log_ratio = nw.when(y > 0).then(y * (positive.log() - eta)).otherwise(0.0)
    return {"a": w * mean, "b": w * (y - mean), "yy": (log_ratio - (y - mean)) * w * 2.0}
