"""Which released record belongs to which original one, when an intruder's success is counted.

A `Release` knows. Plain files are paired by a column that numbers their records, or else by their
order, and then the order is checked: files that were shuffled would make any release look safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.keys import group_ids
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind, Role
from tacit.risk._external import _common_codes, _is_numeric, _numbers

_NOT_KNOWN = {Role.WEIGHT, Role.HOUSEHOLD, Role.IDENTIFIER}
_ENOUGH_TO_REFUSE = 200
"""Records from which files without any relation by position are refused, not only warned about."""
_ENOUGH_TO_DOUBT = 20
_RELATED = 3.0
"""Standard errors from which a column counts as related by position."""


def linked_pair(original: Any, release: Any, record_id: str | None, *, by: str) -> Pair:
    """Bring an original and a release together so that true pairs are known, or refuse."""
    both = pair(original, release)
    for side in (both.original, both.released):
        if side.n_records == 0:
            raise DataError(f"{by} needs at least one record", got="an empty file")
    if record_id is not None and release is not None:
        both = replace(both, rows=_rows_by_column(both, record_id))
    if len(both.matched[0]) == 0:
        raise DataError(
            f"{by}: no released record comes from an original one",
            do="measure synthetic records with replicated-uniques, correct-attribution or "
            "membership-inference",
        )
    return both


def _rows_by_column(both: Pair, name: str) -> np.ndarray:
    """Return for each released record the original record with the same value of a column."""
    for side in (both.original, both.released):
        side.schema.require([name])
    before, after = (collect(side.lazy.select(name))[name] for side in _sides(both))
    external, released = _common_codes(before, after)
    for codes, of in ((external, "original"), (released, "release")):
        if np.any(codes < 0) or len(np.unique(codes)) < len(codes):
            raise DataError(
                f"the column {name!r} must have another value on each record of the {of}",
                do="name a column that numbers the records",
            )
    rows = np.full(max(external.max(), released.max()) + 1, -1, dtype=np.int64)
    rows[external] = np.arange(len(external))
    return np.asarray(rows[released])


def _sides(both: Pair) -> tuple[Microdata, Microdata]:
    return both.original, both.released


def known_columns(data: Microdata, kinds: Sequence[Kind] = (Kind.NUMERIC,)) -> list[str]:
    """Columns of these kinds that an intruder may know: no weights, households, identifiers."""
    return [v.name for v in data.schema.variables if v.kind in kinds and not v.roles & _NOT_KNOWN]


def order_warnings(both: Pair, release: Any, record_id: str | None, *, by: str) -> tuple[str, ...]:
    """Refuse plain files whose records do not correspond by position, or warn where in doubt."""
    by_position = release is not None and record_id is None and both.released.rows is None
    if not by_position or both.released is both.original:
        return ()
    names = [n for n in both.shared if not both.original.schema[n].roles & _NOT_KNOWN]
    tables = [collect(side.lazy.select(names)) for side in _sides(both)]
    relations = [z for n in names if (z := _relation(both, tables[0][n], tables[1][n])) is not None]
    unrelated = bool(relations) and max(relations) < _RELATED
    n = both.original.n_records
    if _is_reordered(tables) or (unrelated and n >= _ENOUGH_TO_REFUSE):
        raise DataError(
            f"{by}: the released records are in another order than the original ones, or unrelated",
            do="pass the Release that plan.apply returned, or name a record_id that both files have"
            "; measure synthetic files with replicated-uniques or correct-attribution",
        )
    if unrelated and n >= _ENOUGH_TO_DOUBT:
        return (
            "The files were paired by position, but no column is related by position: if the "
            "records were reordered, this number is far too low.",
        )
    return ()


def position_doubts(both: Pair, release: Any) -> tuple[str, ...]:
    """Warn, for measures of loss, that two plain files may not correspond by position."""
    try:
        doubts = order_warnings(both, release, None, by="this number")
    except DataError:
        doubts = ("in doubt",)
    if not doubts:
        return ()
    return (
        "The files were paired by position, but their records do not seem to correspond: changes "
        "record by record mean nothing then. Pass the Release that plan.apply returned.",
    )


def _is_reordered(tables: list[Any]) -> bool:
    """Whether the files hold the same records, of at least two columns, in another order."""
    if tables[0].width < 2 or tables[0].schema != tables[1].schema:
        return False
    codes = [_common_codes(tables[0][n], tables[1][n]) for n in tables[0].columns]
    joined = np.column_stack([np.concatenate(both_sides) for both_sides in codes])
    ids, n_groups = group_ids(joined)
    first, second = ids[: tables[0].height], ids[tables[0].height :]
    same = np.array_equal(np.bincount(first, minlength=n_groups), np.bincount(second))
    return same and not np.array_equal(first, second)


def _relation(both: Pair, before: Any, after: Any) -> float | None:
    """Say how many standard errors a column is from being unrelated; None if nothing tells."""
    if _is_numeric(both, before.name, before, after):
        x, y = _numbers(before), _numbers(after)
        known = ~(np.isnan(x) | np.isnan(y))
        return _rank_relation(x[known], y[known])
    x, y = _common_codes(before, after)
    known = (x >= 0) & (y >= 0)
    return _agreement_relation(x[known], y[known])


def _rank_relation(x: np.ndarray, y: np.ndarray) -> float | None:
    from scipy.stats import rankdata

    if len(x) < _ENOUGH_TO_DOUBT or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    correlation = float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
    return abs(correlation) * float(np.sqrt(len(x) - 1))


def _agreement_relation(x: np.ndarray, y: np.ndarray) -> float | None:
    if len(x) < _ENOUGH_TO_DOUBT:
        return None
    size = int(max(x.max(), y.max())) + 1
    shares = [np.bincount(codes, minlength=size) / len(codes) for codes in (x, y)]
    expected = float(shares[0] @ shares[1])
    if not 0 < expected < 1:
        return None
    spread = np.sqrt(expected * (1 - expected) / len(x))
    return abs(float(np.mean(x == y)) - expected) / float(spread)
