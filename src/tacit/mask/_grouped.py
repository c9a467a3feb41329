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
    hide_blanks: bool = True,
) -> Microdata:
    """Replace numeric columns by the means of the groups that `grouping` finds.

    Records that miss the same columns are grouped together, and only inside the categories of the
    columns `within`; where fewer than `k` are left the columns are blanked. The share `outliers` of
    the records farthest from the centre is blanked too. With `hide_blanks` a group joins the blank
    records where they are fewer than `k`. Means are weighted where the schema has a weight.
    """
    data.schema.require(columns, kinds=[Kind.NUMERIC], by=by)
    values = data.numeric(columns)
    strata = group_ids(encode(data, within))[0] if within else None
    if len(values) < k:
        raise DataError(
            f"k = {k} needs at least {k} records", got=f"{len(values)} records", do="lower k"
        )
    _check_finite(values, columns)
    groups, n_groups = np.full(len(values), -1, dtype=np.int64), 0
    for everyone, present in missing_patterns(values, strata):
        if not present.any():
            continue
        rows = _without_outliers(values, everyone, present, outliers)
        if len(rows) < k:
            continue
        found = grouping(values[np.ix_(rows, present)])
        groups[rows] = found + n_groups
        n_groups += int(found.max()) + 1
    if hide_blanks:
        groups = with_blanks_hidden(groups, k)
    masked = _means_of_grouped(values, groups, data.weights)
    return data.with_arrays(dict(zip(columns, masked.T, strict=True)))


def with_blanks_hidden(groups: np.ndarray, k: int) -> np.ndarray:
    """Blank the smallest group (-1) too where from 1 to k - 1 records are blank.

    Records without any value look alike, and one that is alone in that is as exposed as one that is
    alone with its values.

    Examples
    --------
    >>> with_blanks_hidden(np.array([0, 1, 0, -1, 1, 1]), 2).tolist()
    [-1, 0, -1, -1, 0, 0]
    """
    blank = groups < 0
    if not 0 < blank.sum() < k or blank.all():
        return groups
    smallest = int(np.argmin(np.bincount(groups[~blank])))
    hidden = np.where(groups == smallest, -1, groups)
    return np.where(hidden > smallest, hidden - 1, hidden)


def _means_of_grouped(
    values: np.ndarray, groups: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return the means of the groups, and nothing for records without one."""
    rows = np.flatnonzero(groups >= 0)
    if len(rows) == len(values):
        return group_means(values, groups, weights)
    masked = np.full_like(values, np.nan)
    if len(rows):
        shares = None if weights is None else weights[rows]
        masked[rows] = group_means(values[rows], groups[rows], shares)
    return masked


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
