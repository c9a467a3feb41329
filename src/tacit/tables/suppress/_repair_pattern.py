"""A pattern of suppressions that carries its own proof: for each need the changes that meet it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.tables.suppress._repair_problem import EMPTY, Problem

SLACK = 1e-6
"""Share of a need that may be missing for rounding's sake."""


@dataclass(eq=False)
class Pattern:
    """Proofs found so far. A cell is suppressed while a proof moves it."""

    problem: Problem
    cells: list[np.ndarray | None] = field(default_factory=list)
    """For each need the cells its proof moves, nothing while unproved."""
    changes: list[np.ndarray | None] = field(default_factory=list)
    """By how much they move."""
    users: np.ndarray = field(default_factory=lambda: np.empty(0))
    """How many proofs move each cell."""
    kept: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    """Cells suppressed against respondents (flags), on which no proof rests."""

    def __post_init__(self) -> None:
        self.users = np.zeros(self.problem.n_cells, dtype=np.int64)
        self.kept = np.zeros(self.problem.n_cells, dtype=bool)
        self.extend()

    def extend(self) -> None:
        """Make room for needs that were added to the problem."""
        more = len(self.problem.needs) - len(self.cells)
        self.cells.extend([None] * more)
        self.changes.extend([None] * more)

    def assign(self, need: int, cells: np.ndarray, change: np.ndarray) -> None:
        """Give a need a new proof."""
        old = self.cells[need]
        if old is not None:
            self.users[old] -= 1
        self.cells[need], self.changes[need] = cells, change
        self.users[cells] += 1

    def proof(self, need: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells that the proof of a need moves, and by how much."""
        cells, change = self.cells[need], self.changes[need]
        if cells is None or change is None:
            raise LookupError("this need has no proof")
        return cells, change

    def release(self, need: int) -> None:
        """Take the proof of a need away."""
        held = self.cells[need]
        if held is not None:
            self.users[held] -= 1
        self.cells[need] = self.changes[need] = None

    @property
    def unproved(self) -> np.ndarray:
        """Needs without a proof."""
        return np.array([k for k, held in enumerate(self.cells) if held is None], dtype=np.int64)

    @property
    def hidden(self) -> np.ndarray:
        """Cells that are suppressed."""
        return np.asarray(self.problem.fixed | self.kept | (self.users > 0))

    def hidden_among(self, cells: np.ndarray) -> np.ndarray:
        """Return which of some cells are suppressed."""
        return np.asarray(self.problem.fixed[cells] | self.kept[cells] | (self.users[cells] > 0))

    @property
    def cost(self) -> float:
        """Cost of the secondary suppressions."""
        return float(self.problem.cost[self.hidden & ~self.problem.fixed].sum())

    def copy(self) -> Pattern:
        """Return a pattern that can change by itself."""
        twin = Pattern(self.problem)
        twin.cells, twin.changes = list(self.cells), list(self.changes)
        twin.users, twin.kept = self.users.copy(), self.kept.copy()
        return twin

    def without(self, needs: np.ndarray) -> np.ndarray:
        """Return how many proofs move each cell, those of some needs left out."""
        users = self.users.copy()
        for need in needs:
            held = self.cells[need]
            if held is not None:
                users[held] -= 1
        return users

    # -- checking -------------------------------------------------------------------------------

    def broken(self, needs: np.ndarray | None = None) -> np.ndarray:
        """Return the needs, of all or of some, whose proof does not hold, by arithmetic alone.

        A proof holds when every relation is kept, every change stays in its bounds, cells the
        intruder knows do not move, and the cell asked for moves far enough. What may be missing for
        rounding's sake is a share of what is asked, however far other cells move. Whatever the
        solver did, a pattern with no broken proof passes an audit of the whole table.
        """
        from tacit.tables.suppress import _repair_kernel as kernel

        bad = np.zeros(len(self.cells), dtype=bool)
        asked = np.arange(len(self.cells)) if needs is None else needs
        has = np.array([self.cells[k] is not None for k in asked], dtype=bool)
        bad[asked[~has]] = True
        good = asked[has]
        if not len(good):
            return np.flatnonzero(bad)
        held, moves = self._held(self.cells, good), self._held(self.changes, good)
        pointer, cells = flat(held)
        sizes, change = np.diff(pointer), np.concatenate(moves)
        a = self.problem.columns
        errors = kernel.proof_errors(
            pointer, cells, change, self.problem.needs.amount[good],
            a.indptr, a.indices, a.data, self.problem.n_rows,
        )  # fmt: skip
        bad[good] = (errors > SLACK) | self._outside(good, sizes, cells, change)
        return np.flatnonzero(bad)

    @staticmethod
    def _held(kept: list[np.ndarray | None], needs: np.ndarray) -> list[np.ndarray]:
        return [one for one in (kept[k] for k in needs) if one is not None]

    def _outside(
        self, good: np.ndarray, sizes: np.ndarray, cells: np.ndarray, change: np.ndarray
    ) -> np.ndarray:
        """Return proofs that leave the bounds, move known cells or do not go far enough."""
        problem, needs = self.problem, self.problem.needs
        owner = np.repeat(np.arange(len(good)), sizes)
        room = np.where(change > 0, problem.up[cells], problem.down[cells])
        wrong = np.abs(change) > room + SLACK * needs.amount[good][owner]
        asked = cells == needs.cell[good][owner]
        reach = np.bincount(owner, np.where(asked, change, 0.0), len(good)) * needs.sign[good]
        bad = reach < needs.amount[good] * (1 - SLACK)
        bad |= np.bincount(owner, wrong, len(good)) > 0
        for k, need in enumerate(good):
            known = needs.known[need]
            if len(known) and np.isin(known, self.cells[need]).any():
                bad[k] = True
        return np.asarray(bad)


def flat(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return pointers to parts, and the parts one after the other."""
    pointer = np.concatenate([[0], np.cumsum([len(one) for one in parts])]).astype(np.int64)
    return pointer, np.concatenate([EMPTY, *parts])
