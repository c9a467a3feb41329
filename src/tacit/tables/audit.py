"""The attacker: what an intruder can work out of a protected table, cell by cell."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tacit.core.errors import ParameterError
from tacit.tables._audit_attack import Attack, Outcome, Plan, Sum, attack_plan
from tacit.tables._levels import Levels, required_levels
from tacit.tables._respondent_sums import WithSums, respondent_sums, with_respondent_sums
from tacit.tables.protected import ProtectedTable
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class Verdict(StrEnum):
    """What the attack says of a cell."""

    OK = "ok"
    """The interval is as wide as required."""
    NARROW = "too narrow"
    """The interval is narrower than required."""
    DISCLOSED = "exactly disclosed"
    """The value can be worked out."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What an intruder can work out, and whether every sensitive cell holds."""

    table: Table
    """The original table."""
    cells: np.ndarray
    """Positions of the cells attacked."""
    low: np.ndarray
    """Least value the intruder must think possible; where not `exact`, at most this."""
    high: np.ndarray
    """Largest value the intruder must think possible; where not `exact`, at least this."""
    exact: np.ndarray
    """Whether the interval is the true one; else only that it is wide enough was shown."""
    below: np.ndarray
    """Required protection below."""
    above: np.ndarray
    """Required protection above."""
    width: np.ndarray
    """Required width."""
    verdict: np.ndarray
    """Verdict on each cell, as words of `Verdict`."""
    breaches: tuple[Breach, ...] = ()
    """Cells that respondents, knowing their own, can work out too narrowly."""
    sums: tuple[Sum, ...] = ()
    """Intervals of sums of cells that were asked for."""
    respondent_sums: tuple[Sum, ...] = ()
    """Intervals of sums of sensitive cells in which the same respondent is alone."""
    singletons: bool = False
    """Whether respondents who are alone in a cell attacked, and what they have in several."""
    n_insiders: int = 0
    """Respondents and coalitions that attacked."""
    n_cut: int = 0
    """Cells whose requirement went beyond what is known beforehand and was cut to it."""
    n_programs: int = 0
    """Linear programmes solved."""
    seconds: float = 0.0
    """Time taken."""

    @property
    def passed(self) -> bool:
        """Whether every cell attacked holds, against outsiders and insiders."""
        return not len(self.failed) and all(s.holds for s in self.sums)

    @cached_property
    def failed(self) -> np.ndarray:
        """Positions of the cells that do not hold."""
        own = self.cells[self.verdict != Verdict.OK]
        inside = [np.append(breach.others, breach.cell) for breach in self.breaches]
        summed = [one.cells for one in self.respondent_sums if not one.holds]
        return np.unique(np.concatenate([own, *inside, *summed])).astype(np.int64)

    @cached_property
    def frame(self) -> Any:
        """One row per cell attacked: codes, value, interval, requirement, verdict.

        A column that would have the name of a dimension is called ``audit_`` and that name.
        """
        import polars as pl

        keys = [d.name for d in self.table.dimensions] or ["cell"]
        value = self.table.value[self.cells]
        columns = {
            "value": value, "low": self.low, "high": self.high, "exact": self.exact,
            "required_below": self.below, "required_above": self.above,
            "required_width": self.width, "below": value - self.low, "above": self.high - value,
            "verdict": self.verdict.astype(str),
        }  # fmt: skip
        codes = self.table.code_frame[self.cells]
        taken = set(keys)
        for name, given in columns.items():
            while name in taken:
                name = f"audit_{name}"
            taken.add(name)
            codes = codes.with_columns(pl.Series(name, given))
        return codes

    def summary(self) -> str:
        """Say the outcome in a few lines."""
        n = {verdict: int((self.verdict == verdict).sum()) for verdict in Verdict}
        lines = [
            f"Audit {'passed' if self.passed else 'FAILED'}: {len(self.cells):,} cells attacked, "
            f"{n[Verdict.OK]:,} hold, {n[Verdict.NARROW]:,} too narrow, "
            f"{n[Verdict.DISCLOSED]:,} exactly disclosed.",
            self._inside(),
            f"{self.n_programs:,} linear programmes in {self.seconds:.2f} s.",
        ]
        if len(self.failed):
            lines.insert(1, f"Not protected: {self.table.describe(self.failed)}.")
        if self.n_cut:
            lines.append(f"{self.n_cut:,} requirements were cut to what is known beforehand.")
        return "\n".join(lines)

    def _inside(self) -> str:
        """Say what respondents could do, or that they were not asked."""
        if not len(self.cells):
            return "Singletons: there is no sensitive cell that respondents could work out."
        if not self.singletons:
            return (
                "Singletons: not attacked. Respondents who are alone in a suppressed cell know it "
                "and may work out others; attack with singletons=True."
            )
        weak = sum(not one.holds for one in self.respondent_sums)
        return (
            f"Singletons: {self.n_insiders:,} respondents attacked with what they know; "
            f"{len(self.breaches):,} breaches. {len(self.respondent_sums):,} sums of cells of "
            f"one respondent attacked; {weak:,} do not hold."
        )

    def __repr__(self) -> str:
        return f"Audit({'passed' if self.passed else 'failed'}; {len(self.cells)} cells)"


