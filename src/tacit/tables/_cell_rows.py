"""Rows of ready aggregates, and their places among all the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError, SchemaError, UnknownColumnError, nearest
from tacit.core.frame import collect, enter
from tacit.tables._codes import as_text
from tacit.tables._grid import shape_of
from tacit.tables._rollup import Cells, Entries, largest_of, roll_up
from tacit.tables._selection import code_keys
from tacit.tables.dimension import Dimension, as_dimension


class CellRows:
    """A frame with a row per cell, read column by column."""

    def __init__(self, data: Any, by: tuple[str, ...]) -> None:
        self.frame, self.by = collect(enter(data)[0]), by

    def column(self, name: str) -> Any:
        """Return a column, or say which one is nearest."""
        if name not in self.frame.columns:
            raise UnknownColumnError(
                f"there is no column {name!r}", column=name, do=nearest(name, self.frame.columns)
            )
        return self.frame[name]

    def numbers(self, name: str) -> np.ndarray:
        """Return a column of numbers, of which none may be missing."""
        series = self.column(name)
        if not series.dtype.is_numeric():
            raise SchemaError(f"{name!r} must be a column of numbers", got=str(series.dtype))
        numbers = np.asarray(series.cast(float).to_numpy(), dtype=float)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            codes = ", ".join(str(self.frame[c][int(bad[0])]) for c in self.by)
            raise DataError(
                f"{name!r} is missing or without limit in some cells",
                got=f"{len(bad)}, the first is ({codes})",
            )
        return numbers

    def codes(self, name: str) -> Any:
        """Return a column of codes as text, of which none may be missing."""
        series = self.column(name)
        if series.null_count():
            raise DataError(
                f"{name!r} is missing in some rows", got=f"{series.null_count()} of {len(series)}"
            )
        return as_text(series)

    def dimensions(self, hierarchies: Mapping[str, Any], total: str) -> tuple[Dimension, ...]:
        """Return the dimensions; without a hierarchy all other codes add up to the total."""
        for name in hierarchies:
            if name not in self.by:
                raise ParameterError(
                    f"there is a hierarchy for {name!r}, which does not span the table",
                    do=nearest(name, self.by),
                )
        observed = {
            name: [code for code in self.codes(name).unique().sort() if code != total]
            for name in self.by
        }
        return tuple(as_dimension(n, hierarchies.get(n), observed[n], total) for n in self.by)

    def places(self, dimension: Dimension) -> np.ndarray:
        """Return the position of every row's code; codes that are not there are named."""
        text = self.codes(dimension.name)
        codes = text.unique().to_list()
        unknown = sorted(code for code in codes if code not in dimension.index)
        if unknown:
            raise DataError(
                f"codes of {dimension.name!r} are not in its hierarchy",
                got=", ".join(map(repr, unknown[:5])),
                do="add them to the hierarchy, or correct the table",
            )
        if not codes:
            return np.empty(0, dtype=np.int64)
        numbers = [dimension.index[code] for code in codes]
        return np.asarray(text.replace_strict(codes, numbers, return_dtype=int).to_numpy())


class Placed:
    """Rows placed among all the cells of a table, and what is not given added up."""

    def __init__(
        self,
        rows: CellRows,
        hierarchies: Mapping[str, Any],
        total: str,
        keep_empty: bool,
        added: Sequence[str],
        tops: Sequence[tuple[str, ...]],
    ) -> None:
        self.rows = rows
        self.dimensions = rows.dimensions(hierarchies, total)
        columns = [rows.places(d) for d in self.dimensions]
        self.given = np.array(columns, np.int64).reshape(len(columns), rows.frame.height).T
        self._check_once()
        rolled = roll_up(self._leaves(added, tops), self.dimensions)
        everything = np.concatenate([rolled.codes, self.given])
        _, first = np.unique(code_keys(everything, self.dimensions), return_index=True)
        self.codes, self.relations, _ = shape_of(everything[first], self.dimensions, keep_empty)
        self.at = self._where(self.given)
        self._fill(rolled, added, tops)

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        keys = code_keys(self.codes, self.dimensions)
        order = np.argsort(keys)
        return keys[order], order

    def _where(self, codes: np.ndarray) -> np.ndarray:
        keys, order = self._sorted
        return np.asarray(order[np.searchsorted(keys, code_keys(codes, self.dimensions))])

    def _check_once(self) -> None:
        keys = code_keys(self.given, self.dimensions)
        _, first, times = np.unique(keys, return_index=True, return_counts=True)
        if (times > 1).any():
            codes = zip(self.dimensions, self.given[first[np.argmax(times > 1)]], strict=True)
            raise DataError(
                "a cell has several rows",
                got="(" + ", ".join(d.codes[int(c)] for d, c in codes) + ")",
                do="add them up, or leave all but one out",
            )

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Which rows stand at the finest codes of all dimensions."""
        finest = [np.isin(self.given[:, j], d.levels[0]) for j, d in enumerate(self.dimensions)]
        return np.all(finest, axis=0) if finest else np.ones(len(self.given), dtype=bool)

    def _leaves(self, added: Sequence[str], tops: Sequence[tuple[str, ...]]) -> Cells:
        """Return the rows at the finest codes with all that can be added up or merged."""
        leaf = self.is_leaf
        sums = np.column_stack([self.rows.numbers(name)[leaf] for name in added])
        n = int(leaf.sum())
        largest = []
        for names in tops:
            top = np.array([self.rows.numbers(name)[leaf] for name in names]).reshape(len(names), n)
            cell, unit = np.tile(np.arange(n), len(names)), np.arange(top.size)
            entries = Entries(top.ravel(), unit, np.ones(top.size), np.zeros(top.size, np.int8))
            largest.append(largest_of(cell, entries, n, len(names)))
        return Cells(self.given[leaf], sums.reshape(n, len(added)), tuple(largest))

    def _fill(self, rolled: Cells, added: Sequence[str], tops: Sequence[tuple[str, ...]]) -> None:
        """Put what was added up in its place, and over it what was given."""
        n, at = len(self.codes), self._where(rolled.codes)
        self.sums, self.largest = {}, []
        for j, name in enumerate(added):
            self.sums[name] = np.zeros(n)
            self.sums[name][at] = rolled.sums[:, j]
            self.sums[name][self.at] = self.rows.numbers(name)
        for names, merged in zip(tops, rolled.largest, strict=True):
            top = np.zeros((n, len(names)))
            top[at] = merged.size
            for j, name in enumerate(names):
                top[self.at, j] = self.rows.numbers(name)
            self.largest.append(top)
        self.added_up = np.setdiff1d(at, self.at)

    def asked(self, name: str | None, other: Any = np.nan) -> np.ndarray | None:
        """Return what a column says of the cells that have a row; nothing without a column."""
        if name is None:
            return None
        full = np.full(len(self.codes), other, dtype=float)
        full[self.at] = self.rows.numbers(name)
        return full
