"""Singletons: respondents who are alone in a suppressed cell know its value."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import named, sensitive_tables
from tacit.attack.target import TableTarget


class SingletonAttack(
    Attack,
    key="table-singleton",
    title="Attack by singletons and coalitions",
    cites=("fischetti2001", "domingoferrer2007"),
):
    r"""Work out sensitive cells with what respondents know about their own.

    Missing values: suppressed cells are what is attacked. Weights: as the table has them.
    Households: a respondent who is alone in several cells knows them all.

    Notes
    -----
    A respondent who is the only one in a suppressed cell can fill it in, and so recover other
    suppressed cells. The interval attack is repeated with these cells known; coalitions of
    `Knowledge.coalition` respondents of one sum pool theirs. What one respondent has in several
    cells together is attacked, too. The baseline is what outsiders can work out of single cells.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from tacit import attack
    >>> from tacit.tables import ProtectedTable, Sensitive, Table
    >>> table = Table(
    ...     np.array([60.0, 10, 20, 30]), csr_array([[-1.0, 1, 1, 1]]), count=np.array([9, 2, 1, 6])
    ... )
    >>> sensitive = Sensitive.by("small", np.array([False, True, False, False]), above=2.0)
    >>> hidden = np.array([False, True, True, False])
    >>> made = ProtectedTable.suppressing(table, sensitive, hidden, "")
    >>> attack.SingletonAttack().run(made).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = "Protect with singletons in mind (singletons=True of the suppressions)."

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that nobody attacks from inside."""
        if not knowledge.respondent:
            return "the intruder is no respondent"
        usable = [t for t in sensitive_tables(target) if t.original.count is not None]
        return None if usable else "no table has sensitive cells and counts of respondents"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Repeat the interval attack with the cells of singletons known."""
        from tacit.tables import audit

        hits, guesses, broken, n_insiders = [], [], [], 0
        for table in sensitive_tables(target):
            found = audit(
                table, singletons=True, coalitions=knowledge.coalition,
                known_within=knowledge.known_within,
            )  # fmt: skip
            guesses.append(found.verdict != "ok")
            inside = set(found.failed.tolist()) - set(found.cells[guesses[-1]].tolist())
            hits.append(guesses[-1] | np.isin(found.cells, list(inside)))
            n_insiders += found.n_insiders
            broken += named(table, np.array(sorted(inside), dtype=np.int64))
        return Outcome(
            hits=np.concatenate(hits).astype(float), guesses=np.concatenate(guesses).astype(float),
            question="Work out sensitive cells with the own cells of respondents", unit="cell",
            exact=True,
            worst=f"respondents work out {'; '.join(broken[:5])}"
            if broken
            else "no respondent learns more than an outsider",
            details={"insiders": n_insiders, "coalition": knowledge.coalition},
        )  # fmt: skip