@dataclass(frozen=True, eq=False)
class Breach:
    """A sensitive cell that respondents can work out too narrowly."""

    cell: int
    """Position of the cell."""
    known: np.ndarray = field(repr=False)
    """Positions of the cells these respondents know."""
    low: float
    """Least value they must think possible."""
    high: float
    """Largest value they must think possible."""
    verdict: str
    """What they achieve."""
    others: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    """Further cells, where it is the sum of cells of one respondent that is worked out."""


def audit(
    protected: ProtectedTable,
    *,
    cells: Literal["primary", "all"] | Sequence[int] | np.ndarray = "primary",
    early_stop: bool = True,
    singletons: bool | None = None,
    coalitions: int = 1,
    known_within: float | None = None,
    sums: Iterable[Any] = (),
) -> Audit:
    r"""Attack a protected table as an intruder would and say whether every sensitive cell holds.

    Parameters
    ----------
    protected
        The table as published, with the original beside it.
    cells
        Which suppressed cells to attack: the sensitive ones, all, or positions.
    early_stop
        Stop at each cell once its protection is shown. Without it every interval is exact.
    singletons
        Whether respondents who are alone in a suppressed cell attack with what they know, and
        whether what one respondent has in several sensitive cells together is attacked. Unless
        said, as the protection claims in its notes.
    coalitions
        How many such respondents in one relation pool what they know.
    known_within
        Percentage within which the intruder knows every value beforehand.
    sums
        Sums of cells to attack: positions, or ``(positions, below, above)`` with a requirement.

    Returns
    -------
    Audit
        Intervals, requirements, verdicts.

    Notes
    -----
    With suppressed cells :math:`S`, the intruder's interval of cell :math:`p` is

    .. math:: \Bigl[x_p + \min \delta_p,\; x_p + \max \delta_p\Bigr] \quad\text{subject to}\quad
       \sum_{i \in S} r_{ki}\,\delta_i = 0 \;\;\forall k,\quad
       l_i - x_i \le \delta_i \le u_i - x_i,

    the attacker's problem of [fischetti2001]_. All relations are used at once, so linked
    tables are audited exactly. A requirement is cut to what is known beforehand.

    With `singletons`, :math:`\delta` is zero also at the cells in which the intruder is alone, and
    every sensitive cell that these relations reach is attacked, beside them or far away. Sensitive
    cells in which the same respondent is alone are attacked together, too: their sum needs the
    protection that they need together. Of up to four such cells all sums are attacked, of more
    those within a relation, pairs (in relations with up to eight) and the sum of all.

    The attack that is made unless something else is asked for is made once: protections that
    attack their own pattern, checks and releases share it.

    A table with changed values is attacked through the intervals its protection claims users can
    derive (``notes["intervals"]``); without such a claim it is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from tacit.tables import ProtectedTable, Sensitive, Table
    >>> table = Table(np.array([60.0, 10, 20, 30]), csr_array([[-1.0, 1, 1, 1]]))
    >>> sensitive = Sensitive.by("small", np.array([False, True, False, False]), above=2.0)
    >>> hidden = np.array([False, True, True, False])
    >>> found = audit(ProtectedTable.suppressing(table, sensitive, hidden, ""), early_stop=False)
    >>> found.passed, float(found.low[0]), float(found.high[0])
    (True, 0.0, 30.0)

    Raises
    ------
    DataError
        If values were changed and the protection does not say what users may conclude from them.
    """
    if known_within is not None and not known_within > 0:
        raise ParameterError("known_within must be a percentage above 0", got=known_within)
    if singletons is None:
        singletons = coalitions > 1 or bool(protected.notes.get("singletons", False))
    asked = _Asked(cells, early_stop, singletons, coalitions, known_within, tuple(sums))
    if not asked.is_usual:
        return _made(protected, asked)
    mark = (singletons, _fingerprint(protected))
    if mark not in protected.attacks:
        protected.attacks[mark] = _made(protected, asked)
    return protected.attacks[mark]


@dataclass(frozen=True)
class _Asked:
    """What an attack is asked for."""

    cells: Any
    early_stop: bool
    singletons: bool
    coalitions: int
    known_within: float | None
    sums: tuple[Any, ...]

    @property
    def is_usual(self) -> bool:
        """Whether it is the attack that protections, checks and releases all make."""
        alone = self.coalitions <= 1 and self.known_within is None and not self.sums
        return alone and self.early_stop and isinstance(self.cells, str) and self.cells == "primary"


def _fingerprint(protected: ProtectedTable) -> bytes:
    """Return what tells whether numbers were changed in place since an attack was made."""
    table, found = protected.original, protected.sensitive
    sha = hashlib.sha256()
    arrays = (protected.published, table.value, *table.bounds, table.relations.data)
    for array in (*arrays, found.cells, found.below, found.above, found.width):
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.digest()


