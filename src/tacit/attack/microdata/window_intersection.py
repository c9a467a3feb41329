"""Window intersection: linkage by somebody who knows that ranks were swapped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._links import linked_outcome, unlinked
from tacit.attack.target import MicrodataTarget
from tacit.core.schema import Kind


class WindowIntersection(
    Attack,
    key="window-intersection",
    title="Window intersection after rank swapping",
    cites=("nin2008", "moore1996"),
):
    r"""Find people by the windows of rank that their values must have stayed in.

    Missing values: a gap on either side excludes no record. Weights: not used. Households: records
    are linked one by one.

    Notes
    -----
    Rank swapping moves a value by at most :math:`p` percent of the ranks. The candidates for a
    person are the records inside the windows of all swapped columns at once [nin2008]_; with many
    columns few are left, the own record always among them. Guessing picks a record blindly.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500)
    >>> columns = ["age", "hours", "income", "taxes"]
    >>> release = tacit.Plan([mask.RankSwap(columns=columns, p=2)]).apply(data, seed=1)
    >>> attack.WindowIntersection().run(release).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Swap fewer of the columns an intruder knows apart from each other, with a wider window, "
        "or keep the window secret."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that no ranks were swapped, or that the intruder does not know."""
        if not knowledge.method:
            return "the intruder does not know the method"
        names = _swapped(target, knowledge)
        return unlinked(target, names) if names else "no numbers were swapped by rank"

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Intersect the windows of all swapped columns."""
        from tacit import risk

        names = _swapped(target, knowledge)
        file, covered = knowledge.external(target.original)
        found = risk.RankLinkage(attributes=names).measure(file, target.released)
        chosen = np.flatnonzero(covered & np.isin(np.arange(len(file)), target.matched[0]))
        return linked_outcome(
            target, np.asarray(found.per_unit), chosen, names,
            question=f"Find people by windows of rank around {', '.join(names)}",
            details={"windows": found.details["windows"]}, warnings=found.warnings,
        )  # fmt: skip


def _swapped(target: MicrodataTarget, knowledge: Knowledge) -> list[str]:
    """Return the numbers that were swapped by rank, as far as the intruder has them."""
    names: list[str] = []
    for step in target.steps_of("rank-swap"):
        names += [n for n in getattr(step, "columns", ()) if n not in names]
    known = set(knowledge.columns or names)
    both = (target.original.schema, target.released.schema)
    return [
        n for n in names if n in known and all(n in s and s[n].kind is Kind.NUMERIC for s in both)
    ]
