"""Keys as numbers: encoding of columns, grouping of records, frequencies of combinations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.frame import collect

Missing = Literal["strict", "wildcard"]
"""How a missing value compares: as a value of its own, or as any value."""
MISSING_CODE = -1
"""The code of a missing value."""
_MANY_TEXTS = 50_000
"""Above this many distinct texts, sorting them beats declaring them as categories."""
_LARGEST_PACK = 2**62
"""Rows are packed into integers below this."""
_MANY_PATTERNS = 1024
"""Above this many missing patterns, searching sorted keys beats joining pairs of patterns."""


def encode(data: Microdata, columns: Sequence[str]) -> np.ndarray:
    """Replace the values of each column by their rank: 0, 1, ...; -1 is missing.

    Only these columns are collected from the engine, once.

    Returns
    -------
    Array of int32, records by columns.

    Examples
    --------
    >>> import tacit
    >>> encode(tacit.datasets.patients(), ["Age", "State"])[:3].tolist()
    [[2, 1], [2, 1], [4, 1]]
    """
    columns = list(columns)
    data.schema.require(columns)
    if not columns:
        return np.empty((data.n_records, 0), dtype=np.int32)
    table = collect(data.lazy.select(nw.col(columns)))
    codes = np.empty((table.height, len(columns)), dtype=np.int32)
    for j, name in enumerate(columns):
        codes[:, j] = encode_series(table[name])
    return codes


def encode_series(series: Any) -> np.ndarray:
    """Replace the values of a Polars series by their rank: 0, 1, ...; -1 is missing."""
    import polars as pl

    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype == pl.String:
        return _encode_text(series)
    if series.dtype == pl.Boolean or series.dtype.is_temporal():
        series = series.to_physical().cast(pl.Int64)
    if series.dtype.is_integer() and series.dtype not in (pl.UInt64, pl.Int128):
        return _encode_integers(series)
    return _ranked(series)


def _encode_text(series: Any) -> np.ndarray:
    import polars as pl

    texts = series.drop_nulls().unique()
    if len(texts) > _MANY_TEXTS:
        return _ranked(series)
    numbered = series.cast(pl.Enum(texts.sort())).to_physical()
    return _filled(numbered.cast(pl.Int32))


def _encode_integers(series: Any) -> np.ndarray:
    from tacit.core import _encode_kernel as kernel

    low, high = series.min(), series.max()
    if low is None or high - low > 4 * len(series) + 1000:
        return _ranked(series)
    missing = series.null_count() > 0
    known = series.is_not_null().to_numpy() if missing else np.empty(0, dtype=bool)
    values = (series.fill_null(low) if missing else series).cast(int).to_numpy()
    return np.asarray(kernel.ranks(values, known, low, high - low + 1))


def _ranked(series: Any) -> np.ndarray:
    import polars as pl

    return _filled(series.rank("dense").cast(pl.Int32) - 1)


def _filled(numbers: Any) -> np.ndarray:
    return np.asarray(numbers.fill_null(MISSING_CODE).to_numpy(), dtype=np.int32)


def group_ids(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """Give equal rows of codes the same number, in order of appearance; missing equals missing.

    Exact: rows are packed into one integer without loss, never merely hashed.

    Returns
    -------
    The group of each record (int64) and the number of groups.

    Examples
    --------
    >>> ids, n_groups = group_ids(np.array([[0, 1], [0, -1], [0, 1]]))
    >>> ids.tolist(), n_groups
    ([0, 1, 0], 2)
    """
    from tacit.core import _keys_kernel as kernel

    n_records, n_columns = codes.shape
    packed, span, first = np.zeros(n_records, dtype=np.int64), 1, 0
    if n_records == 0:
        return packed, 0
    codes = np.ascontiguousarray(codes, dtype=np.int32 if codes.dtype == np.int32 else np.int64)
    low, radix = _ranges(codes)
    for j, values in enumerate(radix.tolist()):
        if span * values > _LARGEST_PACK:
            kernel.pack(packed, codes, low, radix, first, j)
            packed, span = kernel.dense_ids(packed)
            first = j
        span *= values
    kernel.pack(packed, codes, low, radix, first, n_columns)
    ids, n_groups = kernel.dense_ids(packed)
    return ids, int(n_groups)


def _ranges(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest code and number of possible codes of each column."""
    from tacit.core import _keys_kernel as kernel

    low, high = kernel.ranges(codes)
    if low.min(initial=MISSING_CODE) < MISSING_CODE:
        raise ParameterError("codes start at 0, and -1 is missing", got=int(low.min()))
    return low, high - low + 1


