"""Search for proofs: every need, again and again, each time sharing more with the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from tacit.tables._independent import independent_relations
from tacit.tables.suppress._repair_changes import Changes
from tacit.tables.suppress._repair_inside import Inside
from tacit.tables.suppress._repair_knit import Knit, few_cells
from tacit.tables.suppress._repair_pattern import Pattern
from tacit.tables.suppress._repair_problem import EMPTY, Needs, Problem
from tacit.tables.suppress._repair_reading import Reading

READ = 12
"""Cells of a change up to which it is read for other needs; longer ones crowd the pattern."""
RATIO = 2.0
"""Largest ratio of two movements asked for together."""


def batches(problem: Problem, needs: np.ndarray, ratio: float = RATIO) -> list[np.ndarray]:
    """Split needs into batches that can be asked together: alike in size, no relation in common."""
    from tacit.tables.suppress import _repair_kernel as kernel

    asked = problem.needs
    plain = np.array([not len(asked.known[k]) for k in needs], dtype=bool)
    own = [np.array([k]) for k in needs[~plain]]
    needs = needs[plain]
    order = needs[np.argsort(-asked.amount[needs], kind="stable")]
    a = problem.columns
    number = kernel.batch_numbers(
        asked.cell[order], asked.amount[order], a.indptr, a.indices, problem.n_rows, ratio
    )
    by_number = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[by_number])) + 1
    return [*(order[group] for group in np.split(by_number, starts) if len(group)), *own]


def pieces(
    columns: tuple[np.ndarray, np.ndarray, int], change: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split changes into parts that share no relation: cells and changes of each."""
    from tacit.tables.suppress import _repair_kernel as kernel

    support = np.flatnonzero(change)
    if not len(support):
        return
    indptr, indices, n_rows = columns
    label = kernel.piece_labels(support, indptr, indices, n_rows)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order])) + 1
    for group in np.split(support[order], starts):
        yield group, change[group]


class Search:
    """The search for a pattern on a whole table.

    Parameters
    ----------
    problem
        What must be achieved.
    start
        Open cells that another method has suppressed already: they cost nothing.
    """

    def __init__(self, problem: Problem, start: np.ndarray | None = None) -> None:
        self.problem, self.pattern = problem, Pattern(problem)
        self.start = np.zeros(problem.n_cells, dtype=bool) if start is None else start
        self.until = np.inf
        self.apart = np.zeros(problem.n_cells)
        """What moving each cell costs besides, where proofs had better leave it alone."""
        a = problem.columns
        self._graph = a.indptr, a.indices, problem.n_rows

    @cached_property
    def changes(self) -> Changes:
        """The programme over the whole table, made when first needed."""
        from scipy.sparse import csc_array

        rows = csc_array(independent_relations(self.problem.rows))
        return Changes(rows, self.problem.up, self.problem.down)

    @cached_property
    def knit(self) -> Knit | None:
        """The search in terms of few cells, if the table is closely knit."""
        sums = few_cells(self.problem)
        return None if sums is None else Knit(self, sums)

    def sweep(self, sharing: float, needs: Sequence[np.ndarray] | None = None) -> list[int]:
        """Find a new proof of every need, until time is over; return those that have none.

        Parameters
        ----------
        sharing
            A cell that other proofs move already, u of them, costs 1 / (1 + u)**sharing of its
            price; infinite: nothing.
        needs
            Groups of needs in the order to be taken; all at once unless given.
        """
        groups = [np.arange(len(self.problem.needs))] if needs is None else needs
        self._reading = Reading(self.problem)
        self._done = np.zeros(len(self.problem.needs), dtype=bool)
        failed: list[int] = []
        for group in groups:
            for batch in batches(self.problem, group):
                if time.monotonic() > self.until:
                    return failed
                left = batch[~self._done[batch]]
                failed += self._answer(left, sharing) if len(left) else []
        return failed

    def _answer(self, batch: np.ndarray, sharing: float) -> list[int]:
        """Answer a batch together; where that fails, its halves, and in the end one by one."""
        if time.monotonic() > self.until or self._ask(batch, sharing):
            return []
        if len(batch) == 1:
            return [int(batch[0])]
        half = len(batch) // 2
        return self._answer(batch[:half], sharing) + self._answer(batch[half:], sharing)

    def _ask(self, batch: np.ndarray, sharing: float) -> bool:
        known = self.problem.needs.known[batch[0]] if len(batch) == 1 else EMPTY
        charge = self._charge(batch, sharing)
        if len(known):
            found = Inside(self).proof(int(batch[0]), charge)
            if found is not None:
                self.pattern.assign(int(batch[0]), *found)
                self._done[batch] = True
                return True
        cells = self.problem.needs.cell[batch]
        change = self.changes.cheapest(cells, self._amounts(batch), charge, known)
        return change is not None and self._keep(batch, change)

    def _amounts(self, batch: np.ndarray) -> np.ndarray:
        needs = self.problem.needs
        return np.asarray(needs.amount[batch] * needs.sign[batch])

    def _keep(self, batch: np.ndarray, change: np.ndarray) -> bool:
        """Note the part of the changes that each need rests on."""
        owner = {int(self.problem.needs.cell[k]): int(k) for k in batch}
        for cells, moves in pieces(self._graph, change):
            for need in (owner[int(c)] for c in cells if int(c) in owner):
                self.pattern.assign(need, cells, moves)
                self._done[need] = True
            for need, other in self._reading.proved(cells, moves):
                if not self._done[need] and len(cells) <= READ:
                    self.pattern.assign(need, cells, other)
                    self._done[need] = True
        return True

    def _charge(self, batch: np.ndarray, sharing: float) -> np.ndarray:
        """Return what each cell costs a batch."""
        users = self.pattern.without(batch)
        free = self.problem.fixed | self.start
        if np.isinf(sharing):
            return np.where(free | (users > 0), 0.0, self.problem.cost)
        return np.where(free, 0.0, self.problem.cost / (1.0 + users) ** sharing)

    def drop(self, needs: Sequence[int]) -> None:
        """Forget needs that could not be proved and will be asked in another form."""
        from dataclasses import replace

        if not needs:
            return
        asked, gone = self.problem.needs, set(needs)
        kept = np.array([k for k in range(len(asked)) if k not in gone], dtype=np.int64)
        left = Needs(
            asked.cell[kept], asked.amount[kept], asked.sign[kept], [asked.known[k] for k in kept]
        )
        self.problem = replace(self.problem, needs=left)
        pattern = self.pattern
        pattern.problem = self.problem
        pattern.cells = [pattern.cells[k] for k in kept]
        pattern.changes = [pattern.changes[k] for k in kept]

    def add(self, more: Needs) -> None:
        """Add needs, for example those against respondents who know their own cell."""
        from dataclasses import replace

        self.problem = replace(self.problem, needs=self.problem.needs.join(more))
        self.pattern.problem = self.problem
        self.pattern.extend()


def improve(search: Search, rounds: Sequence[float], until: float) -> None:
    """Sweep several times with growing sharing and keep the cheapest pattern seen."""
    best = search.pattern.copy()
    for sharing in rounds:
        if time.monotonic() > until:
            break
        search.sweep(sharing)
        if search.pattern.cost < best.cost:
            best = search.pattern.copy()
    search.pattern = best
