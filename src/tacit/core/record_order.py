"""Whether two files that were paired by position correspond at all.

Plain files say nothing about whose record is whose. Where they were paired by their order, the
order is checked: a shuffled file would make any release look safe, and any loss look large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.common_scale import as_numbers, common_codes, compare_as_numbers
from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.keys import group_ids
from tacit.core.pairing import Pair, substantive_columns

_ENOUGH_TO_REFUSE = 200
"""Records from which files without any relation by position are refused, not only warned about."""
_ENOUGH_TO_DOUBT = 20
_RELATED = 3.0
"""Standard errors from which a column counts as related by position."""


def order_warnings(both: Pair, *, by: str) -> tuple[str, ...]:
    """Refuse plain files whose records do not correspond by position, or warn where in doubt."""
    if not both.by_position:
        return ()
    names = [name for name in substantive_columns(both.original) if name in both.released.schema]
    tables = [collect(side.lazy.select(names)) for side in both.sides]
    unrelated = _are_unrelated(both, tables)
    n = both.original.n_records
    if _is_reordered(tables) or (unrelated and n >= _ENOUGH_TO_REFUSE):
        raise DataError(
            f"{by}: the released records are in another order than the original ones, or unrelated",
            do="pass the Release that plan.apply returned, or name a record_id that both files have"
            "; measure synthetic files by what needs no pairs, such as replicated-uniques, "
            "correct-attribution or propensity",
        )
    if unrelated and n >= _ENOUGH_TO_DOUBT:
        return (
            "The files were paired by position, but no column is related by position: if the "
            "records were reordered, this number means nothing.",
        )
    return ()


def _is_reordered(tables: list[Any]) -> bool:
    """Whether the files hold the same records, of at least two columns, in another order."""
    if tables[0].width < 2 or tables[0].schema != tables[1].schema:
        return False
    codes = [common_codes(tables[0][n], tables[1][n]) for n in tables[0].columns]
    joined = np.column_stack([np.concatenate(both_sides) for both_sides in codes])
    ids, n_groups = group_ids(joined)
    first, second = ids[: tables[0].height], ids[tables[0].height :]
    same = np.array_equal(np.bincount(first, minlength=n_groups), np.bincount(second))
    return same and not np.array_equal(first, second)


def _are_unrelated(both: Pair, tables: list[Any]) -> bool:
    """Whether some columns could show that records correspond, and none does."""
    told = False
    for name in tables[0].columns:
        relation = _relation(both, tables[0][name], tables[1][name])
        if relation is not None and relation >= _RELATED:
            return False
        told = told or relation is not None
    return told


def _relation(both: Pair, before: Any, after: Any) -> float | None:
    """Say how many standard errors a column is from being unrelated; None if nothing tells."""
    if compare_as_numbers(before, after, both.kinds(before.name)):
        x, y = as_numbers(before), as_numbers(after)
        known = ~(np.isnan(x) | np.isnan(y))
        return _rank_relation(x[known], y[known])
    x, y = common_codes(before, after)
    known = (x >= 0) & (y >= 0)
    return _agreement_relation(x[known], y[known])


def _rank_relation(x: np.ndarray, y: np.ndarray) -> float | None:
    from scipy.stats import rankdata

    if len(x) < _ENOUGH_TO_DOUBT or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    correlation = float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
    return abs(correlation) * float(np.sqrt(len(x) - 1))


def _agreement_relation(x: np.ndarray, y: np.ndarray) -> float | None:
    if len(x) < _ENOUGH_TO_DOUBT or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    size = int(max(x.max(), y.max())) + 1
    shares = [np.bincount(codes, minlength=size) / len(codes) for codes in (x, y)]
    expected = float(shares[0] @ shares[1])
    if not 0 < expected < 1:
        return None
    spread = np.sqrt(expected * (1 - expected) / len(x))
    return abs(float(np.mean(x == y)) - expected) / float(spread)
