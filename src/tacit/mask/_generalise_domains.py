"""Hierarchies as arrays: which values a label joins at each level, and what share of the domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, SchemaError
from tacit.core.frame import collect
from tacit.core.hierarchy import ANY, Intervals, Prefixes, Tree
from tacit.core.keys import encode_series

_MANY_TEXTS = 50_000
"""Above this many distinct texts, sorting them beats declaring them as categories."""


@dataclass(frozen=True)
class Domain:
    """The values of one column that occur, and their labels at each level of its hierarchy."""

    name: str
    codes: np.ndarray
    """Value of each record; the last value stands for missing, where any is."""
    labels: np.ndarray
    """Number of each value's label, levels by values."""
    shares: np.ndarray
    """Share of the domain's leaves that each value's label covers, levels by values."""
    n_leaves: int
    """Number of leaves of the domain, missing included where it occurs."""
    has_missing: bool
    """Whether any value is missing."""
    root: str | None
    """The one label of the top level, which also covers missing; None where there are several."""

    @property
    def n_levels(self) -> int:
        """Number of levels, level 0 included."""
        return len(self.labels)

    def is_blank(self, level: int) -> np.ndarray:
        """Return which values show as missing at this level."""
        blank = np.zeros(self.labels.shape[1], dtype=bool)
        covered = self.root is not None and level == self.n_levels - 1
        if self.has_missing and not covered:
            blank[-1] = True
        return blank

    @property
    def losses(self) -> np.ndarray:
        """Loss of each value at each level: 0 for a leaf, 1 for the whole domain."""
        if self.n_leaves == 1:
            return np.zeros_like(self.shares)
        # ARX's Loss (prasser2020), normalised so that a leaf costs nothing.
        return np.asarray((self.shares - 1 / self.n_leaves) / (1 - 1 / self.n_leaves))


def domains(data: Microdata, columns: Sequence[str]) -> list[Domain]:
    """Return the domains of columns that all have a hierarchy."""
    data.schema.require(columns)
    without = [c for c in columns if data.schema[c].hierarchy is None]
    if without:
        raise SchemaError(
            f"{without[0]!r} has no hierarchy",
            do="attach one with with_hierarchies, or leave the column out of the keys",
        )
    return [_domain(data, column) for column in columns]


def _domain(data: Microdata, column: str) -> Domain:
    hierarchy: Any = data.schema[column].hierarchy
    series = collect(data.lazy.select(column))[column]
    if series.dtype.is_float():
        series = series.fill_nan(None)
    present = series.drop_nulls().unique().sort()
    codes = _codes(series, present)
    has_missing = series.null_count() > 0
    root = _root(hierarchy)
    names = _label_names(present, hierarchy, column)
    labels, covered, n_leaves = _numbered(names, hierarchy, len(present))
    if has_missing:
        n_leaves += 1
        labels, covered = _with_missing(labels, covered, n_leaves, has_root=root is not None)
        codes = np.where(codes < 0, np.int32(len(present)), codes)
    _check_nested(labels, column)
    return Domain(column, codes, labels, covered / n_leaves, n_leaves, has_missing, root)


def _codes(series: Any, present: Any) -> np.ndarray:
    """Return the place of each value among those that are present, -1 where it is missing."""
    import polars as pl

    if series.dtype != pl.String or len(present) > _MANY_TEXTS:
        return encode_series(series)
    places = series.cast(pl.Enum(present)).to_physical().cast(pl.Int32)
    return np.asarray(places.fill_null(-1).to_numpy())


def _label_names(present: Any, hierarchy: Any, column: str) -> list[list[str]]:
    """Return the label of each present value, by level."""
    _check_known(present, hierarchy, column)
    leaves = [str(i) for i in range(len(present))]
    above = range(1, hierarchy.n_levels)
    if isinstance(hierarchy, Tree):
        paths = _paths(present, hierarchy)
        return [leaves, *([path[level] for path in paths] for level in above)]
    table = nw.from_native(present.alias("value").to_frame())
    coarse = [hierarchy.generalise(nw.col("value"), level).alias(str(level)) for level in above]
    return [leaves, *(column.to_list() for column in table.select(coarse).iter_columns())]


