"""Microaggregation of numbers and categories together (MDAV-generic)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.hierarchy import Tree
from tacit.core.keys import encode
from tacit.core.method import Columns
from tacit.core.progress import track
from tacit.core.schema import Kind, Variable
from tacit.mask._grouped import (
    Microaggregation,
    group_means,
    nearest_share,
    patterns,
    require_records,
    standardised,
    with_blanks_hidden,
)
from tacit.mask._strata import strata_of

_MOST_CATEGORIES = 3000
_PAIRS_PER_REPORT = 100


class MixedMdav(
    Microaggregation,
    key="mixed-mdav",
    title="Microaggregation of numbers and categories (MDAV-generic)",
    cites=("domingoferrer2005",),
    example={"columns": ["age", "education", "marital"], "k": 3},
    at_scale="blocks",
):
    r"""Give groups of at least ``k`` similar records the same values, whatever their kind.

    Numbers become the group mean, ordinal categories the median, nominal ones the mode. On all keys
    together the release is k-anonymous.

    Missing values: records are grouped with records that miss the same columns; where fewer than
    ``k`` records share a pattern, all the columns are blanked on them, and on one more group if
    fewer than ``k`` records are blank then. Weights: means of numbers
    are weighted where the schema has a weight; medians and modes are not. Households: not
    considered.

    Notes
    -----
    The steps of MDAV with the distance and the average of each kind of variable
    [domingoferrer2005]_: squared difference and mean for numbers, squared difference of ranks and
    median for ordinal variables, and for nominal ones 0 or 1, or, where the schema has a hierarchy,
    the share of levels up to the first common ancestor, and the mode. Every variable is scaled to
    the same average squared distance between two records, so that none dominates. The cost is about
    :math:`n^2/k`. When not to use it: on a nominal variable with almost as many categories as
    records, where a mode says nothing.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> keys = ["age", "sex", "education"]
    >>> plan = tacit.Plan([mask.MixedMdav(columns=keys, k=5)])
    >>> frame = plan.apply(tacit.datasets.census(300), seed=1).frame
    >>> bool(frame.group_by(keys).len()["len"].min() >= 5)
    True
    """

    columns: Columns
    """Variables of any kind grouped together, such as all keys."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with the groups' common values."""
        data.schema.require(self.columns)
        require_records(data.n_records, self.k)
        table = _Table.of(data, self.columns)
        groups, n_groups = np.full(data.n_records, -1, dtype=np.int64), 0
        for everyone, present in patterns(~table.missing, strata_of(data, self.within)):
            if not present.any():
                continue
            part = _Part.of(table, everyone).without_outliers(self.outliers)
            if len(part.rows) >= self.k:
                found = mixed_groups(part, self.k)
                groups[part.rows] = found + n_groups
                n_groups += int(found.max()) + 1
        return table.aggregated(data, with_blanks_hidden(groups, self.k))


@dataclass(frozen=True)
class _Table:
    """The columns as arrays: numbers as they are, categories as codes."""

    numeric: list[str]
    categorical: list[Variable]
    values: np.ndarray
    codes: np.ndarray
    levels: list[list[object]]
    missing: np.ndarray

    @classmethod
    def of(cls, data: Microdata, columns: tuple[str, ...]) -> _Table:
        numeric = [c for c in columns if data.schema[c].kind == Kind.NUMERIC]
        categorical = [data.schema[c] for c in columns if c not in numeric]
        values = data.numeric(numeric)
        pairs = [_coded(data, variable) for variable in categorical]
        codes = np.empty((data.n_records, len(pairs)), dtype=np.int64)
        for j, (column, _) in enumerate(pairs):
            codes[:, j] = column
        missing = np.column_stack([np.isnan(values), codes < 0])
        if np.isinf(values).any():
            raise DataError("a column holds infinite values", do="replace them first")
        return cls(numeric, categorical, values, codes, [levels for _, levels in pairs], missing)

    def aggregated(self, data: Microdata, groups: np.ndarray) -> Microdata:
        """Return the data with each group's mean, median or mode; no group means blank."""
        weights = data.weights
        grouped = np.flatnonzero(groups >= 0)
        inside = groups[grouped]
        arrays: dict[str, np.ndarray] = {}
        if self.numeric:
            shares = None if weights is None else weights[grouped]
            means = np.full_like(self.values, np.nan)
            if len(grouped):
                means[grouped] = group_means(self.values[grouped], inside, shares)
            arrays |= dict(zip(self.numeric, means.T, strict=True))
        result = data.with_arrays(arrays) if arrays else data
        return self._with_categories(result, groups, grouped, inside)

    def _with_categories(
        self, data: Microdata, groups: np.ndarray, grouped: np.ndarray, inside: np.ndarray
    ) -> Microdata:
        import polars as pl

        from tacit.mask import _mixed_mdav_kernel as kernel

        table = data.local
        for j, variable in enumerate(self.categorical):
            chosen = np.full(len(groups), -1, dtype=np.int64)
            codes, n_levels = self.codes[grouped, j], len(self.levels[j])
            if len(grouped) and (codes >= 0).any():
                known = codes >= 0
                middle = kernel.group_categories(
                    codes[known], inside[known], int(inside.max()) + 1, n_levels,
                    variable.kind == Kind.ORDINAL,
                )  # fmt: skip
                chosen[grouped] = np.where(known, middle[inside], -1)
            levels = pl.Series([*self.levels[j], None], dtype=table.schema[variable.name])
            picked = levels[np.where(chosen < 0, n_levels, chosen)]
            table = table.with_columns(picked.alias(variable.name))
        return data.with_local(table)


