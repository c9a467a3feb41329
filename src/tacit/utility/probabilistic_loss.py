"""Probabilistic information loss: how surely a user would notice that a statistic moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import pair
from tacit.utility._numbers import Numbers, effective_size, objection_without_numbers
from tacit.utility._sampling_errors import LEVELS, Moments, quantile_positions

_N_WORST = 10
_ROUNDING = 1e-9


class ProbabilisticLoss(
    Utility,
    key="probabilistic-loss",
    title="Probabilistic information loss",
    cites=("mateosanz2005", "domingoferrer2007"),
    example={"columns": ["age", "hours", "income", "taxes"]},
):
    r"""Measure how far statistics moved, against their sampling error: 0 none, 1 all far beyond.

    Bounded, unlike the information loss of relative changes, so that it can be set against a risk.

    Missing values: means and quantiles are over the values there, covariances and correlations
    over complete records. Weights: used where both files have them, with the effective number of
    records. Households: not considered.

    Notes
    -----
    The original is seen as a sample. A statistic :math:`\theta` that became :math:`\theta'` has
    the loss [mateosanz2005]_

    .. math:: pil(\theta) = 2\, P\left(0 \le Z \le
       \frac{|\theta' - \theta|}{\sqrt{\mathrm{Var}(\theta)}}\right), \qquad Z \sim N(0, 1),

    with the asymptotic variances :math:`\mu_2/n` of a mean, :math:`(\mu_4 - \mu_2^2)/n` of a
    variance, :math:`(\mu_{22} - \mu_{11}^2)/n` of a covariance, and that of a correlation by the
    delta method. The value is the mean of five averages: over means, variances, covariances,
    correlations, and the quantiles of 5, 10, ..., 95 percent. A statistic without sampling error
    has lost nothing if it stayed and everything if it moved. With many records the error is small
    and the loss near 1 for changes that matter to nobody: read it beside the information loss.

    Deviation: quantiles are compared by position, :math:`F'(x_q) - F(x_q)` with variance
    :math:`q(1-q)/n`, which in large samples is the same as comparing values and needs no density.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.census(500)
    >>> loss = utility.ProbabilisticLoss(columns=["age", "income"])
    >>> release = tacit.Plan([mask.RankSwap(columns=["income"], p=10)]).apply(data, seed=1)
    >>> loss.measure(data, data).value, 0 < loss.measure(data, release).value < 0.5
    (0.0, True)
    """

    columns: Columns | None = None
    """Numeric columns; by default all that both files have, but weights and household numbers."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no numeric column, if there is none."""
        return objection_without_numbers(original, self.columns)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the average loss of means, variances, covariances, correlations, quantiles."""
        numbers = Numbers.of(pair(original, release), self.columns, by=self.key)
        statistics = list(_statistics(numbers))
        terms = _terms(statistics)
        known = [t for t in terms.values() if not np.isnan(t)]
        value = float(np.mean(known)) if known else float("nan")
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            unit="percent",
            details={
                "columns": numbers.columns, "terms": terms, "statistics": len(statistics),
                "worst": [s.as_dict() for s in _worst(statistics)],
            },
            explanation=_explanation(value, terms), warnings=numbers.warnings,
        )  # fmt: skip


@dataclass(frozen=True)
class Statistic:
    """One statistic in both files, with its sampling error in the original."""

    term: str
    name: str
    original: float
    release: float
    error: float

    @property
    def loss(self) -> float:
        """Probability that sampling error alone would move the statistic less than this."""
        from scipy.special import erf

        moved = abs(self.release - self.original)
        if np.isnan(moved) or np.isnan(self.error):
            return float("nan")
        if moved <= _ROUNDING * max(abs(self.original), self.error):
            return 0.0
        if self.error <= 0:
            return 1.0
        return float(erf(min(moved / self.error, 40.0) / np.sqrt(2)))  # 2 P(0 <= Z <= z)

    def as_dict(self) -> dict[str, Any]:
        """Return the statistic as plain data."""
        return {
            "what": self.name, "original": self.original, "release": self.release,
            "loss": self.loss,
        }  # fmt: skip


def _statistics(numbers: Numbers) -> Iterator[Statistic]:
    """Compare all statistics of the columns."""
    before = Moments.of(numbers.before, numbers.weights[0])
    after = Moments.of(numbers.after, numbers.weights[1])
    names = numbers.columns
    correlations = np.where(np.isnan(after.correlations), 0.0, after.correlations)
    for j, name in enumerate(names):
        yield Statistic(
            "mean", f"mean of {name}", before.means[j], after.means[j], before.mean_errors[j]
        )
        yield Statistic(
            "variance", f"variance of {name}", before.covariances[j, j],
            after.covariances[j, j], before.covariance_errors[j, j],
        )  # fmt: skip
        yield from _quantiles(numbers, j)
        for i in range(j):
            pair_of = f"{names[i]} and {names[j]}"
            yield Statistic(
                "covariance", f"covariance of {pair_of}", before.covariances[i, j],
                after.covariances[i, j], before.covariance_errors[i, j],
            )  # fmt: skip
            # A column that became constant tells nothing about others: correlation 0.
            yield Statistic(
                "correlation", f"correlation of {pair_of}", before.correlations[i, j],
                correlations[i, j], before.correlation_errors[i, j],
            )  # fmt: skip


def _quantiles(numbers: Numbers, j: int) -> Iterator[Statistic]:
    """Compare the shares of values up to the original's quantiles."""
    name, w = numbers.columns[j], numbers.weights[0][~np.isnan(numbers.before[:, j])]
    if len(w) == 0:
        return
    points, old = quantile_positions(numbers.before[:, j], numbers.weights[0])
    _, new = quantile_positions(numbers.after[:, j], numbers.weights[1], points)
    errors = np.sqrt(LEVELS * (1 - LEVELS) / effective_size(w))
    for q, a, b, error in zip(LEVELS, old, new, errors, strict=True):
        what = f"share of {name} up to its {100 * q:.0f} % quantile"
        yield Statistic("quantile", what, float(a), float(b), float(error))


def _terms(statistics: list[Statistic]) -> dict[str, float]:
    """Average the losses by kind of statistic."""
    found = {}
    for term in ("mean", "variance", "covariance", "correlation", "quantile"):
        losses = [s.loss for s in statistics if s.term == term and not np.isnan(s.loss)]
        found[term] = float(np.mean(losses)) if losses else float("nan")
    return found


def _worst(statistics: list[Statistic]) -> list[Statistic]:
    """List the statistics that lost most, only the worst quantile of each column."""
    moved = [s for s in statistics if s.loss > 0]
    moved.sort(key=lambda s: (-s.loss, -abs(s.release - s.original) / (s.error or np.inf), s.name))
    seen: dict[str, Statistic] = {}
    for s in moved:
        seen.setdefault(s.name.split(" up to ")[0] if s.term == "quantile" else s.name, s)
    return list(seen.values())[:_N_WORST]


def _explanation(value: float, terms: dict[str, float]) -> str:
    if np.isnan(value):
        return "No statistic of the numeric columns can be compared."
    hurt = max(terms, key=lambda t: np.nan_to_num(terms[t], nan=-1.0))
    return (
        f"Means, variances, covariances, correlations and quantiles lost {100 * value:.3g} % on a "
        f"scale where 100 % is far beyond sampling error; most lost is the {hurt} "
        f"({100 * terms[hurt]:.3g} %)."
    )
