"""Ways to make a classification coarser: siblings become one code, or a branch is cut.

A design of a classification is a tuple with an entry per code: the position of the first of the
codes that it is merged with (its own if none), or -1 if it is no longer there because a code above
it is no longer broken down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from tacit.tables._records import MISSING_LABEL
from tacit.tables.dimension import Dimension

GONE = -1
_LONGEST = 40
_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?")

Design = tuple[int, ...]


class Step(NamedTuple):
    """One change of a design."""

    design: Design
    """The design after it."""
    members: tuple[int, ...]
    """Codes that are one after it, all by their position in the original; none if a branch is cut.
    """


class Coarsening:
    """The designs of one classification.

    Only codes that are parts of the same sums are merged, together with all below them, and next
    to each other if the classification is ordered. Codes that must stay are left alone.
    """

    def __init__(self, dimension: Dimension, *, ordered: bool, stays: np.ndarray) -> None:
        self.dimension, self.ordered, self.stays = dimension, ordered, stays
        n = len(dimension.codes)
        self.start: Design = tuple(range(n))
        self._parts_of: list[list[int]] = [[] for _ in range(n)]
        for number, (_, children) in enumerate(dimension.sums):
            for child in children.tolist():
                self._parts_of[child].append(number)
        self.below = self._below()
        self._last: tuple[Design, dict[int, tuple[int, ...]]] = ((), {})
        self._broken_down = [code for code in range(n) if self.below[code]]
        self.can_end = [self._can_end(code) for code in range(n)]

    def _below(self) -> list[frozenset[int]]:
        """Return all codes below each code."""
        below: list[frozenset[int]] = [frozenset()] * len(self.start)
        pending = [0] if self.start else []
        done = [False] * len(self.start)
        while pending:
            code = pending[-1]
            parts = {int(c) for group in self.dimension.breakdowns.get(code, []) for c in group}
            first = [c for c in parts if not done[c]]
            pending += first
            if not first:
                below[code] = frozenset(parts.union(*(below[c] for c in parts)))
                done[pending.pop()] = True
        return below

    def _can_end(self, code: int) -> bool:
        """Return whether all below a code may go: none must stay, none is part of another sum."""
        inside = self.below[code] | {code}
        sums = {number for c in self.below[code] for number in self._parts_of[c]}
        return not self.stays[list(self.below[code])].any() and all(
            self.dimension.sums[number][0] in inside for number in sums
        )

    @cached_property
    def coarsest(self) -> Design:
        """The design in which as much is merged as may be."""
        if self.can_end[0]:
            return self._cut(self.start, 0).design
        design = self.start
        while step := next(self.steps(design), None):
            design = step.design
        return design

    # -- steps ----------------------------------------------------------------------------------

    def steps(self, design: Design) -> Iterator[Step]:
        """Yield every smallest change of a design."""
        for code in self.present(design):
            yield from self.steps_of(design, code)

    def present(self, design: Design) -> list[int]:
        """Return the codes of a design, merged ones by the first of each."""
        return [code for code, held in enumerate(design) if code == held]

    def steps_of(self, design: Design, code: int) -> Iterator[Step]:
        """Yield the changes after which a code is no longer there as it is.

        Every coarser design without the code is reached from one of them.
        """
        if not self.stays[code]:
            for other in self._partners(design, code):
                yield self._merge(design, code, other)
        yield from (self._cut(design, top) for top in self._tops(code))

    def _free(self, code: int) -> bool:
        return not self.stays[code] and self.can_end[code]

    def _partners(self, design: Design, code: int) -> list[int]:
        """Return the codes that a code may be merged with."""
        if not self._parts_of[code] or not self._free(code):
            return []
        children = self.dimension.sums[self._parts_of[code][0]][1].tolist()
        here = [c for c in children if design[c] == c]
        if self.ordered:
            if self._loose(code):
                return []
            here = self._in_order([c for c in here if not self._loose(c)])
            at = here.index(code)
            here = here[max(at - 1, 0) : at + 2]
        alike = self._parts_of[code]
        return [c for c in here if c != code and self._parts_of[c] == alike and self._free(c)]

    def _loose(self, code: int) -> bool:
        """Return whether a code has no place in an order."""
        return self.dimension.codes[code] == MISSING_LABEL

    def _in_order(self, siblings: list[int]) -> list[int]:
        """Return siblings in order: by size if all begin with a number, else as they stand."""
        numbers = [_NUMBER.match(self.dimension.codes[c]) for c in siblings]
        if not all(numbers):
            return siblings
        size = {c: float(m.group()) for c, m in zip(siblings, numbers, strict=True) if m}
        return sorted(siblings, key=lambda c: size[c])

    def _tops(self, code: int) -> list[int]:
        """Return the nearest codes above that may be cut so that a code is gone."""
        found, level = [], {self.dimension.sums[g][0] for g in self._parts_of[code]}
        while level:
            found += [top for top in sorted(level) if self.can_end[top]]
            level = {
                self.dimension.sums[g][0]
                for top in level
                if not self.can_end[top]
                for g in self._parts_of[top]
            }
        return found

    def _cut(self, design: Design, top: int) -> Step:
        after = list(design)
        for code in self.below[top]:
            after[code] = GONE
        return Step(tuple(after), ())

    def _merge(self, design: Design, one: int, two: int) -> Step:
        members = self._held(design, one) + self._held(design, two)
        groups = self._parts_of[one]
        if len(groups) == 1:
            top, children = self.dimension.sums[groups[0]]
            if len(children) == len(members) and self.can_end[top]:
                return self._cut(design, top)
        after, first = list(design), min(members)
        for code in members:
            after[code] = first
            for ended in self.below[code]:
                after[ended] = GONE
        return Step(tuple(after), tuple(sorted(members)))

    def _held(self, design: Design, first: int) -> tuple[int, ...]:
        """Return the codes that are merged into one."""
        if design is not self._last[0]:
            held: dict[int, list[int]] = {}
            for code, into in enumerate(design):
                held.setdefault(into, []).append(code)
            self._last = design, {into: tuple(codes) for into, codes in held.items()}
        return self._last[1][first]

    # -- what a design looks like ---------------------------------------------------------------

    def merged(self, design: Design) -> dict[str, tuple[str, ...]]:
        """Return the codes that stand for others, with the finest codes each stands for."""
        names = self.names(design)
        leaves = set(self.dimension.leaves)
        codes = self.dimension.codes
        made = {}
        for code in self.present(design):
            members = self.members(design, code)
            ended = self.below[code] and all(design[c] == GONE for c in self.below[code])
            if len(members) > 1 or ended:
                held = chain.from_iterable((m, *sorted(self.below[m])) for m in members)
                made[names[code]] = tuple(codes[c] for c in held if codes[c] in leaves)
        return made

    def members(self, design: Design, code: int) -> list[int]:
        """Return the codes that are merged into one, in their order."""
        found = list(self._held(design, code))
        return self._in_order(found) if self.ordered else found

    def into(self, design: Design) -> np.ndarray:
        """Return for each code the first of those that it is counted in now."""
        place = np.array(design, dtype=np.int64)
        for code in self._broken_down:
            below = self.below[code]
            if design[code] != GONE and all(design[c] == GONE for c in below):
                place[list(below)] = design[code]
        return place

    def names(self, design: Design) -> dict[int, str]:
        """Return the name of each code of a design."""
        codes, taken = self.dimension.codes, set(self.dimension.codes)
        names: dict[int, str] = {}
        for code in self.present(design):
            old = [codes[c] for c in self.members(design, code)]
            name = _joined(old, run=self.ordered) if len(old) > 1 else old[0]
            while len(old) > 1 and name in taken:
                name += "*"
            taken.add(name)
            names[code] = name
        return names

    def result(self, design: Design) -> tuple[Dimension, np.ndarray]:
        """Return the classification of a design, and the new place of each old code or -1."""
        names, old = self.names(design), self.dimension
        groups: dict[tuple[str, tuple[str, ...]], None] = {}
        for parent, children in old.sums:
            parts = [c for c in children.tolist() if design[c] != GONE]
            if design[parent] == parent and parts:
                held = tuple(dict.fromkeys(names[design[c]] for c in parts))
                groups[names[parent], held] = None
        labels = {}
        for code, name in names.items():
            words = [old.labels.get(old.codes[c]) for c in self.members(design, code)]
            if all(words):
                labels[name] = "; ".join(str(word) for word in words)
        made = old.replace(codes=tuple(names.values()), groups=tuple(groups), labels=labels)
        place = [GONE if held == GONE else made.index[names[held]] for held in design]
        return made, np.array(place, dtype=np.int64)


def _joined(codes: list[str], *, run: bool) -> str:
    """Return a name for codes taken together.

    Examples
    --------
    >>> _joined(["a", "b"], run=False), _joined(["10", "20", "30"], run=True)
    ('a+b', '10 to 30')
    """
    if run and len(codes) > 2:
        return f"{codes[0]} to {codes[-1]}"
    name = "+".join(codes)
    if len(name) <= _LONGEST or len(codes) < 4:
        return name
    return f"{codes[0]}+{codes[1]}+{len(codes) - 2} more"
