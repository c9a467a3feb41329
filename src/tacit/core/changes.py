"""What one step changed: values per column, and records that came or went."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata


def changed_values(before: Microdata, after: Microdata) -> dict[str, int]:
    """Count, for each column that both have, the records whose value is another one now.

    Records are matched by the numbers that a plan gives them; simulated ones, and those that are
    gone, do not count.
    """
    old, new = _matched(before, after)
    if old is None or new is None:
        return {}
    found = {}
    for name in after.columns:
        if name in before.schema:
            count = _different(old[name], new[name])
            if count:
                found[name] = count
    return found


def _matched(before: Microdata, after: Microdata) -> tuple[Any, Any]:
    """Return the frames of the records that both have, in the same order."""
    was, now = before.rows, after.rows
    if was is None or now is None:
        return None, None
    if np.array_equal(was, now):
        return before.local, after.local
    place = np.full(int(max(was.max(initial=-1), now.max(initial=-1))) + 2, -1, dtype=np.int64)
    place[was[was >= 0]] = np.flatnonzero(was >= 0)
    kept = np.flatnonzero(now >= 0)
    kept = kept[place[now[kept]] >= 0]
    return before.local[place[now[kept]]], after.local[kept]


def _different(old: Any, new: Any) -> int:
    """Count the positions at which two columns differ; gaps equal gaps."""
    if old.dtype == new.dtype:
        return int(old.ne_missing(new).sum())
    if old.dtype.is_numeric() and new.dtype.is_numeric():
        return int(old.cast(float).ne_missing(new.cast(float)).sum())
    return int((old.is_not_null() | new.is_not_null()).sum())
