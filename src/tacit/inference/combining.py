"""Rules that combine the estimates of several synthetic data sets into one interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tacit.core.errors import ParameterError, nearest

Rule = Literal["fully", "partially", "simple", "proper"]
"""How the data sets were made: Rubin's populations, some values replaced, or all values drawn from
models with fixed (simple) or drawn (proper) parameters."""


@dataclass(frozen=True)
class Combined:
    """Estimates with the uncertainty that synthesis has added."""

    names: list[str]
    estimates: np.ndarray
    variances: np.ndarray
    degrees: np.ndarray
    """Degrees of freedom of the t distribution; infinite for the normal one."""
    within: np.ndarray
    """Mean of the variances of the single data sets."""
    between: np.ndarray
    """Variance of the estimates between the data sets; NaN for one data set."""
    rule: str
    level: float

    @property
    def errors(self) -> np.ndarray:
        """Standard errors."""
        return np.asarray(np.sqrt(self.variances))

    @property
    def _margin(self) -> np.ndarray:
        from scipy.stats import norm, t

        share = 0.5 + self.level / 2
        finite = np.isfinite(self.degrees)
        quantile = np.full(len(self.degrees), norm.ppf(share))
        quantile[finite] = t.ppf(share, np.maximum(self.degrees[finite], 1.0))
        return np.asarray(quantile * self.errors)

    @property
    def low(self) -> np.ndarray:
        """Lower ends of the confidence intervals."""
        return np.asarray(self.estimates - self._margin)

    @property
    def high(self) -> np.ndarray:
        """Upper ends of the confidence intervals."""
        return np.asarray(self.estimates + self._margin)

    @property
    def frame(self) -> Any:
        """The estimates as a Polars frame."""
        import polars as pl

        return pl.DataFrame(
            {
                "name": self.names, "estimate": self.estimates, "error": self.errors,
                "low": self.low, "high": self.high, "degrees": self.degrees,
            }
        )  # fmt: skip


def combine(
    estimates: Any,
    variances: Any,
    *,
    rule: Rule,
    size_ratio: float = 1.0,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> Combined:
    r"""Combine the estimates of `m` data sets.

    Parameters
    ----------
    estimates
        One row for each data set, one column for each quantity.
    variances
        Their estimated variances, as if each data set were real.
    rule
        How the data sets were made; see Notes.
    size_ratio
        Records of a synthetic data set over records of the original.
    names
        Names of the quantities.
    level
        Confidence level of the intervals.

    Notes
    -----
    With the mean :math:`\bar q` of the estimates, their variance :math:`b` between the data sets
    and the mean :math:`\bar v` of their variances,

    * ``"fully"`` (Rubin's fully synthetic data, [raghunathan2003]_):
      :math:`T_f = (1 + 1/m)\,b - \bar v`, with
      :math:`\nu = (m-1)\,(1 - m\bar v/((m+1)b))^2`; where :math:`T_f \le 0` it is
      :math:`\bar v\,n_s/n` [reiter2002]_;
    * ``"partially"`` [reiter2003]_: :math:`T_p = \bar v + b/m` with
      :math:`\nu = (m-1)\,(1 + m\bar v/b)^2`;
    * ``"simple"`` [raab2016]_: :math:`T_s = \bar v\,(n_s/n + 1/m)`, normal; holds for one data set;
    * ``"proper"`` [raab2016]_: :math:`T = \bar v\,(n_s/n + (1 + n_s/n)/m)`, normal.

    The last two hold where all variables of the analysis were synthesised from a model that fits.

    Examples
    --------
    >>> found = combine([[2.0], [4.0], [3.0]], [[0.3], [0.3], [0.3]], rule="partially")
    >>> float(found.estimates[0]), round(float(found.variances[0]), 4)
    (3.0, 0.6333)
    """
    if rule not in get_args(Rule):
        raise ParameterError(f"there is no rule {rule!r}", do=nearest(str(rule), get_args(Rule)))
    if not 0 < level < 1:
        raise ParameterError("the level of confidence lies between 0 and 1", got=level)
    if not size_ratio > 0:
        raise ParameterError("the ratio of sizes must be above 0", got=size_ratio)
    q, v = _checked(estimates, variances)
    m = len(q)
    if m < 2 and rule in ("fully", "partially"):
        raise ParameterError(
            f"the rule {rule!r} needs at least two data sets", got=f"{m}", do="set m to 5 or more"
        )
    b = q.var(axis=0, ddof=1) if m > 1 else np.full(q.shape[1], np.nan)
    mean_v = v.mean(axis=0)
    total, degrees = _total(rule, b, mean_v, m, size_ratio)
    named = list(names) if names is not None else [str(j) for j in range(q.shape[1])]
    return Combined(named, q.mean(axis=0), total, degrees, mean_v, b, rule, level)


def _total(
    rule: Rule, b: np.ndarray, v: np.ndarray, m: int, ratio: float
) -> tuple[np.ndarray, np.ndarray]:
    normal = np.full(len(v), np.inf)
    if rule == "simple":
        return v * (ratio + 1 / m), normal
    if rule == "proper":
        return v * (ratio + (1 + ratio) / m), normal
    with np.errstate(divide="ignore", invalid="ignore"):
        if rule == "partially":
            degrees = np.where(b > 0, (m - 1) * (1 + m * v / b) ** 2, np.inf)
            return v + b / m, degrees
        # T_f of raghunathan2003, made positive as reiter2002 proposes
        total = (1 + 1 / m) * b - v
        degrees = (m - 1) * (1 - v / ((1 + 1 / m) * b)) ** 2
    positive = total > 0
    return np.where(positive, total, ratio * v), np.where(positive, degrees, np.inf)


def _checked(estimates: Any, variances: Any) -> tuple[np.ndarray, np.ndarray]:
    q, v = (np.atleast_2d(np.asarray(given, dtype=np.float64)) for given in (estimates, variances))
    if q.shape != v.shape or q.ndim != 2 or not q.size:
        raise ParameterError(
            "estimates and variances need one row per data set and one column per quantity",
            got=f"{q.shape} and {v.shape}",
        )
    if np.any(v < 0):
        raise ParameterError("a variance cannot be negative", got=float(v.min()))
    return q, v
