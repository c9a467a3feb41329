"""Information loss of numeric data: the table of DF07 and IL1s."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Utility
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.record_order import order_warnings
from tacit.utility._discrepancy import Discrepancy
from tacit.utility._numbers import Numbers, objection_without_numbers
from tacit.utility._structure import Factors, Structure

_ZERO = 1e-9
"""Factor loadings and coefficients at most this large count as zero."""
_DOMINATES = 10.0
"""A term this many times the average of the others decides the information loss alone."""


class InformationLoss(
    Utility,
    key="information-loss",
    title="Information loss",
    cites=("domingoferrer2007",),
    example={"columns": ["age", "hours", "income", "taxes"]},
):
    r"""Measure how far numbers, means, variances and correlations moved.

    Missing values: records are compared where both values are there, means are over the values
    there, covariances over complete records; all are counted. Weights: used for means and
    covariances where both files have them. Households: not considered.

    Notes
    -----
    The value is the information loss of the score of DF07 [domingoferrer2007]_,

    .. math:: IL = \frac{1}{5} \left( MV_X + MV_{\bar X} + MV_V + MV_S + MAE_R \right),

    the average of the mean variations of the data, the means, the covariances (:math:`i \le j`) and
    the variances, and of the mean absolute error of the correlations (:math:`i < j`). Mean
    variation is :math:`|x' - x| / |x|`, averaged over the components that are not zero in the
    original; the others are counted. Terms that are not defined (one column has no correlations)
    are left out. ``details["table"]`` holds mean square error, mean absolute error and mean
    variation of

    * X, mean, V, S, R: data, means, covariances, variances, correlations;
    * RF, C, F: correlations with the principal components, communalities of the first one, and
      coefficients of the projection on them.

    Principal components are those of the standardised columns, signs and order being brought in
    line with the original. The weight :math:`w_j` of factor j in RF and F is its share of variance
    times p, so that the divisor :math:`p^2` makes a mean. Beside them stands

    .. math:: IL1s = \frac{1}{np} \sum_{j=1}^{p} \sum_{i=1}^{n}
       \frac{|x_{ij} - x'_{ij}|}{\sqrt{2}\, S_j},

    which zeros and small values do not upset. ``per_unit`` is its part for each released record.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.patients()
    >>> release = tacit.Plan([mask.Round(columns=["Income"], base=10_000)]).apply(data, seed=1)
    >>> loss = utility.InformationLoss(columns=["Income", "Billing"]).measure(data, release)
    >>> loss.text, round(loss.details["table"]["X"]["mean_absolute_error"], 1)
    ('3.425 %', 1130.0)
    """

    columns: Columns | None = None
    """Numeric columns; by default all that both files have, but weights and household numbers."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no numeric column, if there is none."""
        return objection_without_numbers(original, self.columns)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the average relative change of the numbers and of their statistics."""
        both = pair(original, release, self.record_id)
        comparison = _Comparison(both, self.columns, by=self.key)
        doubts = order_warnings(both, by=self.key)
        table = comparison.table()
        terms = _terms(table)
        defined = [t for t in terms.values() if not np.isnan(t)]
        loss = float(np.mean(defined)) if defined else float("nan")
        per_record = comparison.scaled_changes()
        il1s = _mean(per_record)
        return Measurement(
            key=self.key,
            title=self.title,
            value=loss,
            better="lower",
            bounds=(0.0, float("inf")),
            unit="percent",
            per_unit=comparison.by_released_record(per_record),
            details={
                "columns": comparison.columns,
                "terms": terms,
                "il1s": il1s,
                "table": {name: asdict(row) for name, row in table.items()},
                **comparison.counts(),
            },
            explanation=_explanation(loss, il1s, comparison.columns),
            warnings=(*comparison.warnings(), *_dominated(terms), *doubts),
        )


class _Comparison:
    """Numeric columns of an original and its release, with their statistics."""

    def __init__(self, both: Pair, columns: Columns | None, *, by: str) -> None:
        self._both, self._numbers = both, Numbers.of(both, columns, by=by)
        self.columns = self._numbers.columns
        at, to = both.matched
        self._x, self._y = self._numbers.before[at], self._numbers.after[to]
        self.original = Structure.of(self._numbers.before, self._numbers.weights[0])
        self.release = Structure.of(self._numbers.after, self._numbers.weights[1])

    def table(self) -> dict[str, Discrepancy]:
        """Rows of DF07's table of discrepancies."""
        a, b = self.original, self.release
        upper = np.triu_indices(len(self.columns))
        above = np.triu_indices(len(self.columns), k=1)
        scale = np.outer(a.deviations, a.deviations)
        between = Discrepancy.between
        rows = {
            "X": between(self._x, self._y),
            "mean": between(a.means, b.means, zero=1e-12 * np.nan_to_num(a.deviations)),
            "V": between(a.covariances[upper], b.covariances[upper], zero=1e-12 * scale[upper]),
            "S": between(np.diag(a.covariances), np.diag(b.covariances)),
            "R": between(a.correlations[above], b.known_correlations[above]),
        }
        return rows | self._factor_rows()

    def _factor_rows(self) -> dict[str, Discrepancy]:
        """Compare the principal components of the columns that vary in both files."""
        varies = ~np.isnan(np.diag(self.original.correlations + self.release.correlations))
        if not varies.any():
            nothing = Discrepancy.between(np.empty(0), np.empty(0))
            return {"RF": nothing, "C": nothing, "F": nothing}
        chosen = np.ix_(varies, varies)
        a = Factors.of(self.original.correlations[chosen])
        b = Factors.of(self.release.correlations[chosen]).aligned_with(a)
        between = Discrepancy.between
        return {
            "RF": between(a.loadings, b.loadings, weights=a.variances, zero=_ZERO),
            "C": between(a.communalities, b.communalities, zero=_ZERO),
            "F": between(a.scores, b.scores, weights=a.variances, zero=_ZERO),
        }

    def scaled_changes(self) -> np.ndarray:
        """Terms of IL1s: changes in standard deviations, corresponding records by columns."""
        each = [
            Structure.of(column[:, None], self._numbers.weights[0]).deviations[0]
            for column in self._numbers.before.T
        ]
        scale = np.where(np.array(each) > 0, np.sqrt(2) * np.array(each), np.nan)
        return np.asarray(np.abs(self._x - self._y) / scale)

    def by_released_record(self, changes: np.ndarray) -> np.ndarray:
        """Average the changes of each released record; a simulated record has none."""
        _, to = self._both.matched
        found = np.full(self._both.released.n_records, np.nan)
        n_known = (~np.isnan(changes)).sum(axis=1)
        total = np.nansum(changes, axis=1)
        found[to] = np.divide(total, n_known, out=np.full(len(to), np.nan), where=n_known > 0)
        return found

    def counts(self) -> dict[str, Any]:
        """Count what was compared and what could not be."""
        constant = np.diag(self.original.covariances) == 0
        return {
            "records_compared": len(self._x),
            "values_suppressed": int(np.sum(np.isnan(self._y) & ~np.isnan(self._x))),
            "values_imputed": int(np.sum(~np.isnan(self._y) & np.isnan(self._x))),
            "complete_records": {
                "original": self.original.n_complete,
                "release": self.release.n_complete,
            },
            "constant_columns": [c for c, flat in zip(self.columns, constant, strict=True) if flat],
            "columns_not_compared": self._numbers.lost,
            "weighted": self._numbers.weighted,
        }

    def warnings(self) -> tuple[str, ...]:
        """Say what a reader must know before trusting the number."""
        found = []
        n_gone = int(np.sum(np.isnan(self._y) & ~np.isnan(self._x)))
        if n_gone:
            found.append(
                f"Suppressed, and their loss not in this number: {counted(n_gone, 'value')}."
            )
        return (*found, *self._numbers.warnings)


def _terms(table: dict[str, Discrepancy]) -> dict[str, float]:
    """Terms of the information loss in the score of domingoferrer2007."""
    return {
        **{name: table[name].mean_variation for name in ("X", "mean", "V", "S")},
        "R": table["R"].mean_absolute_error,
    }


def _dominated(terms: dict[str, float]) -> tuple[str, ...]:
    """Warn where one term, upset by originals near zero, decides the number alone."""
    known = {name: t for name, t in terms.items() if not np.isnan(t)}
    for name, term in known.items():
        others = [t for other, t in known.items() if other != name]
        if others and term > 1 and term > _DOMINATES * float(np.mean(others)):
            text = f"The term {name} decides this number: some original components are near zero, "
            return (text + "which makes relative changes large. Read IL1s in the details instead.",)
    return ()


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _explanation(loss: float, il1s: float, columns: list[str]) -> str:
    if np.isnan(loss):
        return "No value of the numeric columns can be compared."
    return (
        f"The values of {', '.join(columns)}, their means, variances and correlations changed by "
        f"{100 * loss:.3g} % on average; a single value moved by {100 * il1s * np.sqrt(2):.3g} % "
        "of its column's standard deviation."
    )