def _coded(data: Microdata, variable: Variable) -> tuple[np.ndarray, list[object]]:
    """Return codes in the order of the categories, -1 for missing, and the categories."""
    codes = encode(data, [variable.name])[:, 0].astype(np.int64)
    present = data.local[variable.name].drop_nulls().unique().sort().to_list()
    if len(present) > _MOST_CATEGORIES:
        raise DataError(
            f"{variable.name!r} has too many categories to group by",
            got=f"{len(present):,}, at most {_MOST_CATEGORIES:,}",
            do="recode it first",
        )
    if variable.categories is None:
        return codes, present
    place = {category: i for i, category in enumerate(variable.categories)}
    present_sorted = sorted(present, key=lambda c: place.get(str(c), len(place)))
    rank = {category: i for i, category in enumerate(present_sorted)}
    moved = np.array([rank[c] for c in present], dtype=np.int64)
    return np.where(codes >= 0, moved[codes], -1) if len(present) else codes, present_sorted


@dataclass(frozen=True)
class _Part:
    """Records that miss the same columns, as arrays for the kernel."""

    rows: np.ndarray
    X: np.ndarray
    """Standardised numbers."""
    C: np.ndarray
    """Codes of the categories."""
    D: np.ndarray
    """Squared distances between categories."""
    n_categories: np.ndarray
    ordinal: np.ndarray

    @classmethod
    def of(cls, table: _Table, rows: np.ndarray) -> _Part:
        here, n_numeric = ~table.missing[rows[0]], len(table.numeric)
        chosen = np.flatnonzero(here[n_numeric:])
        C = np.ascontiguousarray(table.codes[np.ix_(rows, chosen)])
        return cls(
            rows,
            np.ascontiguousarray(standardised(table.values[np.ix_(rows, here[:n_numeric])])),
            C,
            _category_distances(table, chosen, C),
            np.array([len(table.levels[j]) for j in chosen], dtype=np.int64),
            np.array([table.categorical[j].kind == Kind.ORDINAL for j in chosen], dtype=bool),
        )

    def counts(self) -> np.ndarray:
        """Count the records of each category, columns by categories."""
        counts = np.zeros((self.C.shape[1], max(self.n_categories, default=1)), dtype=np.int64)
        for j, n in enumerate(self.n_categories):
            counts[j, :n] = np.bincount(self.C[:, j], minlength=n)
        return counts

    def without_outliers(self, share: float) -> _Part:
        """Leave out the records farthest from the mean, the medians and the modes of all."""
        if int(share * len(self.rows)) == 0:
            return self
        distance = (self.X**2).sum(axis=1)
        for j, counts in enumerate(self.counts()):
            half = np.searchsorted(np.cumsum(counts), len(self.rows) / 2)
            centre = half if self.ordinal[j] else np.argmax(counts)
            distance += self.D[j, self.C[:, j], centre]
        kept = nearest_share(distance, share)
        return replace(self, rows=self.rows[kept], X=self.X[kept], C=self.C[kept])


def mixed_groups(part: _Part, k: int) -> np.ndarray:
    """Return the MDAV-generic group of each of these records."""
    from tacit.mask import _mixed_mdav_kernel as kernel

    n = len(part.rows)
    free, groups = np.arange(n), np.full(n, -1, dtype=np.int64)
    totals, counts, counters = part.X.sum(axis=0), part.counts(), np.array([n, 0])
    with track("microaggregation", n) as advance:
        done = False
        while not done:
            before = counters[0]
            done = kernel.form_groups(
                part.X, part.C, part.D, part.n_categories, part.ordinal, free, groups, totals,
                counts, counters, k, _PAIRS_PER_REPORT,
            )  # fmt: skip
            advance(int(before - counters[0]))
    return groups


def _category_distances(table: _Table, chosen: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Squared distances between categories, scaled to a mean of 2 over pairs of records.

    Two records of a standardised numeric variable lie a squared distance of 2 apart on average.
    """
    widest = max((len(table.levels[j]) for j in chosen), default=1)
    D = np.zeros((len(chosen), widest, widest))
    for place, j in enumerate(chosen):
        n = len(table.levels[j])
        squared = _raw_distances(table.categorical[j], table.levels[j])
        shares = np.bincount(C[:, place], minlength=n) / len(C)
        average = shares @ squared @ shares
        D[place, :n, :n] = 2.0 * squared / average if average > 0 else squared
    return D


def _raw_distances(variable: Variable, levels: list[object]) -> np.ndarray:
    n = len(levels)
    if variable.kind in (Kind.ORDINAL, Kind.DATE):
        ranks = np.arange(n, dtype=float)
        return np.asarray((ranks[:, None] - ranks[None]) ** 2)
    if isinstance(variable.hierarchy, Tree):
        paths = {path[0]: path for path in variable.hierarchy.paths}
        if all(str(level) in paths for level in levels):
            labels = np.array([paths[str(level)] for level in levels])
            same = labels[:, None, :] == labels[None, :, :]
            # The first level at which two leaves carry the same label, as a share of all levels.
            climb = np.where(same.any(axis=2), same.argmax(axis=2), labels.shape[1])
            return np.asarray((climb / max(labels.shape[1] - 1, 1)) ** 2)
    return 1.0 - np.eye(n)
