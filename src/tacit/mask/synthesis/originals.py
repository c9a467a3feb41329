"""Drawing again what equals an original record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from tacit.core.data import ROW, Microdata
from tacit.core.errors import ProtectionError

Originals = Literal["allowed", "no-uniques", "none"]
"""Whether a synthetic record may equal any original one, none that is unique, or none at all."""
_MOST_ROUNDS = 40
_UNIT = "__tacit_unit__"

Draw = Callable[[int], tuple[Any, np.ndarray]]
"""Draws so many units; returns their records as a Polars frame, and the unit of each record."""


Refused = Callable[[Any], np.ndarray]
"""Returns the places of records that must not be released."""


def without_originals(
    draw: Draw, n_units: int, forbidden: Any, refused: Refused | None = None
) -> tuple[Any, np.ndarray]:
    """Draw units until there are enough of which no record is forbidden, or refused otherwise.

    Raises
    ------
    ProtectionError
        If it takes too many draws: then nothing is released.
    """
    import polars as pl

    parts, kept = [], 0
    for _ in range(_MOST_ROUNDS):
        table, unit = draw(n_units - kept)
        bad = np.unique(unit[found_in(table, forbidden)])
        if refused is not None:
            bad = np.union1d(bad, unit[refused(table)])
        good = ~np.isin(unit, bad)
        numbers = np.unique(unit[good], return_inverse=True)[1]
        part = table.filter(pl.Series(good))
        parts.append(part.with_columns(pl.Series(_UNIT, numbers + kept, dtype=pl.Int64)))
        kept += int(numbers.max(initial=-1)) + 1
        if kept >= n_units:
            done = pl.concat(parts)
            return done.drop(_UNIT), done[_UNIT].to_numpy()
    raise ProtectionError(
        "records that equal no original one, and are possible, cannot be drawn from these data",
        got=f"{n_units - kept:,} of {n_units:,} still missing after {_MOST_ROUNDS} draws",
        do="draw fewer (size), keep more detail, forbid only unique records, or check what you "
        "have declared impossible",
    )


def forbidden_records(
    data: Microdata, originals: Originals, columns: Sequence[str] | None = None
) -> Any:
    """Return the original records that must not appear, or None if all may.

    Compared are all columns but weights and household numbers, unless some are named.
    """
    import polars as pl

    if originals == "allowed":
        return None
    design = (data.schema.weight, data.schema.household)
    columns = list(columns or (c for c in data.columns if c not in design))
    data.schema.require(columns)
    counted = data.local.select(columns).group_by(columns).agg(pl.len().alias(ROW))
    if originals == "no-uniques":
        counted = counted.filter(pl.col(ROW) == 1)
    return counted.drop(ROW)


def check_none_came_back(
    original: Microdata,
    released: Microdata,
    originals: Originals,
    columns: Sequence[str] | None = None,
) -> None:
    """Refuse a release that holds forbidden records all the same, made so by other steps.

    A sample taken before the synthesis hides records from it; what is rounded after it may become
    equal. A record that has lost a compared column, or changed its type, equals none.
    """
    forbidden = forbidden_records(original, originals, columns)
    if forbidden is None or any(
        released.local.schema.get(name) != dtype for name, dtype in forbidden.schema.items()
    ):
        return
    found = found_in(released.local, forbidden)
    if len(found):
        raise ProtectionError(
            "other steps of the plan have made synthetic records equal to original ones",
            got=f"{len(found):,} of {released.n_records:,}",
            do="coarsen before the synthesis, and sample after it",
        )


def found_in(table: Any, forbidden: Any) -> np.ndarray:
    """Return the places of the records that equal a forbidden one."""
    if forbidden is None or forbidden.height == 0:
        return np.zeros(0, dtype=np.int64)
    numbered = table.select(forbidden.columns).with_row_index(ROW)
    found = numbered.join(forbidden, on=forbidden.columns, how="semi", nulls_equal=True)
    return np.asarray(found[ROW].to_numpy(), dtype=np.int64)
