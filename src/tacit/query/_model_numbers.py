"""Numbers of models from their moments: solving, covariances, rounding. No data, only arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

import numpy as np

from tacit.query.answer import Refused
from tacit.query.evidence import Link, Moments

_ALIASED = 1e-9
"""A column with less than this share of variance of its own is left out."""
_MOST_PASSES = 30
_SMALLEST_STEP = 1e-8
_FARTHEST = 50.0
"""A coefficient of a standardised column beyond this means that the estimate does not exist."""


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimated model, in standardised columns; columns that are not in it have zeros."""

    used: np.ndarray
    """Places of the columns in the model."""
    beta: np.ndarray
    inverse: np.ndarray
    """(X'WX)^-1, zero outside the model."""
    gram: np.ndarray
    """X'WX."""
    total: float
    """Weighted sum of squares of the response about its mean; the null deviance of a link."""
    left: float
    """Weighted sum of squared residuals; the deviance of a link."""
    scale: float = 0.0
    """Robust scale of residuals, where one was estimated."""
    variance: float = 0.0
    """What a robust estimate puts in the place of the residual variance."""
    passes: int = 1

    @property
    def n_columns(self) -> int:
        """Coefficients in the model."""
        return len(self.used)

    @property
    def explained(self) -> float:
        """Share of the total that the model explains: R squared, or its analogue of deviances."""
        return 1.0 - self.left / self.total if self.total > 0 else 1.0


def independent(gram: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the columns that are not linear combinations of those before them."""
    left = gram.copy()
    kept = []
    for j in columns.tolist():
        if left[j, j] <= _ALIASED * max(gram[j, j], 0.0):
            continue
        kept.append(j)
        left = left - np.outer(left[:, j], left[j]) / left[j, j]
    return np.array(kept, dtype=int)


def spread(values: np.ndarray, used: np.ndarray, size: int) -> np.ndarray:
    """Put a vector or matrix of the used columns into one of all columns, zeros elsewhere."""
    if values.ndim == 1:
        whole = np.zeros(size)
        whole[used] = values
        return whole
    square = np.zeros((size, size))
    square[np.ix_(used, used)] = values
    return square


def least_squares(found: Moments, columns: np.ndarray) -> Fit:
    """Solve the normal equations."""
    used = independent(found.xtx, columns)
    size = len(found.names)
    if not len(used):
        return Fit(used, np.zeros(size), np.zeros((size, size)), found.xtx, 0.0, 0.0)
    inverse = np.linalg.inv(found.xtx[np.ix_(used, used)])
    beta = inverse @ found.xty[used]
    weight = found.xtx[0, 0]
    total = found.yty - found.y_sum**2 / weight
    left = max(found.yty - float(beta @ found.xty[used]), 0.0)
    return Fit(used, spread(beta, used, size), spread(inverse, used, size), found.xtx, total, left)


Pass = Callable[..., Moments]


def robust(found: Moments, columns: np.ndarray, again: Pass, tuning: float = 1.345) -> Fit:
    """Estimate by Huber's proposal 2: residuals beyond `tuning` scales count less.

    The scale comes from sums alone, so that no order statistic is needed.
    """
    from scipy.stats import norm

    plain = fit = least_squares(found, columns)
    c, n_free = tuning, found.weight - fit.n_columns
    # E min(Z^2, c^2) for a standard normal Z makes the scale consistent.
    kappa = 1 - 2 * norm.sf(c) * (1 - c**2) - 2 * c * norm.pdf(c)
    scale = np.sqrt(max(fit.left, 1e-30) / n_free)
    for passes in range(1, _MOST_PASSES + 1):
        step = again(coefficients=fit.beta, clip=c * scale)
        new_scale = np.sqrt(step.extra["clipped"] / (n_free * kappa))
        fit_next = _reweighted(step, fit, float(new_scale), passes)
        moved = np.abs(fit_next.beta - fit.beta).max() + abs(new_scale - scale)
        fit, scale = fit_next, new_scale
        if moved < _SMALLEST_STEP:
            break
    return replace(fit, inverse=plain.inverse, gram=plain.gram)


def _reweighted(step: Moments, before: Fit, scale: float, passes: int) -> Fit:
    """Solve the reweighted equations; the variance is Huber's, from sums of clipped residuals."""
    used, size = before.used, len(step.names)
    beta = spread(np.linalg.solve(step.xtx[np.ix_(used, used)], step.xty[used]), used, size)
    share = step.extra["inside"] / step.weight
    variance = step.extra["clipped"] / (step.weight - len(used)) / max(share, 1e-3) ** 2
    return replace(before, beta=beta, scale=scale, variance=variance, passes=passes)


def likelihood(found: Moments, columns: np.ndarray, link: Link, mean: float, again: Pass) -> Fit:
    """Estimate a logistic or Poisson model by Fisher scoring, one pass over the data each."""
    used = independent(found.xtx, columns)
    size = len(found.names)
    start, null = _start(link, mean), 0.0
    beta = spread(np.array([start]), np.array([0]), size)
    for passes in range(1, _MOST_PASSES + 1):
        step = again(coefficients=beta)
        if passes == 1:
            null = step.yty
        inverse = _inverse(step.xtx[np.ix_(used, used)])
        change = inverse @ step.xty[used]
        beta = beta + spread(np.clip(change, -5, 5), used, size)
        if np.abs(beta[used]).max() > _FARTHEST:
            break
        if np.abs(change).max() < _SMALLEST_STEP:
            whole = spread(inverse, used, size)
            return Fit(used, beta, whole, step.xtx, null, step.yty, passes=passes)
    raise _no_estimate()


def _start(link: Link, mean: float) -> float:
    """Return the intercept of the model without predictors."""
    if mean <= 0 or (link == "logit" and mean >= 1):
        raise _no_estimate()
    return float(np.log(mean / (1 - mean)) if link == "logit" else np.log(mean))


def _inverse(gram: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.inv(gram))
    except np.linalg.LinAlgError as error:
        raise _no_estimate() from error


def _no_estimate() -> Refused:
    return Refused(
        "estimate",
        "the model has no finite estimate: some categories predict the response perfectly",
        hint="leave out or merge categories",
    )


# -- from standardised columns to the user's -----------------------------------------------------


def raw_map(found: Moments, columns: int) -> np.ndarray:
    """Return the matrix that turns standardised coefficients into those of the columns as named."""
    if found.centre is None or found.scale is None:
        return np.eye(columns)
    centre, scale = found.centre, found.scale
    whole = np.diag(scale[-1] / scale[:-1])
    whole[0] = -scale[-1] * centre[:-1] / scale[:-1]
    whole[0, 0] = scale[-1]
    return whole


def raw_shift(found: Moments, columns: int) -> np.ndarray:
    """Return what the intercept gains because the response was centred."""
    shift = np.zeros(columns)
    shift[0] = 0.0 if found.centre is None else found.centre[-1]
    return shift


# -- rounding ------------------------------------------------------------------------------------


def rounded(value: float, step: float) -> float:
    """Round to a decimal place no finer than a step."""
    if not np.isfinite(value) or not step > 0 or not np.isfinite(step):
        return float(value)
    return round(float(value), -floor(log10(step) + 1e-12)) + 0.0


def significant(value: Any, digits: int) -> float:
    """Round to significant digits."""
    number = float(value)
    if not np.isfinite(number) or number == 0:
        return number
    return round(number, digits - 1 - floor(log10(abs(number)) + 1e-12))
