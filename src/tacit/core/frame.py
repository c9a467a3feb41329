"""The dataframe border: any frame Narwhals knows comes in, the same kind goes out.

Inside, tacit works on a Narwhals `LazyFrame`. Frames in memory (pandas, Polars, Arrow) are carried
by Polars, so that missing values, integers and text mean the same whatever came in. Frames that
live in an engine (DuckDB, Ibis, Spark) stay there until a method needs rows or arrays, and are then
collected, within the memory there is.

At the border NaN becomes a missing value, categories become text (their order is kept in the
schema) and the pandas index is dropped: an index is often an identifier.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from tacit.core.errors import DataError

_IN_MEMORY = frozenset({nw.Implementation.PANDAS, nw.Implementation.PYARROW,
                        nw.Implementation.POLARS, nw.Implementation.MODIN,
                        nw.Implementation.CUDF})
_BYTES_PER_CELL = 24
"""Rough size of one value while a frame is collected: the copy in transit and the result."""


@dataclass(frozen=True)
class Origin:
    """Where a frame came from, and so what it must become again."""

    implementation: nw.Implementation
    lazy: bool
    entered: Mapping[str, Any] = field(default_factory=dict)
    """Internal type of each column on entry."""
    declared: Mapping[str, Any] = field(default_factory=dict)
    """The user's own type of each column that the border changed."""
    native: Any = None
    """The engine's own handle, where the way back needs a session."""

    def restore(self, frame: nw.LazyFrame[Any]) -> Any:
        """Return `frame` as the kind of frame that came in."""
        match self.implementation:
            case nw.Implementation.POLARS:
                return self._as_polars(frame)
            case nw.Implementation.PANDAS:
                return self._as_pandas(frame)
            case nw.Implementation.PYARROW:
                return self._as_polars(frame.lazy(), eager=True).to_arrow()
            case _:
                return self._as_engine(frame)

    def _as_polars(self, frame: nw.LazyFrame[Any], *, eager: bool = False) -> Any:
        import polars as pl

        result: pl.DataFrame = collect(frame)
        for name, dtype in self.declared.items():
            if result.schema.get(name) == self.entered.get(name):
                back = _cast_back(result[name], dtype)
                result = result.with_columns(back.alias(name))
        return result.lazy() if self.lazy and not eager else result

    def _as_pandas(self, frame: nw.LazyFrame[Any]) -> Any:
        polars_frame = collect(frame)
        result = polars_frame.to_pandas()
        for name, dtype in self.declared.items():
            if name in result.columns and polars_frame.schema[name] == self.entered.get(name):
                result[name] = _pandas_back(result[name], dtype)
        return result

    def _as_engine(self, frame: nw.LazyFrame[Any]) -> Any:
        if frame.implementation == self.implementation:
            return frame.to_native()
        table = collect(frame).to_arrow()
        match self.implementation:
            case nw.Implementation.DUCKDB:
                import duckdb

                return duckdb.from_arrow(table)
            case nw.Implementation.IBIS:
                import ibis

                return ibis.memtable(table)
            case nw.Implementation.PYSPARK:
                return self.native.sparkSession.createDataFrame(table)
            case other:
                raise DataError(
                    "a frame of this kind can be read but not written back",
                    got=str(other),
                    do="convert it to Arrow, Polars, pandas, DuckDB, Ibis or Spark first",
                )


def enter(native: Any) -> tuple[nw.LazyFrame[Any], Origin]:
    """Bring a user's frame inside; the frame itself is never changed."""
    try:
        given = nw.from_native(native)
    except TypeError as error:
        raise DataError(
            "this is not a dataframe tacit knows",
            got=type(native).__name__,
            do="pass pandas, Polars, Arrow, DuckDB, Ibis or Spark data, or a path to tacit.read",
        ) from error
    if given.implementation in _IN_MEMORY or given.implementation is nw.Implementation.POLARS:
        return _enter_memory(given)
    schema = given.collect_schema()
    _check_columns(schema)
    floats = [name for name, dtype in schema.items() if dtype.is_float()]
    frame = given.lazy().with_columns(nw.col(*floats).fill_nan(None)) if floats else given.lazy()
    return frame, Origin(given.implementation, lazy=True, native=native)


