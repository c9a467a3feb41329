"""Which totals of a cell give no respondent away: the four scenarios of M3A."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from tacit.tables._precision import Steps

Interval = tuple[float, float]
_DUST = 1e-9
"""Share of a limit by which rounding errors may miss it."""


@dataclass(frozen=True)
class SafeSet:
    """Totals that may be published: outside the core and outside every band."""

    core: Interval
    """Limits of scenarios I to III; what lies strictly between is unsafe."""
    bands: tuple[Interval, ...]
    """Scenario IV: what lies strictly inside one is unsafe."""
    least: float = 0.0
    """Smallest total that makes sense."""
    steps: Steps | None = None
    """The steps of the source, where only they may be published."""

    def holds(self, total: float) -> bool:
        """Say whether a total may be published."""
        dust = _DUST * max(1.0, abs(total))
        return total >= self.least - dust and not any(
            low + dust < total < high - dust for low, high in (self.core, *self.bands)
        )

    @cached_property
    def intervals(self) -> list[Interval]:
        """The safe totals as closed intervals, lowest first."""
        free: list[Interval] = []
        at = self.least
        for low, high in sorted((self.core, *self.bands)):
            if low > at or (low == at and not free):
                free.append((at, low))
            at = max(at, high)
        free.append((at, inf))
        if self.steps is not None:
            lows, highs = np.array(free).T
            shut = (self.steps.up(lows).tolist(), self.steps.down(highs).tolist())
            free = list(zip(*shut, strict=True))
        return [(low, high) for low, high in free if high >= low]

    def nearest(self, total: float) -> list[float]:
        """Return the nearest safe totals below and above, nearest first."""
        if self.holds(total):
            return [total]
        found = [t for t in (self.next(total, -1), self.next(total, 1)) if t is not None]
        return sorted(found, key=lambda t: abs(t - total))

    def next(self, total: float, side: int) -> float | None:
        """Return the nearest safe total on one side, -1 or 1, or nothing if there is none."""
        if self.holds(total):
            return total
        if side > 0:
            return next(low for low, high in self.intervals if low >= total or high >= total)
        below = [high for _, high in self.intervals if high <= total]
        return below[-1] if below else None


def safe_set(
    known: np.ndarray, m: int, total: float, d: float, phi: int, steps: Steps | None = None
) -> SafeSet:
    """Return the safe totals of a cell of `m` respondents.

    Parameters
    ----------
    known
        The largest contributions, in any order; all of them, or as many as are known.
    m
        Number of respondents.
    total
        Sum of all contributions.
    d
        Share by which every estimate must miss.
    phi
        The respondent of scenario IIIc.
    steps
        Steps that published totals keep to; any numbers unless given.
    """
    y = known[np.argsort(-np.abs(known), kind="stable")]
    # (centre, half width): an estimate is within d of the truth for totals this near the centre.
    limits = [(y[0], d * abs(y[0]))]  # I
    if m >= 2:  # II, IIIa
        limits += [(y[0] + y[1], d * abs(y[1])), (y[0] + y[1], d * abs(y[0]))]
    if m >= 3:
        rest = total - y[0] - y[1]
        limits.append((rest + 2 * y[1], d * abs(rest)))  # IIIb
        last = min(phi, m, len(y)) - 1
        limits += [(last * one + y[last], d * last * abs(one)) for one in y[:last]]  # IIIc
    core = (
        float(min(centre - half for centre, half in limits)),
        float(max(centre + half for centre, half in limits)),
    )
    least = 0.0 if known.min() >= 0 and total >= 0 else -inf
    return SafeSet(core, _bands(y, m, d), least, steps)


def _bands(y: np.ndarray, m: int, d: float) -> tuple[Interval, ...]:
    """Return the totals whose mean is within d of a contribution, Eq. (10) and (11), IV.

    Where not all contributions are known the cell is a crowd: its mean lies near somebody's
    contribution whatever is published, and tells nobody whose.
    """
    if len(y) < m:
        return ()
    bands = [(float(m * one - d * m * abs(one)), float(m * one + d * m * abs(one))) for one in y]
    return tuple(band for band in bands if band[1] > band[0])