def _paths(present: Any, tree: Tree) -> list[tuple[str, ...]]:
    """Return the path of each value; whole numbers that came as floats are leaves too."""
    import polars as pl

    by_leaf = {path[0]: path for path in tree.paths}
    texts = present.cast(pl.String).to_list()
    return [by_leaf[text if text in by_leaf else text.removesuffix(".0")] for text in texts]


def _check_known(present: Any, hierarchy: Any, column: str) -> None:
    """Refuse values that the hierarchy does not hold: ``*`` in their place would hide a mistake."""
    import polars as pl

    if isinstance(hierarchy, Tree):
        leaves = {path[0] for path in hierarchy.paths}
        leaves |= {f"{leaf}.0" for leaf in leaves if leaf.isdecimal()}
        unknown = [text for text in present.cast(pl.String).to_list() if text not in leaves]
    elif isinstance(hierarchy, Intervals):
        if not present.dtype.is_numeric():
            raise SchemaError(f"the intervals of {column!r} need numbers", got=str(present.dtype))
        unknown = present.filter(~(present.cast(pl.Float64).abs() < 1e15)).to_list()
    else:
        unknown = []
    if unknown:
        raise DataError(
            f"the hierarchy of {column!r} does not hold all its values",
            got=f"{len(unknown)} unknown, such as {unknown[0]!r}",
            do="add them to the hierarchy, or recode them first",
        )


def _numbered(
    names: list[list[str]], hierarchy: Any, n_present: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Give numbers to the labels of each level and count the leaves below each.

    A tree says what its leaves are, whether they occur or not; the leaves of intervals and prefixes
    are the values that occur.
    """
    labels = np.zeros((len(names), n_present), dtype=np.int32)
    covered = np.ones((len(names), n_present))
    for level, texts in enumerate(names):
        numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        labels[level] = [numbers[text] for text in texts]
        if level == 0:
            continue
        if isinstance(hierarchy, Tree):
            counts = Counter(hierarchy.mapping(level).values())
            covered[level] = [counts[text] for text in texts]
        else:
            covered[level] = np.bincount(labels[level], minlength=1)[labels[level]]
    return (
        labels,
        covered,
        len(hierarchy.paths) if isinstance(hierarchy, Tree) else max(n_present, 1),
    )


def _with_missing(
    labels: np.ndarray, covered: np.ndarray, n_leaves: int, *, has_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Add missing as a leaf that stays by itself up to the root."""
    alone = labels.max(axis=1, initial=-1) + 1
    labels = np.column_stack([labels, alone]).astype(np.int32)
    covered = np.column_stack([covered, np.ones(len(covered))])
    if has_root:
        labels[-1] = 0
        covered[-1] = n_leaves
    return labels, covered


def _root(hierarchy: Tree | Intervals | Prefixes) -> str | None:
    """Return the one label of the top level, if it is above level 0 and covers every value."""
    top = hierarchy.n_levels - 1
    if top == 0:
        return None
    if isinstance(hierarchy, Tree):
        names = {path[top] for path in hierarchy.paths}
        return names.pop() if len(names) == 1 else None
    if isinstance(hierarchy, Intervals):
        return ANY
    return ANY if hierarchy.keep is None or hierarchy.keep[-1] == 0 else None


def _check_nested(labels: np.ndarray, column: str) -> None:
    """Refuse levels that do not nest: a search that climbs them would miscount."""
    for fine, coarse in pairwise(labels):
        pairs = np.unique(np.column_stack([fine, coarse]), axis=0)
        if len(pairs) > len(np.unique(fine)):
            raise DataError(
                f"the levels of the hierarchy of {column!r} do not nest",
                do="give intervals whose bounds are exact, such as whole numbers",
            )
