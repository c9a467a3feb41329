"""The dataframe border: any frame Narwhals knows comes in, the same kind goes out.

Inside, tacit works on a Narwhals `LazyFrame`. Frames in memory (pandas, Polars, Arrow) are carried
by Polars, so that missing values, integers and text mean the same whatever came in. Frames that
live in an engine (DuckDB, Ibis, Spark) stay there until a method needs rows or arrays, and are then
collected, up to a limit (`tacit.core.engine`).

At the border NaN becomes a missing value, categories become text (their order is kept in the
schema) and the pandas index is dropped: an index is often an identifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from tacit.core._types_back import arrow_back, pandas_back, polars_back
from tacit.core.engine import LIMIT_VARIABLE, check_collectable, collect_limit
from tacit.core.errors import DataError

_IN_MEMORY = frozenset(
    {
        nw.Implementation.PANDAS,
        nw.Implementation.PYARROW,
        nw.Implementation.POLARS,
        nw.Implementation.MODIN,
        nw.Implementation.CUDF,
    }
)
_TEXT_IN_ENGINES = frozenset({"uuid", "null"})
"""Types of engines that are carried as text."""


@dataclass(frozen=True)
class Origin:
    """Where a frame came from, and so what it must become again."""

    implementation: nw.Implementation
    lazy: bool
    entered: Mapping[str, Any] = field(default_factory=dict)
    """Internal type of each column on entry."""
    declared: Mapping[str, Any] = field(default_factory=dict)
    """The user's own type of each column that the border may have changed."""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The categories, lowest first, of each column that came in with ordered ones."""
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
                return self._as_arrow(frame)
            case _:
                return self._as_engine(frame)

    def _unchanged(self, types: Mapping[str, Any]) -> dict[str, Any]:
        """Return the user's type of each column that still has the type it had inside."""
        return {
            name: dtype
            for name, dtype in self.declared.items()
            if name in types and types[name] == self.entered.get(name)
        }

    def _as_polars(self, frame: nw.LazyFrame[Any]) -> Any:
        result = collect(frame)
        back = [polars_back(result[n], t) for n, t in self._unchanged(result.schema).items()]
        result = result.with_columns(back)
        return result.lazy() if self.lazy else result

    def _as_pandas(self, frame: nw.LazyFrame[Any]) -> Any:
        inside = collect(frame)
        result = inside.to_pandas()
        for name, dtype in self._unchanged(inside.schema).items():
            result[name] = pandas_back(result[name], dtype, inside[name])
        return result

    def _as_arrow(self, frame: nw.LazyFrame[Any]) -> Any:
        inside = collect(frame)
        result = inside.to_arrow()
        for name, dtype in self._unchanged(inside.schema).items():
            position = result.column_names.index(name)
            result = result.set_column(position, name, arrow_back(result.column(name), dtype))
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
    except nw.exceptions.DuplicateError as error:
        _check_names([str(c) for c in getattr(native, "column_names", native.columns)])
        raise DataError("duplicate column names", do="rename them") from error
    except TypeError as error:
        raise DataError(
            "this is not a dataframe tacit knows",
            got=type(native).__name__,
            do="pass pandas, Polars, Arrow, DuckDB, Ibis or Spark data, or a path to tacit.read",
        ) from error
    if given.implementation in _IN_MEMORY:
        return _enter_memory(given)
    return _enter_engine(given, native)


def _enter_engine(given: Any, native: Any) -> tuple[nw.LazyFrame[Any], Origin]:
    if given.implementation is nw.Implementation.DUCKDB:
        _check_names(native.columns)
    types = _engine_types(given)
    schema = given.collect_schema()
    _check_columns({n: t for n, t in schema.items() if types.get(n) not in _TEXT_IN_ENGINES})
    spans = [n for n, t in types.items() if t.startswith("interval")]
    if spans:
        raise DataError(f"column {spans[0]!r} holds spans of time", do="convert it to a number")
    as_text = [n for n, t in schema.items() if _is_category(t) or types.get(n) in _TEXT_IN_ENGINES]
    floats = [n for n, t in schema.items() if t.is_float() and _knows_nan(given)]
    frame = given.lazy()
    if as_text or floats:
        frame = frame.with_columns(
            *(nw.col(n).cast(nw.String) for n in as_text),
            *(nw.col(n).fill_nan(None) for n in floats),
        )
    orders = {n: tuple(t.categories) for n, t in schema.items() if t == nw.Enum}
    return frame, Origin(given.implementation, lazy=True, native=native, orders=orders)


def _engine_types(given: Any) -> dict[str, str]:
    """Return an engine's own names of its column types, where Narwhals has none for some."""
    native = given.to_native()
    if given.implementation is nw.Implementation.DUCKDB:
        names = [str(t).strip('"').lower() for t in native.types]
        return dict(zip(native.columns, names, strict=True))
    if given.implementation is nw.Implementation.IBIS:
        return {name: str(dtype).lower() for name, dtype in native.schema().items()}
    return {}


