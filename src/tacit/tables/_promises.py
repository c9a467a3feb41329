"""What moved cells promise, worked out from original, sensitive and published values alone.

Written apart from the protections on purpose: it shares no code with them that decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.tables.protected import ProtectedTable

_MISS = 4e-6
"""By how much a value of up to a million may miss a limit; larger ones in proportion."""
_DUST = 1e-8


def inside_their_intervals(protected: ProtectedTable) -> np.ndarray:
    """Return the sensitive cells published within their protection interval, or unchanged."""
    found, value = protected.sensitive, protected.original.value
    least = np.maximum(found.width, 0.0)
    fall, rise = (
        np.where(least > 0, np.maximum(level, least), level) for level in (found.below, found.above)
    )
    published = protected.published
    largest = np.abs(value).max(initial=1.0)
    miss = _MISS * max(1.0, largest / 1e6) + 4 * np.spacing(np.abs(value))
    miss = np.minimum(miss, 2e-3 * np.maximum(np.abs(fall), np.abs(rise)))
    inside = (published > value - fall + miss) & (published < value + rise - miss)
    bare = (fall == 0) & (rise == 0) & (published == value)
    return np.flatnonzero(found.cells & (inside | bare))


def estimated_too_well(protected: ProtectedTable, promised: Mapping[str, Any]) -> np.ndarray:
    """Return the sensitive cells whose published total tells a contribution within the distance.

    Scenarios I to III together rule out all totals between their least and largest limits; IV,
    the mean, is ruled out around every contribution of a cell that is no crowd.
    """
    table = protected.original
    known = table.respondents
    cells = protected.sensitive.primary
    if known is None:
        return cells  # nothing can be shown, so nothing passes
    cells = cells[known.n_units[cells] > 0]
    m, total, value = known.n_units[cells], protected.published[cells], table.value[cells]
    depth = min(known.depth, int(promised["crowd"]))
    y = _ordered(known.top[cells, :depth], m)
    d, dust = promised["d"] / 100.0, _DUST * np.maximum(1.0, np.abs(total))
    low, high = _core(y, m, value, d, int(promised["phi"]))
    wrong = (total > low + dust) & (total < high - dust)
    wrong |= ~np.isfinite(total) | ((total < -dust) & (value >= 0) & (np.nanmin(y, axis=1) >= 0))
    # IV: an outsider divides the total by the number of respondents.
    away = np.abs((total / m)[:, None] - y)
    near = (away < d * np.abs(y) - (dust / m)[:, None]) & ~np.isnan(y)
    wrong |= near.any(axis=1) & (m <= depth)
    return np.asarray(cells[wrong])


def _ordered(top: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return contributions by falling size, not-a-number where there are no more."""
    there = np.arange(top.shape[1])[None, :] < m[:, None]
    y = np.where(there, top, np.nan)
    order = np.argsort(np.where(there, -np.abs(y), np.inf), axis=1, kind="stable")
    return np.take_along_axis(y, order, axis=1)


def _core(
    y: np.ndarray, m: np.ndarray, value: np.ndarray, d: float, phi: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest total at which somebody is estimated too well."""
    first = y[:, 0]
    second = y[:, 1] if y.shape[1] > 1 else np.full(len(y), np.nan)
    rest = np.where(m >= 3, value - first - second, np.nan)
    spans = [
        (first, d * np.abs(first)),  # I: the total itself as estimate of the largest
        (first + second, d * np.abs(second)),  # II: the largest takes itself away
        (first + second, d * np.abs(first)),  # IIIa: the second does
        (2 * second + rest, d * np.abs(rest)),  # IIIb: twice the second taken away leaves the rest
    ]
    # IIIc: respondent phi, or the last one, takes the mean of those above it for each of them.
    last = np.minimum(np.minimum(phi, m), y.shape[1]) - 1
    own = np.take_along_axis(y, last[:, None], axis=1)[:, 0]
    for k in range(min(phi - 1, y.shape[1])):
        above = np.where((m >= 3) & (k < last), y[:, k], np.nan)
        spans.append((own + last * above, d * last * np.abs(above)))
    low = np.nanmin([centre - half for centre, half in spans], axis=0)
    high = np.nanmax([centre + half for centre, half in spans], axis=0)
    return low, high
