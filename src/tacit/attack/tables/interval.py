"""The interval attack: linear programmes over everything that is published."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import named, narrow_before, sensitive_tables
from tacit.attack.target import TableTarget


class IntervalAttack(
    Attack,
    key="table-interval",
    title="Interval attack on tables",
    cites=("fischetti2001", "domingoferrer2007"),
):
    r"""Work out every sensitive cell from all sums of the published ones.

    Missing values: suppressed cells are what is attacked. Weights: as the table has them.
    Households: not considered; cells are attacked.

    Notes
    -----
    For each sensitive cell the least and largest value are found that all published cells and sums
    allow [fischetti2001]_; the attack succeeds if the interval is narrower than the protection
    that the rule of sensitivity asks for, or a single point. Guessing succeeds where what is known
    beforehand is that narrow already.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import attack, tables
    >>> frame = pl.DataFrame({"region": list("NNSSEE"), "x": [90, 1, 20, 25, 30, 33]})
    >>> rule = tables.Dominance(n=1, k=80)
    >>> made = tacit.tabulate(frame, "region", "x").protect(tables.SuppressModular(), rule)
    >>> attack.IntervalAttack().run(made).verdict.value
    'nothing learnt'
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Suppress further cells (tables.SuppressModular, SuppressOptimal), or merge categories."
    )

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that no cell is sensitive, or that values were changed without a claim."""
        return None if sensitive_tables(target) else "no table has sensitive cells that are hidden"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Attack the sensitive cells of every table."""
        from tacit.tables import audit

        hits, guesses, failed, exact = [], [], [], 0
        for table in sensitive_tables(target):
            found = audit(table, singletons=False, known_within=knowledge.known_within)
            bad = np.isin(found.cells, found.failed)
            hits.append(bad)
            guesses.append(narrow_before(found, knowledge.known_within))
            exact += int(np.sum(found.verdict == "exactly disclosed"))
            failed += named(table, found.failed)
        return Outcome(
            hits=np.concatenate(hits).astype(float),
            guesses=np.concatenate(guesses).astype(float),
            question="Work out the sensitive cells from everything that is published",
            unit="cell",
            exact=True,
            worst=f"{exact} sensitive cells known exactly; not protected: {'; '.join(failed[:5])}"
            if failed
            else "every sensitive cell keeps an interval as wide as required",
            details={"exactly_disclosed": exact},
        )
