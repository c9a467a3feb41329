"""Giving columns back the types they came in with, where their values still allow that."""

from __future__ import annotations

from typing import Any

import numpy as np


def polars_back(series: Any, dtype: Any) -> Any:
    """Cast a Polars column to the type it had, unless it has new categories."""
    import polars as pl

    if dtype == pl.Enum and not set(series.drop_nulls().unique()) <= set(dtype.categories):
        return series
    if dtype == pl.Null:
        is_empty = series.null_count() == len(series)
        return pl.Series(series.name, [None] * len(series)) if is_empty else series
    return series.cast(dtype)


def pandas_back(series: Any, dtype: Any, inside: Any) -> Any:
    """Give a pandas column the type it had; `inside` is the Polars column it was made from."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        known = set(inside.drop_nulls().unique()) <= set(dtype.categories)
        return pd.Categorical(series, dtype=dtype) if known else series
    if pd.api.types.is_object_dtype(dtype):
        return pd.Series(inside.to_list(), dtype=object, index=series.index)
    if series.hasnans and dtype.kind in "iu":
        # By way of Arrow: a float would lose the last digits of long numbers.
        exact = inside.to_frame().to_pandas(use_pyarrow_extension_array=True)[inside.name]
        return exact.astype(_nullable(dtype))
    if series.hasnans and dtype.kind == "b":
        return series.astype("boolean" if isinstance(dtype, np.dtype) else dtype)
    return series.astype(dtype)


def _nullable(dtype: Any) -> Any:
    """Return the pandas type of whole numbers that can be missing: Int64 for int64."""
    if not isinstance(dtype, np.dtype):
        return dtype
    return f"{'UInt' if dtype.kind == 'u' else 'Int'}{8 * dtype.itemsize}"


def arrow_back(column: Any, dtype: Any) -> Any:
    """Cast an Arrow column to the type it had, unless it no longer fits."""
    import pyarrow as pa

    if column.type == dtype:
        return column
    if pa.types.is_null(dtype):
        return pa.nulls(len(column)) if column.null_count == len(column) else column
    try:
        if pa.types.is_dictionary(dtype):
            return column.cast(dtype.value_type).dictionary_encode().cast(dtype)
        return column.cast(dtype)
    except pa.ArrowException:
        return column
