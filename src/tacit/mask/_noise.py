"""What the additive noise methods share: complete arrays in, moments, who gets noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.schema import Kind
from tacit.mask._moments import means_and_covariance


def finite_columns(data: Microdata, columns: Sequence[str], by: str) -> np.ndarray:
    """Return numeric columns as floats; missing values are NaN, infinite ones are refused."""
    data.schema.require(columns, kinds=[Kind.NUMERIC], by=by)
    values = data.numeric(columns)
    if np.isinf(values).any():
        name = columns[int(np.flatnonzero(np.isinf(values).any(axis=0))[0])]
        raise DataError(f"column {name!r} holds infinite values", do="replace them first")
    return values


def known_moments(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return means and covariances of the records that miss nothing."""
    complete = complete_records(values)
    if complete.sum() < 2:
        raise DataError(
            "noise needs at least two complete records to know the spread",
            got=f"{int(complete.sum())} complete of {len(values)}",
            do="mask the columns apart",
        )
    if not complete.all():
        values = values[complete]
        weights = None if weights is None else weights[complete]
    return means_and_covariance(values, weights)


def complete_records(values: np.ndarray) -> np.ndarray:
    """Tell which records of an array miss nothing."""
    missing = np.isnan(values)
    return ~missing.any(axis=1) if missing.any() else np.ones(len(values), dtype=bool)


def with_columns(data: Microdata, columns: Sequence[str], values: np.ndarray) -> Microdata:
    """Put an array back in place of the columns it came from."""
    return data.with_arrays(dict(zip(columns, values.T, strict=True)))