def _enter_memory(given: Any) -> tuple[nw.LazyFrame[Any], Origin]:
    import polars as pl

    implementation, lazy = given.implementation, isinstance(given, nw.LazyFrame)
    native = given.to_native()
    if implementation is nw.Implementation.POLARS:
        frame = (native.collect() if lazy else native).clone()
        declared = {n: t for n, t in frame.schema.items() if _is_category(t)}
    elif implementation is nw.Implementation.PANDAS:
        _check_pandas_columns(native)
        frame, declared = _from_pandas(native), dict(native.dtypes)
    else:
        table = given.to_arrow()
        _check_names(table.column_names)
        frame = pl.from_arrow(table)
        declared = {}
    _check_columns(nw.from_native(frame).schema)
    frame = frame.with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String), pl.col(pl.Float32, pl.Float64).fill_nan(None)
    )
    origin = Origin(implementation, lazy, entered=dict(frame.schema), declared=declared)
    return nw.from_native(frame.lazy()), origin


def _from_pandas(native: Any) -> Any:
    import polars as pl

    try:
        return pl.from_pandas(native, include_index=False)
    except Exception as error:
        mixed = [str(c) for c in native.columns if _is_mixed(native[c])]
        raise DataError(
            f"column {mixed[0]!r} mixes values of different types"
            if mixed
            else f"the pandas frame cannot be read: {error}",
            do="convert the column to one type first",
        ) from error


def _is_mixed(column: Any) -> bool:
    return column.dtype == object and column.dropna().map(type).nunique() > 1


def _is_category(dtype: Any) -> bool:
    import polars as pl

    return bool(dtype == pl.Categorical or dtype == pl.Enum)


def _check_pandas_columns(native: Any) -> None:
    if native.columns.nlevels > 1:
        raise DataError("column names have several levels", do="flatten the columns first")
    wrong = [c for c in native.columns if not isinstance(c, str)]
    if wrong:
        raise DataError("column names must be text", got=repr(wrong[0]), do="rename the columns")
    _check_names(list(native.columns))


def _check_names(names: list[str]) -> None:
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise DataError(f"duplicate column names: {', '.join(map(repr, twice))}", do="rename them")


def _check_columns(schema: Mapping[str, Any]) -> None:
    for name, dtype in schema.items():
        if dtype.is_nested() or dtype in (nw.Object, nw.Unknown, nw.Binary):
            raise DataError(
                f"column {name!r} does not hold plain values",
                got=str(dtype),
                do="drop it or convert it to numbers, text or dates",
            )


def _cast_back(series: Any, dtype: Any) -> Any:
    """Cast a text column to the category type it had, unless it has new categories."""
    import polars as pl

    if dtype == pl.Enum and not set(series.drop_nulls().unique()) <= set(dtype.categories):
        return series
    return series.cast(dtype)


def _pandas_back(series: Any, dtype: Any) -> Any:
    """Give a pandas column the type it had, where its values still allow that."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        known = set(series.dropna()) <= set(map(str, dtype.categories))
        return pd.Categorical(series, dtype=dtype) if known else series
    if series.hasnans and dtype.kind in "iu":
        return series.astype(pd.api.types.pandas_dtype(str(dtype).capitalize()))
    if series.hasnans and dtype.kind == "b":
        return series.astype("boolean")
    return series.astype(dtype)


def collect(frame: nw.LazyFrame[Any]) -> Any:
    """Return the rows as a Polars `DataFrame`, or refuse where they cannot fit in memory."""
    if frame.implementation is nw.Implementation.POLARS:
        return frame.collect().to_native()
    _check_fits(frame)
    return frame.collect("polars").to_native()


def _check_fits(frame: nw.LazyFrame[Any]) -> None:
    n_rows = int(frame.select(nw.len()).collect("polars").item())
    n_cells = n_rows * len(frame.collect_schema())
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n_cells * _BYTES_PER_CELL > available:
        raise DataError(
            "this step needs the records in memory and they do not fit",
            got=f"{n_rows:,} records, {n_cells:,} values, {available / 2**30:.1f} GiB free",
            do="select the columns you need, work on a sample, or use a machine with more memory",
        )
