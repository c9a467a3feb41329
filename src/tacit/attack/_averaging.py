"""Averaging of data sets: what several copies of a release tell together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Kind


def in_one_order(sets: Sequence[Microdata]) -> bool:
    """Whether the records of all data sets are those of the same people, in the same order."""
    first, *others = sets
    rows = first.rows
    if rows is None or not np.any(rows >= 0):
        return False
    return all(
        one.rows is not None and np.array_equal(one.rows, rows) and one.columns == first.columns
        for one in others
    )


def averaged(sets: Sequence[Microdata]) -> Microdata:
    """Return the mean of each number and the most frequent category, record by record."""
    first = sets[0]
    if len(sets) == 1:
        return first
    drawn = [n for n in first.columns if not all(_same(first, one, n) for one in sets[1:])]
    numbers = [n for n in drawn if all(one.schema[n].kind is Kind.NUMERIC for one in sets)]
    means = {n: _mean([one.numeric([n])[:, 0] for one in sets]) for n in numbers}
    modes = [_mode(sets, n) for n in drawn if n not in means]
    return first.with_local(first.local.with_columns(modes)).with_arrays(means)


def _same(one: Microdata, other: Microdata, name: str) -> bool:
    return bool(one.local[name].equals(other.local[name]))


def _mean(values: list[np.ndarray]) -> np.ndarray:
    """Return the mean of what is known of each record."""
    told = np.column_stack(values)
    known = ~np.isnan(told)
    total = np.where(known, told, 0.0).sum(axis=1)
    n_known = known.sum(axis=1)
    return np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)


def _mode(sets: Sequence[Microdata], name: str) -> Any:
    """Return the category that most data sets give a record, the first one in a tie."""
    import polars as pl

    from tacit.core.keys import encode_series

    series = [one.local[name] for one in sets]
    if len({s.dtype for s in series}) > 1:
        series = [s.cast(pl.String) for s in series]
    codes = encode_series(pl.concat(series)).reshape(len(sets), -1)
    votes = (codes[:, None, :] == codes[None, :, :]).sum(axis=1)
    chosen = votes.argmax(axis=0)
    n = codes.shape[1]
    return pl.concat(series).gather(chosen * n + np.arange(n)).alias(name)
