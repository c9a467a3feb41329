"""k-means over the records of all agencies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    complete_records,
    require_cells,
    require_plausible,
    require_records,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError, UnfitError


@dataclass
class _Records:
    """An agency's complete records, and the group of each after the latest steps."""

    values: np.ndarray
    policy: Policy
    groups: dict[int, np.ndarray] = field(default_factory=dict)


class Clusters(Analysis, key="clusters"):
    r"""k-means: centres, sizes and spread of groups of similar records.

    Notes
    -----
    Lloyd's iterations: a secure sum holds the counts and totals of the k groups. The first centres
    are given, or drawn around the pooled mean with the pooled deviations from a seed that everybody
    knows. A group of few records, pooled or at one agency, is refused at every iteration, since its
    total would show them: to everybody, or to an agency that subtracts its own.

    The agencies see all steps, and the totals of two steps differ by the records that moved. So
    another secure sum first counts how many would move from each group to each other, and fewer
    than ``min_moving`` stay where they are: no difference of a step and the next is about fewer
    records. The end is reached when nobody moves. With ``min_moving=1``, which an agency allows by
    a policy with a smallest cell of 1, the result is that of Lloyd's algorithm; else that of the
    same rule on the pooled records. Records with a missing value are left out.
    """

    variables: tuple[str, ...]
    """Numeric columns."""
    k: Annotated[int, Ge(1), Le(1000)] = 3
    """Number of groups."""
    centres: tuple[tuple[float, ...], ...] | None = None
    """First centres, in the units of the variables."""
    seed: Annotated[int, Ge(0)] = 0
    """Draws the first centres where none are given; known to everybody."""
    min_moving: Annotated[int, Ge(1)] = 3
    """Fewest pooled records that move from one group to another in a step; fewer stay."""
    max_iterations: Annotated[int, Ge(1), Le(240)] = 100
    """Most iterations; groups that still change then are not released."""

    def model_post_init(self, context: Any) -> None:
        """Check the first centres."""
        shape = (self.k, len(self.variables))
        if not self.variables or (
            self.centres is not None and np.asarray(self.centres).shape != shape
        ):
            raise ParameterError("first centres are k points of all variables", got=f"k = {self.k}")

    def columns(self) -> tuple[str, ...]:
        """Return the variables."""
        return self.variables

    def part(self, data: Microdata, policy: Policy) -> _Records:
        """Return the complete records."""
        if self.min_moving < policy.min_cell:
            raise UnfitError(
                f"fewer than {policy.min_cell} records could move between groups in a step"
            )
        values = complete_records(data, self.variables, policy)
        if len(values) <= self.k:
            raise RefusedError("no more records than groups")
        return _Records(values, policy)

    def length(self, state: State) -> int:
        """Return the length of moments, of moves, or of counts, totals and the sum of squares."""
        p = len(self.variables)
        if not state:
            return 1 + 2 * p
        return self.k**2 if state["moving"] else self.k * (p + 1) + 1

    def contribute(self, part: _Records, state: State) -> np.ndarray:
        """Return the moments first, then in turn counts and totals of the groups, and moves."""
        values = part.values
        if not state:
            return np.concatenate([[len(values)], values.sum(axis=0), (values**2).sum(axis=0)])
        if state["moving"]:
            before = part.groups[state["iteration"] - 1]
            return self._moves(before, _nearest(values, state["centres"]))
        group, centres = self._grouped(part, state), state["centres"]
        counts = np.bincount(group, minlength=self.k)
        require_cells(counts, part.policy, "a group of this agency")
        moved = values - centres[group]
        totals = [np.bincount(group, moved[:, j], self.k) for j in range(values.shape[1])]
        return np.concatenate([counts, *totals, [(moved**2).sum()]])

    def _moves(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        counts = np.bincount(before * self.k + after, minlength=self.k**2).astype(float)
        counts[:: self.k + 1] = 0.0  # those who stay
        return counts

    def _grouped(self, part: _Records, state: State) -> np.ndarray:
        """Return the group of each record, after the moves that enough records make."""
        nearest, now = _nearest(part.values, state["centres"]), state["iteration"]
        if now:
            before = part.groups[now - 1]
            nearest = np.where(state["open"][before, nearest], nearest, before)
        part.groups = {now: nearest}
        return nearest

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Move the centres until the groups stay."""
        if not state:
            return Outcome(self._started(total, policy))
        return self._opened(total, state) if state["moving"] else self._moved(total, state, policy)

    def _moved(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Put the centres into the middle of their groups."""
        counts = np.rint(total[: self.k])
        require_plausible(bool((counts >= 0).all()) and counts.sum() == state["n"], "counts")
        require_cells(counts, policy, "a pooled group")
        moves = total[self.k : -1].reshape(len(self.variables), self.k).T
        move = moves / np.maximum(counts, 1.0)[:, None]
        squares = float(total[-1]) - float((counts[:, None] * move**2).sum())
        return Outcome({
            **state, "moving": True, "centres": state["centres"] + move, "counts": counts,
            "squares": squares, "iteration": state["iteration"] + 1,
        })  # fmt: skip

    def _opened(self, total: np.ndarray, state: State) -> Outcome:
        """Let enough records move together, or end when there are none."""
        moving = np.rint(total).reshape(self.k, self.k)
        require_plausible(bool((moving >= 0).all()) and moving.sum() <= state["n"], "moves")
        ways = moving >= self.min_moving
        if not ways.any():
            return Outcome(state, self._answer(state))
        if state["iteration"] >= self.max_iterations:
            raise RefusedError("the groups still change; give more iterations or fewer groups")
        return Outcome({**state, "moving": False, "open": ways | np.eye(self.k, dtype=bool)})

    def _started(self, total: np.ndarray, policy: Policy) -> dict[str, Any]:
        n = round(total[0])
        require_plausible(n > 0, "no records")
        require_records(n, policy)
        first, second = np.split(total[1:] / n, 2)
        deviation = np.sqrt(np.maximum(second - first**2, 0.0))
        rng = np.random.default_rng(self.seed)
        drawn = first + deviation * rng.normal(size=(self.k, len(self.variables)))
        centres = drawn if self.centres is None else np.asarray(self.centres, dtype=float)
        return {"n": n, "centres": centres, "iteration": 0, "moving": False}

    def _answer(self, state: State) -> dict[str, Any]:
        return {
            "n": state["n"],
            "variables": list(self.variables),
            "centres": state["centres"].tolist(),
            "counts": state["counts"].astype(int).tolist(),
            "sum_of_squares": max(state["squares"], 0.0),
            "iterations": state["iteration"],
            "converged": True,
        }


def _nearest(values: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each record, one centre at a time to save memory."""
    squares = np.stack([((values - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
    return np.asarray(squares.argmin(axis=1))
