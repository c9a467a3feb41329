"""Least squares on microdata, with named coefficients and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.schema import Kind


@dataclass(frozen=True)
class Fit:
    """Coefficients of a linear regression; the intercept has an empty name."""

    names: list[str]
    coefficients: np.ndarray
    errors: np.ndarray
    degrees: int
    r_squared: float
    n_left_out: int

    @classmethod
    def of(
        cls,
        data: Microdata,
        response: str,
        predictors: Sequence[str],
        *,
        like: Fit | None = None,
    ) -> Fit:
        """Fit by (weighted) least squares, with the coefficients of another fit if one is given."""
        y = data.numeric([response])[:, 0]
        names, matrix = _columns(data, predictors, like)
        complete = np.isfinite(matrix).all(axis=1) & np.isfinite(y)
        if complete.sum() <= len(names):
            raise DataError(
                "the regression has more coefficients than complete records",
                got=f"{len(names)} coefficients, {int(complete.sum())} records",
                do="use fewer predictors",
            )
        weights = data.weights
        shares = np.ones(len(y)) if weights is None else weights / weights.mean()
        return cls._solved(
            names, matrix[complete], y[complete], shares[complete], int((~complete).sum())
        )

    @classmethod
    def _solved(
        cls, names: list[str], matrix: np.ndarray, y: np.ndarray, shares: np.ndarray, left_out: int
    ) -> Fit:
        root = np.sqrt(shares)
        scaled = matrix * root[:, None]
        inverse = np.linalg.pinv(scaled.T @ scaled)
        coefficients = inverse @ (scaled.T @ (root * y))
        residual = root * (y - matrix @ coefficients)
        degrees = len(y) - int(np.linalg.matrix_rank(scaled))
        variance = float(residual @ residual) / max(degrees, 1)
        errors = np.sqrt(np.maximum(np.diag(inverse) * variance, 0.0))
        absent = ~(matrix != 0).any(axis=0)
        coefficients = np.where(absent, np.nan, coefficients)
        errors = np.where(absent, np.nan, errors)
        centred = root * (y - np.average(y, weights=shares))
        total = float(centred @ centred)
        r_squared = 1.0 - float(residual @ residual) / total if total > 0 else float("nan")
        return cls(names, coefficients, errors, degrees, r_squared, left_out)

    def coefficient(self, name: str) -> float:
        """Return an estimate."""
        return float(self.coefficients[self.names.index(name)])

    def interval(self, name: str, level: float) -> tuple[float, float]:
        """Return a confidence interval."""
        from scipy.stats import t

        at = self.names.index(name)
        half = float(t.ppf(0.5 + level / 2.0, max(self.degrees, 1))) * float(self.errors[at])
        return float(self.coefficients[at]) - half, float(self.coefficients[at]) + half


def _columns(
    data: Microdata, predictors: Sequence[str], like: Fit | None
) -> tuple[list[str], np.ndarray]:
    """Return the names and columns of the model, the intercept first."""
    found: list[tuple[str, np.ndarray]] = [("", np.ones(data.n_records))]
    for name in predictors:
        if data.schema[name].kind == Kind.NUMERIC:
            found.append((name, data.numeric([name])[:, 0]))
        else:
            found += _indicators(data, name, drop_first=like is None)
    if like is None:
        return [name for name, _ in found], np.column_stack([values for _, values in found])
    given = dict(found)
    rows = [given.get(name, np.zeros(data.n_records)) for name in like.names]
    return list(like.names), np.column_stack(rows)


def _indicators(data: Microdata, name: str, *, drop_first: bool) -> list[tuple[str, np.ndarray]]:
    """Return an indicator for each category, but for the most frequent one on request."""
    import polars as pl

    column = data.local[name].cast(pl.String)
    counts = column.drop_nulls().value_counts()
    counts = counts.sort(["count", column.name], descending=[True, False])
    gaps = column.is_null().to_numpy()
    found = []
    for level in counts[column.name].to_list()[int(drop_first) :]:
        values = (column == level).fill_null(False).to_numpy().astype(float)
        found.append((f"{name} = {level}", np.where(gaps, np.nan, values)))
    return found
