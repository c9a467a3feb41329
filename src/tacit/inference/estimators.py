"""Analyses of one data set: means, totals and regressions with their variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.schema import Kind
from tacit.inference._glm import fit_glm

Family = Literal["gaussian", "binomial", "poisson"]


@dataclass(frozen=True)
class Estimates:
    """Quantities of one data set, with their variances."""

    names: list[str]
    values: np.ndarray
    variances: np.ndarray


@dataclass(frozen=True)
class Mean:
    """Means of numeric columns; weighted where the schema names a weight.

    Missing values are left out. Variances are those of independent records, linearised for weights.

    Examples
    --------
    >>> import tacit
    >>> Mean(columns=["Age"])(tacit.datasets.patients()).values.tolist()
    [44.7]
    """

    columns: Sequence[str]

    def __call__(self, data: Microdata) -> Estimates:
        """Estimate the means."""
        values = data.numeric(list(self.columns))
        weights = np.ones(len(values)) if data.weights is None else data.weights
        found = [_mean(values[:, j], weights, name) for j, name in enumerate(self.columns)]
        return Estimates(list(self.columns), *map(np.array, zip(*found, strict=True)))


def _mean(column: np.ndarray, weights: np.ndarray, name: str) -> tuple[float, float]:
    known = ~np.isnan(column)
    x, w = column[known], weights[known]
    if len(x) < 2:
        raise DataError(f"a mean of {name!r} needs two values", got=f"{len(x)}")
    share = w / w.sum()
    mean = float(share @ x)
    return mean, float(len(x) / (len(x) - 1) * np.sum((share * (x - mean)) ** 2))


@dataclass(frozen=True)
class Total:
    """Totals of numeric columns; weighted where the schema names a weight.

    Without weights, `population` says how many units the records stand for: by default as many as
    there are; of synthetic records, as many as the models were fitted to.
    """

    columns: Sequence[str]
    population: float | None = None

    def __call__(self, data: Microdata) -> Estimates:
        """Estimate the totals."""
        values = data.numeric(list(self.columns))
        n = len(values)
        if n < 2:
            raise DataError("the variance of a total needs two records", got=f"{n}")
        weights = data.weights
        if weights is None:
            weights = np.full(n, (self.population or n) / max(n, 1))
        terms = np.where(np.isnan(values), 0.0, values) * weights[:, None]
        variances = n * terms.var(axis=0, ddof=1)
        return Estimates(list(self.columns), terms.sum(axis=0), variances)


@dataclass(frozen=True)
class Regression:
    """A generalised linear model with the canonical link.

    Numbers enter as they are, categories by indicators against `references` (by default the most
    frequent category of the data it first sees). Records with a gap are left out.
    """

    response: str
    predictors: Sequence[str]
    family: Family = "gaussian"
    levels: dict[str, list[str]] = field(default_factory=dict)
    """Categories of each predictor, the reference first."""

    def like(self, data: Microdata) -> Regression:
        """Return the same model with the categories of these data."""
        levels = {}
        for name in self.predictors:
            if data.schema[name].kind != Kind.NUMERIC:
                counts = data.local[name].cast(str).drop_nulls().value_counts(sort=True)
                levels[name] = counts[name].to_list()
        return Regression(self.response, self.predictors, self.family, levels)

    def __call__(self, data: Microdata) -> Estimates:
        """Estimate the coefficients."""
        model = self if self.levels else self.like(data)
        names, matrix = model._matrix(data)
        y = _response(data, self.response)
        known = ~np.isnan(y) & ~np.isnan(matrix).any(axis=1)
        weights = None if data.weights is None else data.weights[known]
        values, variances = fit_glm(matrix[known], y[known], self.family, weights)
        return Estimates(names, values, variances)

    def _matrix(self, data: Microdata) -> tuple[list[str], np.ndarray]:
        names, parts = ["constant"], [np.ones(data.n_records)]
        for name in self.predictors:
            if name not in self.levels:
                names.append(name)
                parts.append(data.numeric([name])[:, 0])
                continue
            labels = data.local[name].cast(str)
            gaps = labels.is_null().to_numpy()
            for level in self.levels[name][1:]:
                names.append(f"{name} = {level}")
                is_level = (labels == level).fill_null(False).to_numpy().astype(np.float64)
                parts.append(np.where(gaps, np.nan, is_level))
        return names, np.column_stack(parts)


def _response(data: Microdata, name: str) -> np.ndarray:
    import polars as pl

    column = data.local[name]
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    levels = column.drop_nulls().unique().sort()
    if len(levels) != 2:
        raise ParameterError(
            f"the response {name!r} must be numeric or have two categories",
            got=f"{len(levels)} categories",
        )
    return np.asarray((column == levels[1]).cast(pl.Float64).to_numpy(), dtype=np.float64)
