"""Whether sensitive cells resist respondents who know their own cells, wherever these stand.

A movement of a cell that leaves alone what a respondent knows is possible for that respondent,
too. So one movement settles the matter for all respondents it leaves alone, and a movement around
the others for the rest: few programmes for many respondents. Only where none is found for one
respondent the exact interval is worked out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tacit.tables._audit_proof import (
    ANYWHERE,
    SLACK,
    STRETCH,
    SUPPORT,
    Goals,
    Movements,
    missed,
)
from tacit.tables._audit_system import System

FEW = 4
"""Respondents from which on a movement is looked for that meets fewer of them."""
Move = Callable[[int, float, np.ndarray], np.ndarray | None]
"""Finds changes that move a cell by an amount or more and leave some cells alone."""


class Resistance:
    """The respondents that each sensitive cell of one component is not yet shown to resist.

    Parameters
    ----------
    system
        The intruder's system of the component.
    goals
        What must be shown of its cells.
    targets
        Places of the sensitive cells.
    known
        Places that each respondent or coalition knows, by its name.
    """

    def __init__(
        self, system: System, goals: Goals, targets: np.ndarray, known: dict[int, np.ndarray]
    ) -> None:
        self._system, self._known = system, known
        above, below = goals.above, goals.below
        missing = np.maximum(goals.width - above - below, 0.0)
        more = np.minimum(missing, np.maximum(system.upper - above, 0.0))
        self._amount = {1: above + more, -1: below + missing - more}
        self._is_target = np.zeros(len(system), dtype=bool)
        self._is_target[targets] = True
        self._who: dict[int, set[int]] = {}
        for name, places in known.items():
            for place in places.tolist():
                self._who.setdefault(place, set()).add(name)
        self._open: dict[tuple[int, int], set[int]] = {}

    def read(self, change: np.ndarray) -> None:
        """Learn from a movement, stretched and turned round as far as bounds allow."""
        size = np.abs(change)
        support = np.flatnonzero(size > SUPPORT * size.max(initial=0.0))
        if len(support):
            self.learn(support, change[support])

    def learn(self, support: np.ndarray, step: np.ndarray) -> None:
        """Learn from a movement of some places."""
        up, down = self._system.upper[support], -self._system.lower[support]
        with np.errstate(over="ignore"):
            ahead = np.where(step > 0, up, down) / np.abs(step)
            back = np.where(step > 0, down, up) / np.abs(step)
        whole = np.zeros(len(self._system))
        whole[support] = step
        sure_of = np.abs(step) >= missed(self._system, whole) / SLACK
        mine = self._is_target[support] & sure_of
        if not mine.any():
            return
        touched = set().union(*(self._who.get(place, ()) for place in support.tolist()))
        places, moved = support[mine], step[mine]
        for factor in (np.clip(ahead.min(), 1.0, STRETCH), -min(back.min(), STRETCH)):
            for side in (1, -1):
                enough = side * factor * moved >= self._amount[side][places] * (1 - SLACK)
                for place in places[enough].tolist():
                    self._settle((place, side), touched)

    def _settle(self, which: tuple[int, int], touched: set[int]) -> None:
        """Note that only the respondents a movement touches are still open."""
        before = self._open.get(which)
        self._open[which] = touched if before is None else before & touched

    def unshown(
        self, place: int, flows: Movements, nearby: Move, excused: Iterable[int]
    ) -> set[int]:
        """Return the respondents against whom no movement of a cell was found, up or down.

        Movements that leave respondents alone are looked for with `nearby`, which may miss some.
        """
        failed = set()
        pardoned = {name for name in self._who.get(place, ())} | set(excused)
        for side in (1, -1):
            amount = side * float(self._amount[side][place])
            if amount and (place, side) not in self._open:
                self._settle((place, side), set(self._known))
                self._read_if(flows.move(place, amount))
            if amount:
                failed |= self._one_side(place, side, nearby, pardoned)
        return failed

    def _one_side(self, place: int, side: int, nearby: Move, pardoned: set[int]) -> set[int]:
        amount, which = side * float(self._amount[side][place]), (place, side)
        failed: set[int] = set()
        waiting = [sorted(self._open[which] - pardoned)]
        is_short = False
        while waiting:
            group = [name for name in waiting.pop() if name in self._open[which]]
            if not group:
                continue
            change = nearby(place, amount, self._places(group))
            if change is not None:
                self._settle(which, self._open[which] - set(group))
                self.read(change)
            elif len(group) == 1:
                failed.update(group)
            elif len(group) > FEW and not is_short:
                is_short = True
                self._read_if(nearby(place, amount, ANYWHERE))
                waiting.append(group)
            else:
                half = len(group) // 2
                waiting += [group[half:], group[:half]]
        return failed

    def _read_if(self, change: np.ndarray | None) -> None:
        if change is not None:
            self.read(change)

    def _places(self, group: list[int]) -> np.ndarray:
        return np.unique(np.concatenate([self._known[name] for name in group]))
