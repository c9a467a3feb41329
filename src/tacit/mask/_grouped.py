"""Masking by group means: what all microaggregation methods share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Lt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import group_ids
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind
from tacit.mask._strata import split_by, strata_of


class Microaggregation(Mask):
    """A method that gives the records of a group the same values."""

    columns: Columns
    """Numeric variables grouped together."""
    k: Annotated[int, Ge(2), Try(3, 5, 10, 20)] = 3
    """Smallest group size; larger is safer and coarser."""
    within: Columns | None = None
    """Form groups only inside each category of these variables, say a region."""
    outliers: Annotated[float, Ge(0), Lt(0.2)] = 0.0
    """Share of the most outlying records whose values are blanked in place of grouped."""

    def kept_together(self, data: Microdata) -> tuple[list[str], list[str]]:
        """Form blocks of records that are similar in what is grouped."""
        return list(self.within or ()), list(self.columns)

    def objection_to_blocks(self) -> str | None:
        """Say that outliers are those of the whole file, if any are wanted."""
        if self.outliers:
            return "the outliers of a block are not those of the file; leave 'outliers' at 0"
        return None


class MeansOfGroups(Microaggregation):
    """A method that replaces numbers by the means of groups of records."""

    hides_blanks: ClassVar[bool] = True
    """Whether one more group is blanked where fewer than k records are blank."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with group means in place of the values."""
        strata = strata_of(data, self.within)
        for columns in self._sets(data):
            data = mask_by_groups(
                data,
                columns,
                self.k,
                lambda values: self._groups(values, rng),
                by=self.key,
                strata=strata,
                outliers=self.outliers,
                hide_blanks=self.hides_blanks,
            )
        return data

    def _sets(self, data: Microdata) -> list[list[str]]:
        """Return the sets of variables that are grouped together, each by itself."""
        return [list(self.columns)]

    @abstractmethod
    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the group (0, 1, ...) of each record of a complete array."""


def mask_by_groups(
    data: Microdata,
    columns: Sequence[str],
    k: int,
    grouping: Callable[[np.ndarray], np.ndarray],
    *,
    by: str,
    strata: np.ndarray | None = None,
    outliers: float = 0.0,
    hide_blanks: bool = True,
) -> Microdata:
    """Replace numeric columns by the means of the groups that `grouping` finds.

    Records that miss the same columns are grouped together, and only inside their stratum; where
    fewer than `k` are left the columns are blanked. The share `outliers` of
    the records farthest from the centre is blanked too. With `hide_blanks` a group joins the blank
    records where they are fewer than `k`. Means are weighted where the schema has a weight.
    """
    data.schema.require(columns, kinds=[Kind.NUMERIC], by=by)
    values = data.numeric(columns)
    require_records(len(values), k)
    _check_finite(values, columns)
    groups, n_groups = np.full(len(values), -1, dtype=np.int64), 0
    for everyone, present in patterns(~np.isnan(values), strata):
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


def require_records(n_records: int, k: int) -> None:
    """Refuse a file with fewer records than a group needs."""
    if n_records < k:
        raise DataError(
            f"k = {k} needs at least {k} records", got=f"{n_records} records", do="lower k"
        )


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


def patterns(
    present: np.ndarray, strata: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the records by which columns they have and, if given, by stratum.

    Returns
    -------
    The records of each part, ascending, and the columns that all of them have.

    Examples
    --------
    >>> [rows.tolist() for rows, _ in patterns(np.array([[True], [False], [True]]))]
    [[0, 2], [1]]
    """
    everyone = np.arange(len(present))
    if strata is None and present.all():
        return [(everyone, np.ones(present.shape[1], dtype=bool))]
    marks = present if strata is None else np.column_stack([present, strata])
    parts = split_by(group_ids(marks.astype(np.int32))[0], everyone)
    return [(part, present[part[0]]) for part in parts]


def nearest_share(distance: np.ndarray, outliers: float) -> np.ndarray:
    """Return the positions that are left without the share of the largest distances, ascending."""
    n_kept = len(distance) - int(outliers * len(distance))
    return np.sort(np.argsort(distance, kind="stable")[:n_kept])


def _without_outliers(
    values: np.ndarray, rows: np.ndarray, present: np.ndarray, share: float
) -> np.ndarray:
    """Leave out the share of the records that lie farthest from the centre, standardised."""
    if int(share * len(rows)) == 0:
        return rows
    distance = (standardised(values[np.ix_(rows, present)]) ** 2).sum(axis=1)
    return np.asarray(rows[nearest_share(distance, share)])


def _check_finite(values: np.ndarray, columns: Sequence[str]) -> None:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        name = columns[int(np.flatnonzero(infinite)[0])]
        raise DataError(f"column {name!r} holds infinite values", do="replace them first")