def frequencies(
    codes: np.ndarray, weights: np.ndarray | None = None, *, missing: Missing = "strict"
) -> np.ndarray:
    r"""Count, for each record, the records that share its key.

    Parameters
    ----------
    codes
        Codes of the keys, records by columns; -1 is missing.
    weights
        Sampling weights; then the estimated population frequency :math:`F_k` is returned in place
        of the sample frequency :math:`f_k`.
    missing
        ``"strict"``: a missing value equals only a missing value. ``"wildcard"``: it equals any
        value, so that a record counts all those that may share its key.

    Returns
    -------
    One number per record, a whole number unless there are weights.

    Examples
    --------
    >>> codes = np.array([[0, 1], [0, -1], [0, 2]])
    >>> frequencies(codes).tolist()
    [1, 1, 1]
    >>> frequencies(codes, missing="wildcard").tolist()
    [2, 3, 2]
    """
    return frequencies_of_each(codes, [weights], missing=missing)[0]


def frequencies_of_each(
    codes: np.ndarray, weightings: Sequence[np.ndarray | None], *, missing: Missing = "strict"
) -> list[np.ndarray]:
    """Return the frequencies by each of several weightings; the records are grouped once."""
    for weights in weightings:
        _check(codes, weights, missing)
    ids, n_groups = group_ids(codes)
    is_wild = missing == "wildcard" and bool((codes == MISSING_CODE).any())
    found = []
    for weights in weightings:
        amounts = np.bincount(ids, weights=weights, minlength=n_groups)
        if weights is not None:  # whole numbers where there are no records at all
            amounts = amounts.astype(np.float64, copy=False)
        if is_wild:
            amounts = _wildcard_amounts(codes, ids, n_groups, amounts)
        found.append(np.asarray(amounts[ids]))
    return found


def _check(codes: np.ndarray, weights: np.ndarray | None, missing: str) -> None:
    if missing not in get_args(Missing):
        raise ParameterError("missing must be strict or wildcard", got=repr(missing))
    if weights is not None and len(weights) != len(codes):
        raise DataError(
            "frequencies need one weight per record",
            got=f"{len(weights)} weights for {len(codes)} records",
        )


def _wildcard_amounts(
    codes: np.ndarray, ids: np.ndarray, n_groups: int, amounts: np.ndarray
) -> np.ndarray:
    """Sum, for each distinct key, the amounts of all keys it may equal."""
    from tacit.core import _keys_kernel as kernel

    distinct = np.ascontiguousarray(codes[kernel.first_rows(ids, n_groups)])
    blank = distinct == MISSING_CODE
    pattern, n_patterns = group_ids(blank.astype(np.int32))
    if n_patterns > _MANY_PATTERNS:
        return _searched_amounts(distinct, blank, amounts)
    order = np.argsort(pattern, kind="stable")
    starts = np.searchsorted(pattern[order], np.arange(n_patterns + 1))
    patterns = blank[order[starts[:-1]]]
    return np.asarray(kernel.pattern_totals(distinct, amounts, order, starts, patterns))


def _searched_amounts(distinct: np.ndarray, blank: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    from tacit.core import _keys_kernel as kernel

    # a blank follows every branch of its column: columns with few branches and blanks go first
    n_values = np.array([len(np.unique(column)) for column in distinct.T])
    columns = distinct.T[np.argsort(n_values * blank.mean(axis=0), kind="stable")]
    order = np.lexsort(columns[::-1])
    totals = np.empty_like(amounts)
    totals[order] = kernel.search_totals(np.ascontiguousarray(columns[:, order]), amounts[order])
    return totals
