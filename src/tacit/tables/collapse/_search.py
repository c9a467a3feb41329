"""The search for the coarser table that loses least and leaves few enough cells sensitive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np

from tacit.core.progress import track
from tacit.tables.collapse._coarsening import Step
from tacit.tables.collapse._collapsing import Collapsing, Designs, _with

Loss = Callable[[Designs], float]
_SAME = 1e-9
"""Losses nearer than this share of the largest are the same."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found."""

    designs: Designs | None
    """The best table; nothing if there is none that is safe."""
    loss: float
    least: float
    """No safe table loses less."""
    proved: bool
    """Whether none loses less, or where none was found, whether there is none."""
    looked_at: int
    """How many tables were judged."""


@dataclass(frozen=True, eq=False)
class _Node:
    """A table with its sensitive cells and its loss."""

    designs: Designs
    cells: np.ndarray
    loss: float


class Search:
    """Looks for a coarser table in which at most `allow` cells are sensitive."""

    def __init__(self, among: Collapsing, loss: Loss, allow: int) -> None:
        self.among, self.loss, self.allow = among, loss, allow
        start = among.sensitive_at(among.start)
        self.start = _Node(among.start, start, loss(among.start))
        self.slack = _SAME * max(loss(among.coarsest), 1e-300)
        self.looked_at = 1
        self._losses: dict[Designs, float] = {}

    def best(self, *, width: int, limit: int) -> Found:
        """Return the best table: that of the beam, or a better one that the exact search finds."""
        if self.safe(self.start):
            return Found(self.start.designs, self.start.loss, self.start.loss, True, 1)
        best = self._last_resort()
        if best is None and self._decided():
            return Found(None, np.inf, np.inf, True, self.looked_at)
        with track("merging categories", limit) as advance:
            best = self._beam(width, best)
            best, least, proved = self._exact(limit, best, advance)
        if best is None:
            return Found(None, np.inf, least, proved, self.looked_at)
        return Found(best.designs, best.loss, least, proved, self.looked_at)

    def safe(self, node: _Node) -> bool:
        """Return whether few enough cells are sensitive."""
        return len(node.cells) <= self.allow

    def _last_resort(self) -> _Node | None:
        """Return the coarsest table if it is safe."""
        designs = self.among.coarsest
        node = _Node(designs, self.among.sensitive_at(designs), self.loss(designs))
        return node if self.safe(node) else None

    def _decided(self) -> bool:
        """Return whether the cells of the coarsest table are in every other: totals alone."""
        return all(
            len(way.present(design)) == 1
            for way, design in zip(self.among.ways, self.among.coarsest, strict=True)
        )

    # -- from one table to the next -------------------------------------------------------------

    def _steps(self, node: _Node) -> tuple[list[tuple[int, Step]], float]:
        """Return changes of which every safe coarser table has one, and the least loss after it.

        If `allow` cells may stay sensitive, one of any `allow` + 1 sensitive cells must go.
        """
        if self.among.looks_around:
            every = [
                (k, step)
                for k, (way, design) in enumerate(zip(self.among.ways, node.designs, strict=True))
                for step in way.steps(design)
            ]
            return self._distinct(every), node.loss
        price: list[float] = []
        ways: list[list[tuple[int, Step]]] = []
        by_code: dict[tuple[int, int], list[tuple[int, Step]]] = {}
        for cell in node.cells.tolist():
            steps = []
            for k, axis in enumerate(self.among.axes):
                if (k, cell[axis]) not in by_code:
                    found = self.among.ways[k].steps_of(node.designs[k], cell[axis])
                    by_code[k, cell[axis]] = [(k, step) for step in found]
                steps += by_code[k, cell[axis]]
            ways.append(steps)
            price.append(min((self._after(node, k, s) for k, s in steps), default=np.inf))
        order = sorted(range(len(ways)), key=lambda i: (-price[i], len(ways[i]), i))
        first = order[: self.allow + 1]
        return self._distinct([s for i in first for s in ways[i]]), min(price[i] for i in first)

    def _distinct(self, steps: list[tuple[int, Step]]) -> list[tuple[int, Step]]:
        return list({(k, step.design): (k, step) for k, step in steps}.values())

    def _after(self, node: _Node, k: int, step: Step) -> float:
        designs = _with(node.designs, k, step.design)
        if designs not in self._losses:
            self._losses[designs] = self.loss(designs)
        return self._losses[designs]

    def _children(self, node: _Node, steps: list[tuple[int, Step]]) -> list[_Node]:
        cells = self.among.sensitive_after(node.designs, node.cells, steps)
        self.looked_at += len(steps)
        return [
            _Node(_with(node.designs, k, step.design), found, self._after(node, k, step))
            for (k, step), found in zip(steps, cells, strict=True)
        ]

    # -- the beam -------------------------------------------------------------------------------

    def _beam(self, width: int, best: _Node | None) -> _Node | None:
        """Return the best table on the way of a few at a time, and not worse than another."""
        beam, seen = [self.start], {self.start.designs}
        while beam:
            reached: list[_Node] = []
            for node in beam:
                steps = [
                    (k, s) for k, s in self._steps(node)[0]
                    if _with(node.designs, k, s.design) not in seen
                    and self._worth(self._after(node, k, s), best)
                ]  # fmt: skip
                seen |= {_with(node.designs, k, s.design) for k, s in steps}
                reached += self._children(node, steps)
            for node in reached:
                if self.safe(node) and self._worth(node.loss, best):
                    best = node
            going = [n for n in reached if not self.safe(n) and self._worth(n.loss, best)]
            beam = sorted(going, key=self._promise)[:width]
        return best

    def _worth(self, loss: float, best: _Node | None) -> bool:
        return best is None or loss < best.loss - self.slack

    def _promise(self, node: _Node) -> float:
        """Return the loss per sensitive cell that went; without any, no promise but by loss."""
        gone = len(self.start.cells) - len(node.cells)
        spent = node.loss - self.start.loss + self.slack
        return spent / gone if gone > 0 else 1e300 * (1 - 1 / (2 + spent))

    # -- the proof ------------------------------------------------------------------------------

    def _exact(
        self, limit: int, best: _Node | None, advance: Callable[[float], None]
    ) -> tuple[_Node | None, float, bool]:
        """Return the best of all tables, by the least loss first, unless the limit comes before."""
        number = count()
        queue = [(self.start.loss, next(number), self.start)]
        seen = {self.start.designs}
        before = self.looked_at
        while queue:
            least, _, node = heappop(queue)
            if not self._worth(least, best):
                break
            if self.safe(node):
                best = node
                break
            if self.looked_at - before >= limit:
                return best, least, False
            steps, after = self._steps(node)
            if not steps:
                continue
            if after > least + self.slack:  # what it loses at least was not known yet
                if self._worth(after, best):
                    heappush(queue, (after, next(number), node))
                continue
            steps = [
                (k, s) for k, s in steps
                if (designs := _with(node.designs, k, s.design)) not in seen
                and not seen.add(designs)  # type: ignore[func-returns-value]
                and self._worth(self._after(node, k, s), best)
            ]  # fmt: skip
            advance(len(steps))
            for child in self._children(node, steps) if steps else ():
                heappush(queue, (max(child.loss, least), next(number), child))
        return best, np.inf if best is None else best.loss, True
