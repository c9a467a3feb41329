"""Masking by group means: what all microaggregation methods share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import encode, group_ids
from tacit.core.schema import Kind


def mask_by_groups(
    data: Microdata,
    columns: Sequence[str],
    k: int,
    grouping: Callable[[np.ndarray], np.ndarray],
    *,
    by: str,
    within: Sequence[str] | None = None,
    outliers: float = 0.0,
) -> Microdata:
    """Replace numeric columns by the means of the groups that `grouping` finds.

    Records that miss the same columns are grouped together, and only inside the categories of the
    columns `within`; where fewer than `k` are left the columns are blanked. The share `outliers` of
    the records farthest from the centre is blanked too. Means are weighted where the schema has a
    weight.
    """
    data.schema.require(columns, kinds=[Kind.NUMERIC], by=by)
    values = data.numeric(columns)
    strata = group_ids(encode(data, within))[0] if within else None
    if len(values) < k:
        raise DataError(
            f"k = {k} needs at least {k} records", got=f"{len(values)} records", do="lower k"
        )
    _check_finite(values, columns)
    masked = np.full_like(values, np.nan)
    weights = data.weights
    for everyone, present in missing_patterns(values, strata):
        if not present.any():
            continue
        rows = _without_outliers(values, everyone, present, outliers)
        if len(rows) < k:
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
    # Rounding must not move a mean out of its group's range: equal values stay as they are.
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(len(totals)))
    lowest = np.minimum.reduceat(values[order], starts)
    highest = np.maximum.reduceat(values[order], starts)
    return np.asarray(np.clip(np.column_stack(means), lowest, highest)[groups])


def standardised(values: np.ndarray) -> np.ndarray:
    """Centre each column and scale it to unit standard deviation; constants become 0."""
    centred = values - values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.ones(values.shape[1])
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def missing_patterns(
    values: np.ndarray, strata: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the records by which columns they have and, if given, by stratum."""
    present = ~np.isnan(values)
    if strata is None and present.all():
        return [(np.arange(len(values)), np.ones(values.shape[1], dtype=bool))]
    marks = present if strata is None else np.column_stack([present, strata])
    _, first, inverse = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    return [(part, present[i]) for part, i in zip(parts, first, strict=True)]


def _without_outliers(
    values: np.ndarray, rows: np.ndarray, present: np.ndarray, share: float
) -> np.ndarray:
    """Leave out the share of the records that lie farthest from the centre, standardised."""
    n_out = int(share * len(rows))
    if n_out == 0:
        return rows
    distance = (standardised(values[np.ix_(rows, present)]) ** 2).sum(axis=1)
    kept = np.argsort(distance, kind="stable")[: len(rows) - n_out]
    return np.asarray(rows[np.sort(kept)])


def _check_finite(values: np.ndarray, columns: Sequence[str]) -> None:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        name = columns[int(np.flatnonzero(infinite)[0])]
        raise DataError(f"column {name!r} holds infinite values", do="replace them first")
