"""Who is affected: the groups of people that an attack breaks most often."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Kind

_SMALLEST = 20
"""Groups with fewer attacked people are not named: their share would be noise, and a hint."""
_MOST = 3


def affected_groups(
    data: Microdata, people: np.ndarray, broken: np.ndarray
) -> list[dict[str, Any]]:
    """Return the categories of the keys in which the largest share of people is broken."""
    import polars as pl

    keys = [k for k in data.schema.keys if data.schema[k].kind in (Kind.NOMINAL, Kind.ORDINAL)]
    if not broken.any() or not keys:
        return []
    table = data.local.select(keys)[people].with_columns(__broken=pl.Series(broken))
    found = []
    for key in keys:
        groups = table.group_by(key).agg(pl.len().alias("n"), pl.col("__broken").mean())
        groups = groups.filter((pl.col("n") >= _SMALLEST) & pl.col(key).is_not_null())
        found += [
            {"column": key, "category": str(row[key]), "people": row["n"], "share": row["__broken"]}
            for row in groups.rows(named=True)
        ]
    return sorted(found, key=lambda g: (-g["share"], -g["people"], g["column"], g["category"]))[
        :_MOST
    ]
