"""Pieces of a pattern that share no relation, each solved in one compiled tableau.

What a cell can do depends only on the suppressed cells that relations join to it. In most patterns
these are a few hundred, also where the table has a hundred thousand, so that all questions about
them are answered exactly and without a programme for each.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tacit.tables.suppress._repair_local import Surroundings
from tacit.tables.suppress._repair_pattern import Pattern, flat
from tacit.tables.suppress._repair_problem import EMPTY

LARGEST = 4_000_000
"""Relations times cells of a piece up to which it is solved in a tableau."""
AROUND = (100, 300, 600)
"""Cells around a need among which it is proved, in turn, where its piece is too large."""
LOCAL = 400
"""Suppressed cells around a cell among which it is published where its piece is too large."""
TOGETHER = 30
"""Cells tried with it at most."""
CROWD = 400
"""Proofs that move a cell above which it is not tried."""
CHEAP = (0.25, 0.5)
"""Shares of the published cells, the cheapest, that may be suppressed to prove a need, in turn."""
BESIDE = 60
"""The nearest of them, whose needs are proved in the same tableau if that can be."""
READ = 12
"""Cells of a change up to which it is read for other needs; longer ones crowd the pattern."""
WORK = 8_000_000_000
"""Steps times entries of a tableau after which the cells left are tried by programmes: seconds."""


class Users:
    """Which needs rest on which secondary suppressions."""

    def __init__(self, pattern: Pattern) -> None:
        self._is_secondary = ~pattern.problem.fixed
        self._users: dict[int, set[int]] = defaultdict(set)
        for need, cells in enumerate(pattern.cells):
            self.moved(need, None, cells)

    def of(self, cell: int) -> np.ndarray:
        """Return the needs whose proofs move a cell."""
        return np.array(sorted(self._users[cell]), dtype=np.int64)

    def moved(self, need: int, old: np.ndarray | None, new: np.ndarray | None) -> None:
        """Note that a need rests on other cells."""
        if old is new:
            return
        for cell in () if old is None else old[self._is_secondary[old]].tolist():
            self._users[cell].discard(need)
        for cell in () if new is None else new[self._is_secondary[new]].tolist():
            self._users[cell].add(need)


class Pieces:
    """The pieces of some suppressed cells.

    Parameters
    ----------
    pattern
        The proofs so far; new ones are noted in it.
    hidden
        Cells that may move (flags).
    apart
        Cells (flags) that no proof may begin to move when it is led round another.
    """

    def __init__(
        self, pattern: Pattern, hidden: np.ndarray, apart: np.ndarray | None = None
    ) -> None:
        from tacit.tables.suppress import _repair_kernel as kernel

        self.pattern, self.problem, self._hidden = pattern, pattern.problem, hidden
        a, b, problem = self.problem.columns, self.problem.rows, self.problem
        self.apart = np.zeros(problem.n_cells, dtype=bool) if apart is None else apart
        cells = np.flatnonzero(hidden)
        can_move = kernel.movable(
            cells, a.indptr, a.indices, b.indptr, b.indices, problem.n_cells, problem.n_rows
        )
        self._cells = cells[can_move]
        label = kernel.piece_labels(self._cells, a.indptr, a.indices, problem.n_rows)
        self._label = np.full(problem.n_cells, -1, dtype=np.int64)
        self._label[self._cells] = label
        self._place = np.full(problem.n_cells, -1, dtype=np.int64)
        self._row_name = np.full(problem.n_rows, -1, dtype=np.int64)

    def prove(self, until: float, largest: int | None = None) -> None:
        """Look for a proof of every need that has none, until time is over.

        In pieces with more relations times cells than `largest` (`LARGEST` unless said) needs are
        proved by the cells around them; those for which that is not enough are left as they are.
        """
        largest = LARGEST if largest is None else largest
        hidden = self._label >= 0
        for cells, needs in self._each(until):
            left = self._unproved(needs)
            if len(left) and self._solve(cells, left, EMPTY, largest) is None:
                for limit in AROUND:
                    self._prove_around(self._unproved(left), limit, hidden, hidden, until)

    def prove_at_cost(self, needs: np.ndarray, until: float) -> None:
        """Look for proofs of needs among published cells, too, cheap ones first.

        Of the cells of a proof the dearest are published again if it can do without them.
        """
        problem, hidden = self.problem, self._hidden | self.pattern.hidden
        price = problem.cost[~hidden]
        for share in CHEAP if len(price) else ():
            usable = hidden | (problem.cost <= np.quantile(price, share))
            for limit in AROUND:
                self._prove_around(self._unproved(needs), limit, usable, hidden, until)

    def _prove_around(
        self, needs: np.ndarray, limit: int, usable: np.ndarray, hidden: np.ndarray, until: float
    ) -> None:
        """Prove needs among the usable cells around each, those beside each other in one tableau.

        Cells that are suppressed for it are noted in both arrays of flags.
        """
        at = _by_cell(self.problem.needs.cell, needs)
        was_tried = np.zeros(len(self.problem.needs), dtype=bool)
        for need in needs.tolist():
            if self.pattern.cells[need] is not None or time.monotonic() > until:
                continue
            start = self.problem.needs.cell[[need]]
            near = self._around.movable(self._around.near(start, usable, limit))
            beside = [k for cell in near[:BESIDE].tolist() for k in at.get(cell, ())]
            some = self._unproved(np.array(beside, dtype=np.int64))
            some = some[~was_tried[some] | (some == need)]
            was_tried[some] = True
            if len(some):
                published = np.flatnonzero(~hidden[near])
                dear = np.argsort(-self.problem.cost[near[published]], kind="stable")
                self._solve(near, some, published[dear])
                now = near[published[self.pattern.users[near[published]] > 0]]
                hidden[now] = usable[now] = True

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self.problem)

    def _unproved(self, needs: np.ndarray) -> np.ndarray:
        """Return those of some needs that have no proof."""
        is_open = np.array([self.pattern.cells[k] is None for k in needs], dtype=bool)
        return np.asarray(needs[is_open])

    def publish(self, order: np.ndarray, until: float) -> np.ndarray:
        """Publish cells, in an order, without which every need keeps a proof; return those left.

        Cells are left, to be tried by other means, where their piece is too knit, where they cannot
        move among the cells around them or too much rests on them, or where time is over.
        """
        rank = np.full(self.problem.n_cells, -1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        is_left = np.zeros(self.problem.n_cells, dtype=bool)
        is_left[order] = True
        for cells, needs in self._each(until):
            tried = np.flatnonzero(rank[cells] >= 0)
            tried = tried[np.argsort(rank[cells[tried]], kind="stable")]
            n_tried = self._solve(cells, needs, tried, LARGEST) if len(tried) else 0
            if n_tried is None:
                self._publish_around(cells[tried], is_left, until)
            is_left[cells[tried[: n_tried or 0]]] = False
        return np.asarray(order[is_left[order]])

    def _publish_around(self, order: np.ndarray, is_left: np.ndarray, until: float) -> None:
        """Publish cells of a large piece, each with those around it, in one tableau.

        Proofs that move them are led round them. What was tried is no longer left (flags).
        """
        users, hidden = Users(self.pattern), self._hidden.copy()
        for cell in order.tolist():
            if not is_left[cell] or time.monotonic() > until:
                continue
            near = self._around.movable(self._around.near(np.array([cell]), hidden, LOCAL))
            at = np.flatnonzero(is_left[near])[:TOGETHER]
            at = at[[len(users.of(int(c))) <= CROWD for c in near[at]]]
            if not len(at):
                continue
            is_left[near[at]] = False
            at = at[np.argsort(-self.problem.cost[near[at]], kind="stable")]
            needs = np.unique(np.concatenate([users.of(int(c)) for c in near[at]]))
            before = {k: self.pattern.cells[k] for k in needs.tolist()}
            self._lead_round(near, needs, at)
            for need, old in before.items():
                users.moved(need, old, self.pattern.cells[need])
            hidden[near] = self.pattern.hidden_among(near) | (hidden[near] & is_left[near])

    def _lead_round(self, near: np.ndarray, needs: np.ndarray, order: np.ndarray) -> None:
        """Publish some of the cells around one, leading the proofs of needs round them."""
        from tacit.tables.suppress import _repair_kernel as graph
        from tacit.tables.suppress._repair_leading_kernel import rerouted

        problem, pattern, place = self.problem, self.pattern, self._place
        a, asked = problem.columns, problem.needs
        *columns, n_rows = graph.local_columns(near, a.indptr, a.indices, a.data, self._row_name)
        place[near] = np.arange(len(near))
        proofs = [pattern.proof(int(k)) for k in needs]
        moves = np.zeros((len(needs), len(near)))
        for k, (cells, change) in enumerate(proofs):
            inside = place[cells] >= 0
            moves[k, place[cells[inside]]] = change[inside]
        held = (moves == 0) & self.apart[near]
        pointer, places = self._known(needs)
        held[np.repeat(np.arange(len(needs)), np.diff(pointer)), places] = True
        targets, before = place[asked.cell[needs]], moves.copy()
        place[near] = -1
        rerouted(
            tuple(columns), n_rows, (problem.up[near], problem.down[near]), order, moves,
            targets, held,
        )  # fmt: skip
        is_near = np.zeros(problem.n_cells, dtype=bool)
        is_near[near] = True
        for k in np.flatnonzero((moves != before).any(axis=1)).tolist():
            cells, change = proofs[k]
            far, here = ~is_near[cells], np.flatnonzero(moves[k])
            need = int(needs[k])
            pattern.assign(
                need, np.concatenate([cells[far], near[here]]),
                np.concatenate([change[far], moves[k, here]]),
            )  # fmt: skip
            if len(pattern.broken(needs[[k]])):
                pattern.assign(need, cells, change)

    def _each(self, until: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give the cells of each piece that asks for something, and what it asks for."""
        asked = self._label[self.problem.needs.cell]
        for needs in _groups(asked):
            label = asked[needs[0]]
            if label >= 0 and time.monotonic() < until:
                yield self._members[label], needs

    @cached_property
    def _members(self) -> dict[int, np.ndarray]:
        """The cells of each piece."""
        label = self._label[self._cells]
        return {int(label[group[0]]): self._cells[group] for group in _groups(label)}

    def _solve(
        self, cells: np.ndarray, needs: np.ndarray, order: np.ndarray, largest: float = np.inf
    ) -> int | None:
        """Prove needs within a piece, then publish its cells; return how many were tried.

        Nothing is returned where the piece is too large to be solved.
        """
        from tacit.tables.suppress import _repair_kernel as graph
        from tacit.tables.suppress import _repair_pieces_kernel as kernel

        problem, asked = self.problem, self.problem.needs
        a, place = problem.columns, self._place
        *columns, n_rows = graph.local_columns(cells, a.indptr, a.indices, a.data, self._row_name)
        if n_rows * len(cells) > largest:
            return None
        place[cells] = np.arange(len(cells))
        needs = needs[np.argsort(-asked.amount[needs], kind="stable")]
        *found, n_tried = kernel.thinned(
            tuple(columns), n_rows, (problem.up[cells], problem.down[cells]), order,
            (place[asked.cell[needs]], asked.sign[needs], asked.amount[needs]),
            self._known(needs), self._proofs(needs), READ, WORK,
        )  # fmt: skip
        place[cells] = -1
        return n_tried if self._note(cells, needs, *found) else 0

    def _known(self, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the intruder of each need knows of a piece: pointers and places."""
        known = [self._place[self.problem.needs.known[k]] for k in needs]
        return flat([some[some >= 0] for some in known])

    def _proofs(self, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the proof of each need, -1 for none, and the places these proofs move."""
        held = [self.pattern.cells[k] for k in needs]
        proof_of = np.full(len(needs), -1, dtype=np.int64)
        has = np.array([one is not None for one in held], dtype=bool)
        proof_of[has] = np.arange(int(has.sum()))
        return proof_of, *flat([self._place[one] for one in held if one is not None])

    def _note(self, cells: np.ndarray, needs: np.ndarray, *found: Any) -> bool:
        """Note new proofs; return whether they hold by arithmetic. If not, the old ones stay."""
        proof_of, factor, pointer, places, moves = found
        pattern = self.pattern
        n_before = sum(pattern.cells[k] is not None for k in needs)
        new = np.flatnonzero(proof_of >= n_before)
        before = [(pattern.cells[k], pattern.changes[k]) for k in needs[new]]
        shared: dict[int, np.ndarray] = {}
        for k, proof in zip(new.tolist(), proof_of[new].tolist(), strict=True):
            at = slice(pointer[proof], pointer[proof + 1])
            held = shared.setdefault(proof, cells[places[at]])
            pattern.assign(int(needs[k]), held, factor[k] * moves[at])
        broken = pattern.broken(needs[new])
        if not len(broken):
            return True
        for need, (held_before, change) in zip(needs[new].tolist(), before, strict=True):
            pattern.release(need)
            if held_before is not None and change is not None:
                pattern.assign(need, held_before, change)
        return False


def _by_cell(cell: np.ndarray, needs: np.ndarray) -> dict[int, list[int]]:
    """Return those of some needs that ask for each cell."""
    found: dict[int, list[int]] = {}
    for need, asked in zip(needs.tolist(), cell[needs].tolist(), strict=True):
        found.setdefault(asked, []).append(need)
    return found


def _groups(label: np.ndarray) -> list[np.ndarray]:
    """Return the positions of each label."""
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order])) + 1
    return [group for group in np.split(order, starts) if len(group)]
