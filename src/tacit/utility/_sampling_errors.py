r"""Statistics of numeric columns with the sampling errors that large samples give them.

With central moments :math:`\mu_{rs} = E[(X - EX)^r (Y - EY)^s]` and n records the variances are
those of Kendall and Stuart, as in mateosanz2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.utility._numbers import effective_size

LEVELS = np.arange(0.05, 0.96, 0.05)
"""Quantiles compared: 5 %, 10 %, ..., 95 %."""
_ZERO = 1e-12


@dataclass(frozen=True)
class Moments:
    """Means, covariances and correlations of a file, with standard errors; NaN: not defined."""

    means: np.ndarray
    mean_errors: np.ndarray
    covariances: np.ndarray
    covariance_errors: np.ndarray
    correlations: np.ndarray
    correlation_errors: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray) -> Moments:
        """Describe columns: means over the values there, the rest over complete records."""
        complete = ~np.isnan(values).any(axis=1)
        scale = _scales(values)
        columns = [_mean(values[:, j] / scale[j], weights) for j in range(values.shape[1])]
        means, errors = (np.array(part) for part in zip(*columns, strict=True))
        second = _second_moments(values[complete] / scale, weights[complete])
        both = np.outer(scale, scale)
        covariances, covariance_errors, correlations, correlation_errors = second
        return cls(
            means * scale, errors * scale, covariances * both, covariance_errors * both,
            correlations, correlation_errors,
        )  # fmt: skip


def _scales(values: np.ndarray) -> np.ndarray:
    """Return the size of each column: fourth moments of huge numbers would overflow."""
    largest = np.nanmax(np.abs(np.nan_to_num(values)), axis=0, initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def _mean(column: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    known = ~np.isnan(column)
    if not known.any():
        return np.nan, np.nan
    x, w = column[known], weights[known] / weights[known].sum()
    mean = float(w @ x)
    return mean, float(np.sqrt(w @ (x - mean) ** 2 / effective_size(w)))


def _second_moments(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return covariances, their errors, correlations, their errors."""
    p = values.shape[1]
    if len(values) < 2:
        return tuple(np.full((p, p), np.nan) for _ in range(4))
    w = weights / weights.sum()
    n = effective_size(w)
    centred = values - w @ values
    weighted = centred * w[:, None]
    mu11 = weighted.T @ centred
    mu22 = (weighted * centred).T @ (centred * centred)
    mu31 = (weighted * centred * centred).T @ centred
    errors = np.sqrt(np.maximum(mu22 - mu11**2, 0.0) / n)
    return mu11, errors, *_correlations(mu11, mu22, mu31, n)


def _correlations(
    mu11: np.ndarray, mu22: np.ndarray, mu31: np.ndarray, n: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return correlations and their errors by the delta method."""
    variances = np.diag(mu11)
    # A column counts as constant where rounding could have made its variance.
    size = np.where(variances > _ZERO**2, variances, np.nan)
    product = np.sqrt(np.outer(size, size))
    r = mu11 / product
    kurtosis = np.diag(mu22) / size**2
    cross = mu22 / product**2
    third = mu31 / (size[:, None] * product)  # mu31 / (mu20^1.5 mu02^0.5)
    # rho^2/n [mu22/mu11^2 + (k_x + k_y + 2 cross)/4 - (mu31/(mu11 mu20) + mu13/(mu11 mu02))],
    # multiplied out, so that it also holds for a correlation of zero.
    variance = (
        cross
        + r**2 * (kurtosis[:, None] + kurtosis[None, :] + 2 * cross) / 4
        - r * (third + third.T)
    ) / n
    return r, np.sqrt(np.maximum(variance, 0.0))


def quantile_positions(
    column: np.ndarray, weights: np.ndarray, points: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the quantiles of a column, or the given points, and the shares of values up to them.

    Examples
    --------
    >>> points, shares = quantile_positions(np.arange(100.0), np.ones(100))
    >>> points[:3].tolist(), shares[:3].round(2).tolist()
    ([4.0, 9.0, 14.0], [0.05, 0.1, 0.15])
    """
    known = ~np.isnan(column)
    order = np.argsort(column[known], kind="stable")
    x, w = column[known][order], weights[known][order]
    if len(x) == 0:
        nothing = np.full(len(LEVELS) if points is None else len(points), np.nan)
        return nothing, nothing
    up_to = np.concatenate([[0.0], np.cumsum(w)]) / w.sum()
    if points is None:
        at = np.searchsorted(up_to[1:], LEVELS - 1e-9)
        points = x[np.minimum(at, len(x) - 1)]
    return points, up_to[np.searchsorted(x, points, side="right")]
