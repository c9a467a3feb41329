"""What the attacks on changed counts share: a bound of the changes, a table of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.finding import Outcome
from tacit.attack.tables._cells import named

if TYPE_CHECKING:
    from tacit.tables import ProtectedTable


def is_noisy(table: ProtectedTable) -> bool:
    """Whether a table holds counts that were changed."""
    original = table.original
    return original.is_count and original.weighted_count is None and bool(table.changed.any())


def rounding_base(table: ProtectedTable) -> int:
    """Return the largest number that divides all published counts, 1 if there is none."""
    seen = table.published[~table.suppressed]
    if not len(seen) or np.any(seen != np.round(seen)):
        return 1
    return int(np.gcd.reduce(seen.astype(np.int64)))


def bounded_outcome(tables: list[ProtectedTable], bounds: list[float], question: str) -> Outcome:
    """Narrow every count by the sums; a count is broken if what is left gives the true one.

    Guessing takes the published value for the true one. Where a count that was changed has one
    value left nothing is left to chance: that count is a leak, however many others withstand.
    """
    from tacit.tables import noise_attack

    hits, guesses, undone, names = [], [], [], []
    for table, bound in zip(tables, bounds, strict=True):
        found = noise_attack(table, float(bound))
        right = _estimate(found.low, found.high, table.published) == found.truth
        seen = table.published == found.truth
        hits.append(right)
        guesses.append(seen)
        undone.append(right & ~seen & (found.low == found.high))
        names += named(table, np.flatnonzero((found.low == found.high) & right))
    sure = np.concatenate(undone)
    return Outcome(
        hits=(sure if sure.any() else np.concatenate(hits)).astype(float),
        guesses=0.0 if sure.any() else np.concatenate(guesses).astype(float),
        question=question, unit="cell", exact=bool(sure.any()),
        worst=f"{len(names)} counts are certain, such as {'; '.join(names[:3])}"
        if names
        else "no count is certain",
        details={"largest_change": [float(b) for b in bounds], "undone": int(sure.sum())},
    )  # fmt: skip


def _estimate(low: np.ndarray, high: np.ndarray, published: np.ndarray) -> np.ndarray:
    """Return the published value moved into the interval that the sums leave."""
    middle = np.where(np.isnan(published), (low + high) / 2, published)
    return np.round(np.clip(middle, low, high))
