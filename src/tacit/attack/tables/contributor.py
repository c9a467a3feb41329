"""External, internal and dominance attacks: what a cell tells about its contributors."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import named
from tacit.attack.target import TableTarget


class ContributorAttack(
    Attack,
    key="table-contributor",
    title="External, internal and dominance attacks",
    cites=("domingoferrer2007", "willenborg2001"),
):
    r"""Estimate the largest contribution to each published cell.

    Missing values: suppressed cells tell nothing here. Weights: as the table has them. Households:
    holdings are taken where the table knows them.

    Notes
    -----
    From a published total :math:`X` an outsider takes :math:`X` itself as the contribution
    :math:`x_1` of the only or dominating contributor (external attack); another contributor
    subtracts the own one, :math:`X - x_2` (internal attack); a coalition of :math:`c` of them
    subtracts all of theirs [domingoferrer2007]_. An estimate within `p` percent of :math:`x_1`
    succeeds: for an insider that is where the p % rule finds the cell sensitive. Without the table
    nothing is known unless `Knowledge.known_within` is at most `p`.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import attack, tables
    >>> frame = pl.DataFrame({"region": list("NNSSSEEE"), "x": [90, 1, 20, 25, 21, 30, 33, 31]})
    >>> table = tacit.tabulate(frame, "region", "x")
    >>> bare = tables.ProtectedTable(table, table.sensitive(), table.value)
    >>> attack.ContributorAttack().run(bare).broken.tolist()
    [2]
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Call such cells sensitive (tables.PPercent, Dominance, MinFrequency) and suppress them."
    )

    p: Annotated[float, Gt(0)] = 10.0
    """An estimate within this percentage counts as disclosure."""

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that the contributions are not known."""
        if any(t.original.respondents is not None for t in target.tables):
            return None
        return "the tables do not say who contributes to a cell"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Estimate the largest contribution of every published cell that has any."""
        hits, names, cells = [], [], []
        for table in target.tables:
            parts = table.original.holdings or table.original.respondents
            if parts is None:
                continue
            there = np.flatnonzero(~table.suppressed & (parts.n_units > 0))
            top = np.abs(parts.top[there])
            own = top[:, 1 : 1 + knowledge.coalition].sum(axis=1) if knowledge.respondent else 0.0
            error = np.abs(table.published[there] - own - top[:, 0])
            broken = error <= self.p / 100 * top[:, 0]
            hits.append(broken & (top[:, 0] > 0))
            cells.append(there)
            names += named(table, there[hits[-1]])
        known = knowledge.known_within is not None and knowledge.known_within <= self.p
        found = np.concatenate(hits).astype(float)
        return Outcome(
            hits=found, guesses=float(known), unit="cell", exact=True,
            question=f"Estimate the largest contribution to a cell within {self.p:g} %",
            positions=np.concatenate(cells),
            worst=f"largest contributions of {int(found.sum())} cells: {'; '.join(names[:5])}"
            if names
            else "no largest contribution can be estimated that well",
            details={"coalition": knowledge.coalition, "respondent": knowledge.respondent},
        )  # fmt: skip