def _knows_nan(given: Any) -> bool:
    """Whether the engine can hold NaN; SQLite cannot, and Ibis has no such test for it."""
    if given.implementation is not nw.Implementation.IBIS:
        return True
    return str(given.to_native().get_backend().name) != "sqlite"


def _enter_memory(given: Any) -> tuple[nw.LazyFrame[Any], Origin]:
    import polars as pl
    from polars import selectors

    lazy = isinstance(given, nw.LazyFrame)
    frame, declared, orders = _in_polars(given)
    # A column without a single value has no type of its own; text holds it.
    frame = frame.with_columns(pl.col(pl.Null).cast(pl.String))
    _check_columns(nw.from_native(frame).schema)
    frame = frame.with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String),
        selectors.float().fill_nan(None),
    )
    origin = Origin(given.implementation, lazy, dict(frame.schema), declared, orders)
    return nw.from_native(frame.lazy()), origin


def _in_polars(given: Any) -> tuple[Any, dict[str, Any], dict[str, tuple[str, ...]]]:
    """Return the frame as Polars, the user's own types, and the orders of categories."""
    import polars as pl

    native = given.to_native()
    if given.implementation is nw.Implementation.POLARS:
        frame = native.lazy().collect()
        declared = {n: t for n, t in frame.schema.items() if _is_category(t) or t == pl.Null}
        orders = {n: tuple(t.categories) for n, t in declared.items() if t == pl.Enum}
        return frame, declared, orders
    if given.implementation is nw.Implementation.PANDAS:
        _check_pandas_columns(native)
        declared = dict(native.dtypes)
        ordered = {n: t for n, t in declared.items() if getattr(t, "ordered", False)}
        orders = {n: tuple(map(str, t.categories)) for n, t in ordered.items()}
        return _from_pandas(native), declared, orders
    table = given.to_arrow()
    _check_names(table.column_names)
    declared = {field.name: field.type for field in table.schema}
    return pl.from_arrow(table), declared, _arrow_orders(table)


def _arrow_orders(table: Any) -> dict[str, tuple[str, ...]]:
    """Return the categories of the dictionary columns that say they are ordered."""
    orders = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if getattr(column.type, "ordered", False) and column.num_chunks:
            categories = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
            orders[name] = tuple(map(str, categories))
    return orders


def _from_pandas(native: Any) -> Any:
    import polars as pl

    try:
        # A copy, because Polars would share the memory of a frame its owner may change later.
        return pl.from_pandas(native.copy(), include_index=False)
    except Exception as error:
        mixed = [str(c) for c in native.columns if _is_mixed(native[c])]
        raise DataError(
            f"column {mixed[0]!r} mixes values of different types"
            if mixed
            else f"the pandas frame cannot be read: {error}",
            do="convert the column to one type first",
        ) from error


def _is_mixed(column: Any) -> bool:
    return bool(column.dtype == object and column.dropna().map(type).nunique() > 1)


def _is_category(dtype: Any) -> bool:
    return type(dtype).__name__ in ("Categorical", "Enum")


def _check_pandas_columns(native: Any) -> None:
    if native.columns.nlevels > 1:
        raise DataError("column names have several levels", do="flatten the columns first")
    wrong = [c for c in native.columns if not isinstance(c, str)]
    if wrong:
        raise DataError("column names must be text", got=repr(wrong[0]), do="rename the columns")
    _check_names(list(native.columns))


def _check_names(names: list[str]) -> None:
    twice = sorted(n for n, times in Counter(names).items() if times > 1)
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


def collect(frame: nw.LazyFrame[Any]) -> Any:
    """Return the rows as a Polars `DataFrame`, or refuse where they cannot fit in memory."""
    if frame.implementation is nw.Implementation.POLARS:
        return frame.collect().to_native()
    _check_fits(frame)
    return frame.collect("polars").to_native()


def collect_few(frame: nw.LazyFrame[Any], *, what: str, do: str) -> Any:
    """Return what should be few rows (categories, cells, classes), or refuse where they are not.

    No more than the limit ever leaves the engine, and nothing is counted beforehand.

    Parameters
    ----------
    what
        What the rows are, for the message: "the combinations of the keys".
    do
        What to do where there are too many of them.
    """
    if frame.implementation is nw.Implementation.POLARS:
        return frame.collect().to_native()
    most = collect_limit() // max(len(frame.collect_schema()), 1)
    table = frame.head(most + 1).collect("polars").to_native()
    if table.height > most:
        raise DataError(
            f"{what} are more than may be collected",
            got=f"more than {most:,}",
            do=f"{do}, or raise the limit with {LIMIT_VARIABLE}",
        )
    return table


def _check_fits(frame: nw.LazyFrame[Any]) -> None:
    n_rows = int(frame.select(nw.len()).collect("polars").item())
    check_collectable(n_rows, len(frame.collect_schema()))
