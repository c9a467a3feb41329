"""Survival curves from tables of events by time."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from pydantic import Field

from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer, Refused
from tacit.query.evidence import MARGIN, Cells

_WORDS = Annotated[str, Field(max_length=200)]


class Survival(
    Analysis,
    key="survival",
    title="Survival curve (Kaplan-Meier)",
    cites=("kaplan1958",),
    example={"time": "age", "status": "employed", "event": "true"},
):
    r"""Estimate how many units are still without an event after each time.

    The curve is :math:`\hat S(t) = \prod_{t_k \le t} (1 - d_k / n_k)` with :math:`d_k` events among
    :math:`n_k` units at risk in interval k; its standard error is Greenwood's. Times are the public
    bins of the variable, neighbours joined until each has enough events, so that no step of the
    curve is about a few units. Units whose time or status is missing are left out. The counts are
    those of a table, under all rules of tables.

    Weights play no part. A unit may be a household.

    Examples
    --------
    >>> Survival(time="months", status="died", event="yes").variables().categories
    ('months', 'died')
    """

    time: _WORDS
    """Numeric variable: time of the event, or until the unit was last seen."""
    status: _WORDS
    """Variable that says whether the event happened."""
    event: _WORDS
    """The category of `status` that is the event; all others are censored."""
    by: _WORDS | None = None
    """Variable whose categories have a curve each."""
    least: Annotated[int, Ge(1)] = 10
    """Fewest events and fewest units of an interval; intervals with fewer are joined."""

    @property
    def tells_margins(self) -> bool:
        """No: margins are not even read."""
        return False

    def variables(self) -> Needs:
        """Return the variables."""
        names = [self.time, self.status, *([self.by] if self.by else [])]
        if len(set(names)) < len(names):
            raise Refused("request", "time, status and groups must be different variables")
        return Needs(categories=tuple(names))

    def gather(self, view: View) -> Cells:
        """Count events and other endings by interval, joining intervals that are too small."""
        labels = view.schema.variable(self.status).labels
        if self.event not in labels:
            raise Refused("request", "the status has no such category")
        names = [self.time, self.status, *([self.by] if self.by else [])]
        cells = view.table(names, margins=False)
        return _joined(cells, labels.index(self.event), self.least)

    def compute(self, evidence: Cells) -> Answer:
        """Return the curve, from the latest interval's end backwards to everybody at the start."""
        groups = evidence.labels[2] if len(evidence.labels) > 2 else (None,)
        columns: dict[str, list[Any]] = {"until": [], "survival": [], "standard_error": []}
        if self.by:
            columns = {self.by: [], **columns}
        for code, group in enumerate(groups):
            if group == "missing":
                continue
            curve = _curve(_counts(evidence, code if self.by else None))
            for row in zip(evidence.labels[0], *curve, strict=True):
                shown = (group, *row) if self.by else row
                for name, cell in zip(columns, shown, strict=True):
                    columns[name].append(cell)
        return Answer(
            analysis=self.key,
            columns=columns,
            notes=("times are joined into intervals with enough events",),
        )


def _joined(cells: Cells, event: int, least: int) -> Cells:
    """Return the table with intervals of time joined, and status made event or no event."""
    times = cells.labels[0]
    known = [c for c, label in enumerate(times) if label != "missing"]
    place = _intervals(cells, event, least, known)
    statuses = cells.labels[1]
    turned = np.array(
        [MARGIN if s == "missing" else int(c == event) for c, s in enumerate(statuses)]
    )
    codes = cells.codes.copy()
    codes[:, 0] = np.where(np.isin(codes[:, 0], known), place[codes[:, 0]], MARGIN)
    codes[:, 1] = turned[codes[:, 1]]
    kept = (codes != MARGIN).all(axis=1)
    n_steps = int(place[known].max()) + 1 if known else 0
    ends = tuple(times[max(c for c in known if place[c] == s)] for s in range(n_steps))
    labels = (ends, ("censored", "event"), *cells.labels[2:])
    joined = np.where(np.isin(np.arange(len(times)), known), place, MARGIN)
    joins = (joined, turned, None)[: len(cells.by)]
    return _summed(cells, codes, kept, labels).with_(joins=joins)


def _intervals(cells: Cells, event: int, least: int, known: list[int]) -> np.ndarray:
    """Return the interval of each time: neighbours are joined until every group has enough."""
    n_groups = len(cells.labels[2]) if len(cells.labels) > 2 else 1
    counts = np.zeros((len(cells.labels[0]), n_groups, 2), dtype=np.int64)
    group = cells.codes[:, 2] if len(cells.labels) > 2 else np.zeros(len(cells), dtype=int)
    np.add.at(
        counts, (cells.codes[:, 0], group, (cells.codes[:, 1] == event).astype(int)), cells.units
    )
    used = counts[:, counts.sum(axis=(0, 2)) > 0]
    place, step, held = np.zeros(len(counts), dtype=int), 0, np.zeros(used.shape[1:], dtype=int)
    for at, code in enumerate(known):
        held = held + used[code]
        rest = used[known[at + 1 :]].sum(axis=0)
        place[code] = step
        # A new interval begins only where what follows can fill one, so the last is not small.
        if (held >= least).all() and (rest >= least).all():
            step, held = step + 1, np.zeros_like(held)
    return place


def _summed(cells: Cells, codes: np.ndarray, kept: np.ndarray, labels: Any) -> Cells:
    """Add up the cells that now have the same codes."""
    from tacit.tables.perturb.record_keys import MODULUS

    shape = tuple(map(len, labels))
    size = int(np.prod(shape))
    flat = np.ravel_multi_index(tuple(codes[kept].T), shape) if size else np.zeros(0, dtype=int)

    def added(part: np.ndarray) -> np.ndarray:
        whole = np.zeros((size, *part.shape[1:]), dtype=part.dtype)
        np.add.at(whole, flat, part[kept])
        return whole

    new = np.array(np.unravel_index(np.arange(size), shape)).T.reshape(size, len(shape))
    return Cells(
        by=cells.by, labels=labels, codes=new, n=added(cells.n), units=added(cells.units),
        keys=added(cells.keys) % MODULUS, weight=added(cells.weight),
    )  # fmt: skip


def _counts(cells: Cells, group: int | None) -> np.ndarray:
    """Return published numbers without and with the event, by interval."""
    found = np.zeros((len(cells.labels[0]), 2))
    at = slice(None) if group is None else cells.codes[:, 2] == group
    codes = cells.codes[at]
    found[codes[:, 0], codes[:, 1]] = cells.count[at]
    return found


def _curve(counts: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    """Return the survival and its standard error after each interval; None from a gap on."""
    at_risk = counts.sum(axis=1)[::-1].cumsum()[::-1]
    events = np.minimum(counts[:, 1], at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(at_risk > 0, 1 - events / at_risk, np.nan)
        part = events / (at_risk * (at_risk - events))
    survival = np.cumprod(step)
    # Greenwood's formula.
    error = survival * np.sqrt(np.cumsum(np.where(np.isfinite(part), part, 0.0)))
    return _shown(survival), _shown(np.where(np.isfinite(survival), error, np.nan))


def _shown(values: np.ndarray) -> list[float | None]:
    return [round(float(v), 4) if np.isfinite(v) else None for v in values]
