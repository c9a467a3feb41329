"""The attacker: what an intruder can work out of a protected table, cell by cell."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tacit.core.errors import ParameterError
from tacit.tables._audit_attack import Attack, Outcome, Sum, attack_plan
from tacit.tables._levels import Levels, required_levels
from tacit.tables.protected import ProtectedTable
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
        return np.union1d(own, [breach.cell for breach in self.breaches]).astype(np.int64)

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
        codes = self.table.frame.select(keys)[self.cells]
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
            f"{self.n_insiders:,} respondents attacked with what they know; "
            f"{len(self.breaches):,} breaches.",
            f"{self.n_programs:,} linear programmes in {self.seconds:.2f} s.",
        ]
        if len(self.failed):
            lines.insert(1, f"Not protected: {self.table.describe(self.failed)}.")
        if self.n_cut:
            lines.append(f"{self.n_cut:,} requirements were cut to what is known beforehand.")
        return "\n".join(lines)

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
        Whether respondents who are alone in a suppressed cell attack the sensitive cells beside
        it; the same respondent alone in several cells knows them all. Unless said, as the
        protection claims in its notes.
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
    started = time.perf_counter()
    if known_within is not None and not known_within > 0:
        raise ParameterError("known_within must be a percentage above 0", got=known_within)
    plan = attack_plan(protected, known_within)
    waived = protected.original.waived
    sensitive = protected.sensitive if waived is None else protected.sensitive.without(waived)
    levels = required_levels(protected.original, sensitive, plan.bounds)
    chosen = _chosen(cells, plan.hidden, protected)
    attack = Attack(plan, levels, chosen, exact=not early_stop)
    outcome = attack.outsider()
    if singletons is None:
        singletons = coalitions > 1 or bool(protected.notes.get("singletons", False))
    if singletons:
        attack.insiders(max(coalitions, 1))
    results = attack.sums(sums)
    exposed = (plan.primary & ~plan.hidden)[chosen]
    return _verdicts(protected, levels, chosen, outcome, attack, exposed, results, started)


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
    protected: ProtectedTable,
    levels: Levels,
    chosen: np.ndarray,
    outcome: Outcome,
    attack: Attack,
    exposed: np.ndarray,
    results: tuple[Sum, ...],
    started: float,
) -> Audit:
    table = protected.original
    met = attack.met(chosen, outcome.low[chosen], outcome.high[chosen])
    point = attack.is_point(chosen, outcome.low[chosen], outcome.high[chosen])
    bad = attack.plan.primary[chosen] & (~met | exposed)
    verdict = np.select([bad & point, bad], [Verdict.DISCLOSED, Verdict.NARROW], Verdict.OK)
    value = table.value[chosen]
    return Audit(
        table=table, cells=chosen,
        low=value + outcome.low[chosen], high=value + outcome.high[chosen],
        exact=outcome.exact[chosen], below=levels.below[chosen], above=levels.above[chosen],
        width=levels.width[chosen], verdict=verdict.astype(object),
        breaches=tuple(
            Breach(b.cell, b.known, table.value[b.cell] + b.low, table.value[b.cell] + b.high,
                   str(Verdict.DISCLOSED if b.point else Verdict.NARROW))
            for b in attack.breaches
        ),
        sums=results, n_insiders=attack.n_insiders, n_cut=int(levels.cut[chosen].sum()),
        n_programs=attack.n_programs, seconds=time.perf_counter() - started,
    )  # fmt: skip