def _made(protected: ProtectedTable, asked: _Asked) -> Audit:
    started = time.perf_counter()
    singletons = asked.singletons
    plan = attack_plan(protected, asked.known_within)
    chosen = _chosen(asked.cells, plan.hidden, protected)
    wider = _with_sums(protected, plan, chosen) if singletons else None
    if wider is not None:
        plan = _wider_plan(plan, wider)
    sensitive = _not_waived(protected) if wider is None else wider.sensitive
    levels = required_levels(plan.table, sensitive, plan.bounds)
    added = np.arange(protected.original.n_cells, plan.table.n_cells)
    attack = Attack(plan, levels, np.concatenate([chosen, added]), exact=not asked.early_stop)
    outcome = attack.outsider()
    if singletons:
        attack.insiders(max(asked.coalitions, 1))
    found = _verdicts(protected, levels, chosen, outcome, attack)
    return replace(
        found, singletons=singletons, sums=attack.sums(asked.sums, protected.original.n_cells),
        respondent_sums=_sums_found(wider, levels, outcome),
        n_programs=attack.n_programs, seconds=time.perf_counter() - started,
        **_breaches(attack, wider),
    )  # fmt: skip


def _not_waived(protected: ProtectedTable) -> Sensitive:
    waived = protected.original.waived
    return protected.sensitive if waived is None else protected.sensitive.without(waived)


def _with_sums(protected: ProtectedTable, plan: Plan, chosen: np.ndarray) -> WithSums | None:
    """Return the table with the sums of single respondents, where there are any.

    Cells that no chain of relations joins vary freely of each other: their sum holds if they do.
    """
    table, sensitive = protected.original, _not_waived(protected)
    some = np.zeros(table.n_cells, dtype=bool)
    some[chosen] = True
    some &= plan.hidden
    if not respondent_sums(table, some & sensitive.cells):
        return None
    nothing = Attack(plan, required_levels(table, sensitive, plan.bounds), chosen, exact=False)
    among = np.where(some, nothing.component, -1)
    made = with_respondent_sums(table, sensitive, among)
    return made if made.sums else None


def _wider_plan(plan: Plan, wider: WithSums) -> Plan:
    lower, upper = (wider.summed(side) for side in plan.bounds)
    hidden, primary = (wider.widened(flags, fill=True) for flags in (plan.hidden, plan.primary))
    return Plan(wider.table, hidden, (lower, upper), primary)


def _sums_found(wider: WithSums | None, levels: Levels, outcome: Outcome) -> tuple[Sum, ...]:
    """Return what outsiders find of the sums of single respondents."""
    if wider is None:
        return ()
    value, n = wider.table.value, wider.n_cells
    return tuple(
        Sum(cells, float(value[k]), float(value[k] + outcome.low[k]),
            float(value[k] + outcome.high[k]), float(levels.below[k]), float(levels.above[k]),
            float(levels.width[k]))
        for k, cells in enumerate(wider.sums, start=n)
    )  # fmt: skip


def _chosen(cells: Any, hidden: np.ndarray, protected: ProtectedTable) -> np.ndarray:
    """Return the positions to attack; a sensitive cell that is published counts among them."""
    primary = protected.sensitive.cells
    if isinstance(cells, str):
        if cells not in ("primary", "all"):
            raise ParameterError("cells must be 'primary', 'all' or positions", got=cells)
        return np.flatnonzero(primary | hidden if cells == "all" else primary)
    chosen = np.unique(np.asarray(cells, dtype=np.int64))
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= protected.original.n_cells):
        raise ParameterError("there is no cell at that position", got=int(chosen[-1]))
    return chosen


def _verdicts(
    protected: ProtectedTable, levels: Levels, chosen: np.ndarray, outcome: Outcome, attack: Attack
) -> Audit:
    """Return what outsiders find of each cell."""
    table, plan = protected.original, attack.plan
    low, high = outcome.low[chosen], outcome.high[chosen]
    met, point = attack.met(chosen, low, high), attack.is_point(chosen, low, high)
    exposed = (plan.primary & ~plan.hidden)[chosen]
    bad = plan.primary[chosen] & (~met | exposed)
    verdict = np.select([bad & point, bad], [Verdict.DISCLOSED, Verdict.NARROW], Verdict.OK)
    value = table.value[chosen]
    return Audit(
        table=table, cells=chosen, low=value + low, high=value + high,
        exact=outcome.exact[chosen], below=levels.below[chosen], above=levels.above[chosen],
        width=levels.width[chosen], verdict=verdict.astype(object),
        n_cut=int(levels.cut[chosen].sum()),
    )  # fmt: skip


def _breaches(attack: Attack, wider: WithSums | None) -> dict[str, Any]:
    """Return what respondents find, in terms of the cells of the table."""
    value, found = attack.plan.table.value, []
    n = len(value) if wider is None else wider.n_cells
    for one in attack.breaches:
        cells = np.array([one.cell]) if one.cell < n or wider is None else wider.sums[one.cell - n]
        low, high = value[one.cell] + one.low, value[one.cell] + one.high
        verdict = str(Verdict.DISCLOSED if one.point else Verdict.NARROW)
        found.append(Breach(int(cells[0]), one.known[one.known < n], low, high, verdict, cells[1:]))
    return {"breaches": tuple(found), "n_insiders": attack.n_insiders}
