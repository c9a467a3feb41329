"""Least squares on microdata, with named coefficients and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.common_scale import as_text
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.schema import Kind

_COLLINEAR = 1e-12
"""Directions with less than this share of the largest variation are taken for collinear."""


@dataclass(frozen=True)
class Fit:
    """Coefficients of a linear regression; the intercept has an empty name."""

    names: list[str]
    coefficients: np.ndarray
    errors: np.ndarray
    degrees: int
    r_squared: float
    n_left_out: int
    references: dict[str, str]
    """The category of each categorical predictor that the others are compared with."""

    @classmethod
    def of(
        cls,
        data: Microdata,
        response: str,
        predictors: Sequence[str],
        *,
        like: Fit | None = None,
    ) -> Fit:
        """Fit by (weighted) least squares, with the coefficients of another fit if one is given.

        Categories that the other fit does not know get coefficients of their own after its own.
        Coefficients that the records do not determine are NaN.
        """
        y = data.numeric([response])[:, 0]
        references = _references(data, predictors) if like is None else like.references
        names, matrix = _columns(data, predictors, references, [] if like is None else like.names)
        complete = np.isfinite(matrix).all(axis=1) & np.isfinite(y)
        if complete.sum() <= len(names):
            raise DataError(
                "the regression has more coefficients than complete records",
                got=f"{len(names)} coefficients, {int(complete.sum())} records",
                do="use fewer predictors",
            )
        weights = data.weights
        shares = np.ones(len(y)) if weights is None else weights / weights.mean()
        x, y, w = matrix[complete], y[complete], shares[complete]
        solved = _Solution.of(x * np.sqrt(w)[:, None], y * np.sqrt(w))
        centred = np.sqrt(w) * (y - np.average(y, weights=w))
        total = float(centred @ centred)
        r_squared = 1.0 - solved.squares / total if total > 0 else float("nan")
        n_left_out = int((~complete).sum())
        return cls(
            names, solved.coefficients, solved.errors, solved.degrees, r_squared, n_left_out,
            references,
        )  # fmt: skip

    def coefficient(self, name: str) -> float:
        """Return an estimate."""
        return float(self.coefficients[self.names.index(name)])

    def interval(self, name: str, level: float) -> tuple[float, float]:
        """Return a confidence interval."""
        from scipy.stats import t

        at = self.names.index(name)
        half = float(t.ppf(0.5 + level / 2.0, max(self.degrees, 1))) * float(self.errors[at])
        return float(self.coefficients[at]) - half, float(self.coefficients[at]) + half


@dataclass(frozen=True)
class _Solution:
    """Least squares; NaN where the records leave a coefficient open."""

    coefficients: np.ndarray
    errors: np.ndarray
    degrees: int
    squares: float

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray) -> _Solution:
        # Columns of length 1: what counts as collinear must not depend on units.
        lengths = np.linalg.norm(x, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        scaled = x / lengths
        values, vectors = np.linalg.eigh(scaled.T @ scaled)
        kept = values > _COLLINEAR * max(float(values.max(initial=0.0)), 1e-300)
        axes = vectors[:, kept]
        inverse = (axes / values[kept]) @ axes.T
        solution = inverse @ (scaled.T @ y)
        residual = y - scaled @ solution
        squares, degrees = float(residual @ residual), len(y) - int(kept.sum())
        errors = np.sqrt(np.maximum(np.diag(inverse) * squares / max(degrees, 1), 0.0))
        is_open = np.abs(1 - (axes**2).sum(axis=1)) > 1e-6
        coefficients, errors = (np.where(is_open, np.nan, v / lengths) for v in (solution, errors))
        return cls(coefficients, errors, degrees, squares)


def _references(data: Microdata, predictors: Sequence[str]) -> dict[str, str]:
    """Return the most frequent category of each categorical predictor."""
    levels = {
        name: _levels(data, name) for name in predictors if data.schema[name].kind != Kind.NUMERIC
    }
    return {name: found[0] for name, found in levels.items() if found}


def _columns(
    data: Microdata, predictors: Sequence[str], references: dict[str, str], first: list[str]
) -> tuple[list[str], np.ndarray]:
    """Return the names and columns of the model: those named first, then all others."""
    found: dict[str, np.ndarray] = {"": np.ones(data.n_records)}
    for name in predictors:
        if data.schema[name].kind == Kind.NUMERIC:
            found[name] = data.numeric([name])[:, 0]
        else:
            found |= _indicators(data, name, references.get(name))
    names = [*first, *(name for name in found if name not in first)]
    nothing = np.zeros(data.n_records)
    return names, np.column_stack([found.get(name, nothing) for name in names])


def _indicators(data: Microdata, name: str, reference: str | None) -> dict[str, np.ndarray]:
    """Return an indicator for each category but the reference; gaps are NaN."""
    column = as_text(data.local[name])
    gaps = column.is_null().to_numpy()
    found = {}
    for level in _levels(data, name):
        if level != reference:
            values = (column == level).fill_null(False).to_numpy().astype(float)
            found[f"{name} = {level}"] = np.where(gaps, np.nan, values)
    return found


def _levels(data: Microdata, name: str) -> list[str]:
    """Return the categories of a column as text, the most frequent first."""
    column = as_text(data.local[name]).alias("level")
    counts = column.drop_nulls().value_counts()
    return [str(v) for v in counts.sort(["count", "level"], descending=[True, False])["level"]]
