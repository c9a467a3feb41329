"""Masking by group means: what all microaggregation methods share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.schema import Kind


def mask_by_groups(
    data: Microdata,
    columns: Sequence[str],
    k: int,
    grouping: Callable[[np.ndarray], np.ndarray],
    *,
    by: str,
) -> Microdata:
    """Replace numeric columns by the means of the groups that `grouping` finds.

    Records that miss the same columns are grouped together; where fewer than `k` share a pattern
    the columns are blanked. Means are weighted where the schema has a weight.
    """
    data.schema.require(columns, kinds=[Kind.NUMERIC], by=by)
    values = data.numeric(columns)
    if len(values) < k:
        raise DataError(
            f"k = {k} needs at least {k} records", got=f"{len(values)} records", do="lower k"
        )
    _check_finite(values, columns)
    masked = np.full_like(values, np.nan)
    weights = data.weights
    for rows, present in _patterns(values):
        if len(rows) < k or not present.any():
            continue
        part = values[np.ix_(rows, present)]
        means = group_means(part, grouping(part), None if weights is None else weights[rows])
        masked[np.ix_(rows, present)] = means
    return data.with_arrays(dict(zip(columns, masked.T, strict=True)))


def group_means(
    values: np.ndarray, groups: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return for each record the (weighted) mean of its group, per column."""
    shares = np.ones(len(groups)) if weights is None else weights
    totals = np.bincount(groups, shares)
    means = [np.bincount(groups, shares * column) / totals for column in values.T]
    return np.column_stack(means)[groups]


def standardised(values: np.ndarray) -> np.ndarray:
    """Centre each column and scale it to unit standard deviation; constants become 0."""
    centred = values - values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.ones(values.shape[1])
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _patterns(values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the records by which columns they have."""
    present = ~np.isnan(values)
    if present.all():
        return [(np.arange(len(values)), present[0])]
    kinds, inverse = np.unique(present, axis=0, return_inverse=True)
    return [(np.flatnonzero(inverse == i), kind) for i, kind in enumerate(kinds)]


def _check_finite(values: np.ndarray, columns: Sequence[str]) -> None:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        name = columns[int(np.flatnonzero(infinite)[0])]
        raise DataError(f"column {name!r} holds infinite values", do="replace them first")
