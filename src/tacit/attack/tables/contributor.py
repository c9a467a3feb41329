"""External, internal and dominance attacks: what a cell tells about its contributors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Lt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import named
from tacit.attack.target import TableTarget
from tacit.core.errors import DataError

if TYPE_CHECKING:
    from tacit.tables import ProtectedTable
    from tacit.tables.contributions import Contributions

_DUST = 1e-6
"""Share of a contribution by which rounding errors and solvers may miss a limit."""


class ContributorAttack(
    Attack,
    key="table-contributor",
    title="External, internal and dominance attacks",
    cites=("domingoferrer2007", "willenborg2001"),
):
    r"""Estimate the largest contribution to each cell whose true total would give it away.

    Missing values: a suppressed cell tells nothing here. Weights: weighted contributions are
    estimated. Households: holdings are taken where the table knows them.

    Notes
    -----
    From a published total :math:`X` an outsider takes :math:`X` itself as the contribution
    :math:`x_1` of the only or dominating contributor (external attack); another contributor
    subtracts the own one, :math:`X - x_2` (internal attack); a coalition of :math:`c` of them
    subtracts all of theirs [domingoferrer2007]_. An estimate that misses :math:`x_1` by less than
    `p` percent succeeds. Attacked are the cells where the true total would let it: for an insider
    those that the p % rule finds sensitive. Where a method is known to move totals to the edge of
    what is safe (M3A, controlled adjustment), the estimate is divided by :math:`1 + p/100` or
    :math:`1 - p/100`, whichever a coin says.

    An insider knows :math:`x_1 \ge x_2` without any table and does best to name
    :math:`(1 + p/100) x_2`; no estimate is taken below that. Guessing takes it, too, or else the
    published total of another cell with as many contributors, drawn at random; its expected
    success is computed, so it has no interval. Where `Knowledge.known_within` is at most `p`
    guessing always succeeds. Success has an interval where values were changed.

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

    p: Annotated[float, Gt(0), Lt(100)] = 10.0
    """An estimate that misses by less than this percentage counts as disclosure."""

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that the contributions are not known."""
        if any(t.original.respondents is not None for t in target.tables):
            return None
        return "the tables do not say who contributes to a cell"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Estimate the largest contribution of every cell whose true total would tell it."""
        known = [t for t in target.tables if t.original.respondents is not None]
        made = [_in_danger(table, knowledge, self.p / 100) for table in known]
        hits = np.concatenate([one.hits(method_known=knowledge.method) for one in made])
        within = knowledge.known_within
        known_before = within is not None and within <= self.p
        guesses = np.concatenate([one.guesses() for one in made])
        names = [name for one in made for name in named(one.table, one.cells)]
        return Outcome(
            hits=hits, unit="cell", exact=not any(t.changed.any() for t in known),
            guesses=1.0 if known_before else float(guesses.mean()) if len(guesses) else 0.0,
            question=f"Estimate the largest contribution to a cell within {self.p:g} %",
            positions=np.concatenate([one.cells for one in made]),
            worst=f"the largest contribution is known in {hits.sum():g} of {len(hits)} cells whose "
            f"true total would tell it, such as {'; '.join(names[:5])}"
            if hits.any()
            else "no largest contribution can be estimated that well",
            details={"coalition": knowledge.coalition, "respondent": knowledge.respondent},
        )  # fmt: skip


@dataclass(frozen=True)
class _Danger:
    """The cells of a table whose true total would give the largest contribution away."""

    table: ProtectedTable
    cells: np.ndarray
    largest: np.ndarray
    """The largest contribution to each of them, which is to be estimated."""
    own: np.ndarray
    """What the intruders contribute together."""
    least: np.ndarray
    """The best estimate without a total, from the own contribution alone; 0 for outsiders."""
    p: float

    def hits(self, *, method_known: bool) -> np.ndarray:
        """Return the chance to estimate each contribution well enough."""
        seen = self.table.published[self.cells] - self.own
        if method_known and "moved cells" in self.table.notes and self.table.changed.any():
            both = [self._near(seen / (1 + side * self.p)) for side in (1, -1)]
            return np.asarray(np.mean(both, axis=0))
        return self._near(seen)

    def guesses(self) -> np.ndarray:
        """Return the chance to do so from the own contribution, or the total of another cell."""
        alone = self._near(np.full(len(self.cells), np.nan))
        return np.asarray(np.maximum(alone, self._by_another_total()))

    def _near(self, estimate: np.ndarray) -> np.ndarray:
        """Say which estimates, never below the least, miss by less than p; a tie is a miss."""
        taken = np.fmax(estimate, self.least)
        near = np.abs(taken - self.largest) < (self.p - _DUST) * self.largest
        return np.asarray(near, dtype=float)

    def _by_another_total(self) -> np.ndarray:
        """Return the share of totals of other cells, as many contributors, that would do."""
        units = _parts(self.table).n_units
        chance = np.zeros(len(self.cells))
        for n in np.unique(units[self.cells]):
            alike = np.flatnonzero((units == n) & ~self.table.suppressed)
            rows = np.flatnonzero(units[self.cells] == n)
            chance[rows] = self._share_inside(rows, alike)
        return chance

    def _share_inside(self, rows: np.ndarray, alike: np.ndarray) -> np.ndarray:
        totals = np.sort(self.table.published[alike])
        reach = (self.p - _DUST) * self.largest[rows]
        middle = self.own[rows] + self.largest[rows]
        inside = np.searchsorted(totals, middle + reach) - np.searchsorted(totals, middle - reach)
        itself = self.table.published[self.cells[rows]]
        inside = inside - (np.abs(itself - middle) < reach)
        return np.asarray(inside / np.maximum(len(alike) - np.isfinite(itself), 1))


def _parts(table: ProtectedTable) -> Contributions:
    found = table.original.holdings or table.original.respondents
    if found is None:
        raise DataError("the table does not say who contributes to a cell")
    return found


def _in_danger(table: ProtectedTable, knowledge: Knowledge, p: float) -> _Danger:
    """Return the cells whose true total tells the largest contribution to these intruders."""
    top = np.abs(_parts(table).top)
    first = top[:, 0]
    others = top[:, 1 : 1 + knowledge.coalition] * float(knowledge.respondent)
    own = others.sum(axis=1)
    told = np.abs(table.original.value - own - first) < (p - _DUST) * first
    cells = np.flatnonzero(told & (first > 0))
    least = (1 + p) * others[:, :1].sum(axis=1)
    # A tie with p would count as a miss; just below it is as good.
    return _Danger(table, cells, first[cells], own[cells], (1 - _DUST) * least[cells], p)
