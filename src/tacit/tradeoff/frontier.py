"""The risk-utility frontier: releases that no other beats on both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import ParameterError, ProtectionError

if TYPE_CHECKING:
    from tacit.core.data import Microdata
    from tacit.core.plan import Plan
    from tacit.core.release import Release

Interval = tuple[float, float]


@dataclass(frozen=True)
class Point:
    """One candidate release on the map."""

    label: str
    """What was done, in plain words."""
    risk: float
    """Disclosure risk; lower is better."""
    utility: float
    """Data utility; higher is better. A loss is shown as a negative number."""
    plan: Plan | None = None
    """The plan behind it, where it is one."""
    risk_interval: Interval | None = None
    """95 % confidence interval of the mean risk, for a plan that draws at random."""
    utility_interval: Interval | None = None
    """95 % confidence interval of the mean utility."""
    group: str = ""
    """Family of the release, for colours."""
    parts: dict[str, float] = field(default_factory=dict, hash=False, compare=False)
    """The measured numbers behind both axes."""
    shortfalls: dict[str, float] = field(default_factory=dict, hash=False, compare=False)
    """For each condition, by how much it is missed, relative to its limit."""
    conditions: dict[str, float] = field(default_factory=dict, hash=False, compare=False)
    """For each condition, the number that was measured."""
    records: int | None = None
    """Number of records it was measured on."""
    replicates: int = 1
    """How often it was drawn."""

    @property
    def is_met(self) -> bool:
        """Whether all conditions are met."""
        return not any(self.shortfalls.values())

    @property
    def shortfall(self) -> float:
        """How far all conditions together are missed."""
        return math.fsum(self.shortfalls.values())

    def precedes(self, other: Point) -> bool:
        """Whether `other` is at least as good on both axes: Eq. (5) of karr2004."""
        return other.risk <= self.risk and other.utility >= self.utility

    def is_like(self, other: Point) -> bool:
        """Whether the noise of random methods does not let the two be told apart."""
        return _overlap(self.risk_interval, other.risk_interval, self.risk, other.risk) and (
            _overlap(self.utility_interval, other.utility_interval, self.utility, other.utility)
        )


@dataclass(frozen=True)
class Frontier:
    r"""Candidate releases, and those of them that no other beats.

    Notes
    -----
    Release :math:`R_1` is no better than :math:`R_2`, Eq. (5) of [karr2004]_, if

    .. math:: R_1 \le_{RU} R_2 \Leftrightarrow DR(R_2) \le DR(R_1) \text{ and } DU(R_2) \ge DU(R_1).

    The frontier holds the maximal elements of this order. Only they need be considered further.

    Examples
    --------
    >>> a, b, c = Point("a", 0.1, 0.5), Point("b", 0.2, 0.9), Point("c", 0.3, 0.6)
    >>> front = Frontier.of([a, b, c])
    >>> [p.label for p in front.points], front.best(max_risk=0.15).label
    (['a', 'b'], 'a')
    """

    points: tuple[Point, ...]
    """Maximal releases, lowest risk first."""
    tried: tuple[Point, ...]
    """All releases that were compared."""
    failed: dict[str, str] = field(default_factory=dict, hash=False)
    """Plans that could not be applied or measured, with the reason."""
    risk_title: str = "disclosure risk"
    utility_title: str = "data utility"
    risk_by_factors: bool = False
    """Whether equal steps of the map are equal factors of the risk."""
    notes: tuple[str, ...] = ()
    """How the search went."""
    original: Microdata | None = field(default=None, compare=False, repr=False)
    seed: int | None = field(default=None, compare=False, repr=False)
    """Seed of the first replicate of each plan; a secret."""
    interrupted: bool = False
    """Whether the search was stopped before its end."""
    n_evaluations: int = 0
    """How many evaluations it took."""

    @classmethod
    def of(cls, releases: Iterable[Point], **about: Any) -> Frontier:
        """Make a frontier of releases of any kind: microdata, tables, query policies."""
        tried = tuple(releases)
        for point in tried:
            if not (math.isfinite(point.risk) and math.isfinite(point.utility)):
                raise ParameterError(
                    "risk and utility of a release are numbers",
                    got=f"{point.label}: {point.risk}, {point.utility}",
                )
        return cls(tuple(maximal(tried)), tried, **about)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def best(
        self,
        *,
        max_risk: float | None = None,
        min_utility: float | None = None,
        by: Callable[[Point], float] | None = None,
    ) -> Point:
        """Return the best release under a bound, or by a function of your own.

        Parameters
        ----------
        max_risk
            Of the releases that are no riskier, take the most useful: Eq. (4) of karr2004.
        min_utility
            Of the releases that are no less useful, take the safest.
        by
            A function of a point; the largest value wins, ties go to the lower risk.
        """
        fitting = [p for p in self.points if p.is_met] or []
        fitting = [p for p in fitting if max_risk is None or p.risk <= max_risk]
        fitting = [p for p in fitting if min_utility is None or p.utility >= min_utility]
        if not fitting:
            raise ProtectionError(
                "no release that was tried meets the bounds", got=self._bounds(), do=self._advice()
            )
        if by is not None:
            return max(fitting, key=lambda p: (by(p), -p.risk))
        if max_risk is None and min_utility is None:
            raise ParameterError("say what best means: max_risk, min_utility or by")
        if min_utility is not None and max_risk is None:
            return min(fitting, key=lambda p: (p.risk, -p.utility))
        return max(fitting, key=lambda p: (p.utility, -p.risk))

    def _bounds(self) -> str:
        if not self.points:
            return "no release at all"
        risks, utilities = self._axes(self.points)
        return (
            f"risk from {risks.min():.4g} to {risks.max():.4g}, utility from "
            f"{utilities.min():.4g} to {utilities.max():.4g}"
        )

    def _advice(self) -> str:
        return "loosen the bound, or search among more candidates"

    def like(self, point: Point) -> list[Point]:
        """Return the other releases that the noise does not let be told from this one."""
        return [p for p in self.tried if p is not point and p.is_like(point)]

    def covers(self, curve: Iterable[Point]) -> tuple[bool, bool]:
        """Say whether every release of a curve is reached, and whether one is surpassed."""
        others = list(curve)
        reached = [any(other.precedes(p) for p in self.points) for other in others]
        surpassed = any(
            other.precedes(p) and (p.risk < other.risk or p.utility > other.utility)
            for other in others
            for p in self.points
        )
        return all(reached), surpassed

    def hypervolume(self, *, max_risk: float, min_utility: float) -> float:
        """Return the area of the map that the frontier dominates, up to a corner."""
        area, floor = 0.0, min_utility
        inside = [p for p in self.points if p.risk <= max_risk and p.utility >= min_utility]
        for point in sorted(inside, key=lambda p: p.risk):
            if point.utility > floor:
                area += (max_risk - point.risk) * (point.utility - floor)
                floor = point.utility
        return area

    def release(self, point: Point) -> Release:
        """Apply the plan of a point to all records, with the seed of the search."""
        if self.original is None or point.plan is None or self.seed is None:
            raise ParameterError("this point has no plan to apply", got=point.label)
        return point.plan.apply(self.original, seed=self.seed)

    def plot(self, *, curves: Sequence[Point] = (), lowest: float | None = None) -> Any:
        """Draw the map: hover shows the plan, a click keeps it in sight.

        Parameters
        ----------
        curves
            Further releases to compare with, joined by lines within their ``group``.
        lowest
            Utility below which releases are not shown.
        """
        from tacit.tradeoff.ru_map import ru_map

        return ru_map(self, curves=curves, lowest=lowest)

    def save(self, path: str | Path) -> Path:
        """Write the map to an HTML or PNG file; the HTML page asks nothing from outside."""
        from tacit.tradeoff.ru_map import ru_map, save_map

        is_picture = Path(path).suffix.lower() == ".png"
        return save_map(ru_map(self, clickable=not is_picture), path)

    @staticmethod
    def _axes(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
        return np.array([p.risk for p in points]), np.array([p.utility for p in points])

    def __str__(self) -> str:
        lines = [f"{'risk':>10}  {'utility':>10}  release"]
        lines += [f"{p.risk:10.4g}  {p.utility:10.4g}  {p.label}" for p in self.points]
        return "\n".join([*lines, *self.notes])


def maximal(points: Iterable[Point]) -> list[Point]:
    """Return the maximal points of the order (5), lowest risk first; of equal ones the first."""
    ordered = sorted(points, key=lambda p: (p.shortfall, p.risk, -p.utility))
    met = [p for p in ordered if p.is_met]
    found: list[Point] = []
    for point in met or ordered[:1]:
        if not found or point.utility > found[-1].utility:
            found.append(point)
    return found


def ranks(points: Sequence[Point]) -> np.ndarray:
    """Return the layer of each point: 0 for the frontier, 1 for that of the rest, and so on."""
    layer = np.full(len(points), -1, dtype=np.int64)
    left = list(range(len(points)))
    number = 0
    while left:
        best = set(map(id, _layer([points[i] for i in left])))
        for i in left:
            if id(points[i]) in best:
                layer[i] = number
        left = [i for i in left if layer[i] < 0]
        number += 1
    return layer


def better(points: Sequence[Point], n: int) -> list[Point]:
    """Return about `n` points of the first layers; of a layer too large, some all along it."""
    layer = ranks(points)
    found: list[Point] = []
    for number in range(int(layer.max(initial=-1)) + 1):
        own = [p for p, at in zip(points, layer, strict=True) if at == number]
        own.sort(key=lambda p: p.risk)
        room = n - len(found)
        if len(own) > room:
            places = np.unique(np.linspace(0, len(own) - 1, room).round().astype(int))
            return found + [own[i] for i in places]
        found += own
    return found


def _layer(points: list[Point]) -> list[Point]:
    """Return the maximal points; releases that miss conditions come after those that meet them."""
    met = [p for p in points if p.is_met]
    return maximal(met) if met else [min(points, key=lambda p: (p.shortfall, p.risk))]


def _overlap(a: Interval | None, b: Interval | None, x: float, y: float) -> bool:
    low, high = a or (x, x)
    other_low, other_high = b or (y, y)
    return low <= other_high and other_low <= high
