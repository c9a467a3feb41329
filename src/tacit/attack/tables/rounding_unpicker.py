"""The rounding unpicker: sums of rounded counts give the counts away."""

from __future__ import annotations

from typing import ClassVar

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._noisy import bounded_outcome, is_noisy, rounding_base
from tacit.attack.target import TableTarget


class RoundingUnpicker(
    Attack,
    key="table-rounding",
    title="Rounding unpicker",
    cites=("cox1987", "giessing2011"),
):
    r"""Undo rounding with the sums that the original counts obey.

    Missing values: a suppressed cell is unknown. Weights: tables of unweighted counts only.
    Households: not considered.

    Notes
    -----
    A count rounded to a multiple of :math:`b` lies within :math:`b - 1` of it (:math:`b/2` if
    rounded to the nearest); each margin that was rounded by itself cuts the possible values of its
    cells further. The base is read off the published counts. A count succeeds if the published
    value, moved into the interval that is left, is the true one; guessing takes published values
    for true ones.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, tables
    >>> table = tacit.tabulate(tacit.datasets.census(300), ["education", "marital"], weights=None)
    >>> attack.RoundingUnpicker().run(table.protect(tables.ConventionalRounding(base=3))).unit
    'cell'
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Round with control (tables.ControlledRounding): margins that add up tell nothing more."
    )

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that no counts were rounded."""
        rounded = [t for t in target.tables if is_noisy(t) and rounding_base(t) > 1]
        return None if rounded else "no counts were rounded to a base"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Narrow every rounded count by the sums."""
        tables = [t for t in target.tables if is_noisy(t) and rounding_base(t) > 1]
        bounds = [
            float(rounding_base(t) // 2) if "onventional" in t.method else rounding_base(t) - 1.0
            for t in tables
        ]
        return bounded_outcome(tables, bounds, "Undo the rounding of counts by their sums")
