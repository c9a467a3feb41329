"""Information kept: how much of each original column a user of the release still sees."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.errors import DataError
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair, substantive_columns
from tacit.core.value import Value


class InformationKept(Value):
    r"""Measure which share of the information in each column the release still gives.

    It treats recoding, suppression and perturbation alike, so that plans of different kinds can be
    compared: 1 means that every original value can be told from the released one, 0 that the
    release says nothing about single values.

    Missing values: a gap is a category. Weights: not used. Households: not considered.

    Notes
    -----
    With :math:`H` the entropy of a column :math:`X` and :math:`H(X|X')` what its released form
    :math:`X'` leaves open, the entropy-based loss of [domingoferrer2007]_ taken from the files
    themselves, the value is

    .. math:: \frac{1}{p} \sum_{j=1}^{p} \left(1 - \frac{H(X_j \mid X'_j)}{H(X_j)}\right)
       \sqrt{\frac{n'}{n}},

    where the root allows for records that were not released: standard errors grow with it. Numbers
    are cut at quantiles of the original. A column that is gone keeps nothing; a constant one is
    left out. Relations between columns that survive although values were exchanged do not count:
    add an analysis of your own where they matter.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Recode(column="age", width=20)]).apply(data, seed=1)
    >>> kept = InformationKept(columns=["age", "sex"]).measure(data, release)
    >>> kept.details["columns"]["sex"], 0.3 < kept.details["columns"]["age"] < 0.9
    (1.0, True)
    """

    title: ClassVar[str] = "Information kept"

    columns: Columns | None = None
    """Columns to compare; by default all but identifiers, weights and household numbers."""
    bins: Annotated[int, Ge(2)] = 16
    """Number of quantile classes into which numbers and dates are cut."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean share of information kept."""
        both = pair(original, release)
        names = list(self.columns or substantive_columns(both.original))
        both.original.schema.require(names)
        at, to = both.matched
        kept = {name: self._kept(both, name, at, to) for name in names}
        kept = {name: share for name, share in kept.items() if not np.isnan(share)}
        if not kept:
            raise DataError(
                "no column varies, so there is no information to keep",
                do="name columns that vary; records that are all alike need no search",
            )
        released = min(1.0, len(to) / max(both.original.n_records, 1))
        value = float(np.mean(list(kept.values()))) * released**0.5
        worst = min(kept, key=lambda name: kept[name])
        return Measurement(
            key="information-kept",
            title=self.title,
            value=value,
            better="higher",
            bounds=(0.0, 1.0),
            unit="percent",
            details={"columns": kept, "released": released},
            explanation=(
                f"{100 * value:.0f} % of the information in the columns is kept, least of {worst} "
                f"({100 * kept[worst]:.0f} %)."
            ),
        )

    def _kept(self, both: Pair, name: str, at: np.ndarray, to: np.ndarray) -> float:
        before = both.original.local[name]
        cuts = _quantiles(before, self.bins)
        x = _codes(before, cuts)[at]
        whole = _entropy(x)
        if whole <= 1e-12:
            return float("nan")
        if name not in both.released.schema or not len(to):
            return 0.0
        y = _codes(both.released.local[name], cuts)[to]
        left_open = _entropy(x * (int(y.max()) + 1) + y) - _entropy(y)
        return float(np.clip(1.0 - left_open / whole, 0.0, 1.0))


def _quantiles(series: Any, bins: int) -> np.ndarray | None:
    """Return cut points of numbers and dates, or nothing for categories."""
    if not _is_ordered(series.dtype):
        return None
    numbers = _numbers(series)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return None
    # Lower quantiles are values of the file: equal values are never parted by rounding.
    points = np.quantile(numbers, np.arange(1, bins) / bins, method="lower")
    return np.unique(points)


def _codes(series: Any, cuts: np.ndarray | None) -> np.ndarray:
    """Return the class of each value, counted from 1; a gap is class 0."""
    import polars as pl

    if cuts is not None and _is_ordered(series.dtype):
        numbers = _numbers(series)
        return np.where(np.isnan(numbers), 0, 1 + np.searchsorted(cuts, numbers, side="left"))
    ranked = series.cast(pl.String).rank("dense").fill_null(0)
    return np.asarray(ranked.to_numpy(), dtype=np.int64)


def _is_ordered(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype.is_temporal())


def _numbers(series: Any) -> np.ndarray:
    import polars as pl

    physical = series.to_physical() if series.dtype.is_temporal() else series
    return np.asarray(physical.cast(pl.Float64).to_numpy(), dtype=np.float64)


def _entropy(codes: np.ndarray) -> float:
    if not len(codes):
        return 0.0
    _, counts = np.unique(codes, return_counts=True)
    shares = counts / counts.sum()
    return float(-np.sum(shares * np.log2(shares)))
