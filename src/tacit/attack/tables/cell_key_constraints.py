"""Constraints on noise: a known largest change, sums, and counts that cannot be negative."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._noisy import bounded_outcome, is_noisy
from tacit.attack.target import TableTarget


class CellKeyConstraints(
    Attack,
    key="table-noise",
    title="Constraints on noisy counts",
    cites=("giessing2011", "fraser2006"),
):
    r"""Narrow noisy counts by their sums and by the largest change.

    Missing values: a suppressed cell is unknown. Weights: tables of unweighted counts only.
    Households: not considered.

    Notes
    -----
    With noise of at most :math:`D`, which is published, every count lies in
    :math:`[\max(y - D, 0), y + D]`; the sums of the original counts cut these intervals, as
    section 5 of [giessing2011]_ describes and expects to succeed rarely. A count succeeds if the
    published value, moved into what is left, is the true one; guessing takes published values for
    true ones.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> attack.CellKeyConstraints().run(table.protect(tables.CellKey())).leaked
    False
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = "Take a larger largest change or variance, or publish fewer margins."

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that no counts hold noise, or that its size is not known."""
        if not knowledge.method:
            return "the intruder does not know the largest change"
        return None if any(map(is_noisy, target.tables)) else "no counts were changed"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Narrow every noisy count by the sums."""
        tables = [t for t in target.tables if is_noisy(t)]
        bounds = [float(np.nanmax(np.abs(t.published - t.original.value))) for t in tables]
        return bounded_outcome(tables, bounds, "Narrow noisy counts by their sums")
