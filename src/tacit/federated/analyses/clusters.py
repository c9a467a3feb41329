"""k-means over the records of all agencies."""

from __future__ import annotations

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
from tacit.federated.stopped import RefusedError


class Clusters(Analysis, key="clusters"):
    r"""k-means: centres, sizes and spread of groups of similar records.

    Notes
    -----
    Lloyd's iterations: each secure sum holds the counts and totals of the k groups. The first
    centres are given, or drawn around the pooled mean with the pooled deviations from a seed that
    everybody knows. A pooled group of few records is refused at every iteration, since its total
    would show them, and so is a result that still moves: two steps on the way can differ by one
    record. The agencies themselves see all steps, and so may learn such a record, not whose it
    is. Records with a missing value are left out.
    """

    variables: tuple[str, ...]
    """Numeric columns."""
    k: Annotated[int, Ge(1), Le(1000)] = 3
    """Number of groups."""
    centres: tuple[tuple[float, ...], ...] | None = None
    """First centres, in the units of the variables."""
    seed: Annotated[int, Ge(0)] = 0
    """Draws the first centres where none are given; known to everybody."""
    max_iterations: Annotated[int, Ge(1), Le(400)] = 100
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

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the complete records."""
        values = complete_records(data, self.variables, policy)
        if len(values) <= self.k:
            raise RefusedError("no more records than groups")
        return values

    def length(self, state: State) -> int:
        """Return counts, totals and the sum of squares."""
        p = len(self.variables)
        return self.k * (p + 1) + 1 if state else 1 + 2 * p

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the moments first, then counts and totals of the groups."""
        if not state:
            return np.concatenate([[len(part)], part.sum(axis=0), (part**2).sum(axis=0)])
        centres = state["centres"]
        squares = _squares(part, centres)
        group = squares.argmin(axis=1)
        counts = np.bincount(group, minlength=self.k)
        moved = part - centres[group]
        totals = [np.bincount(group, moved[:, j], self.k) for j in range(part.shape[1])]
        return np.concatenate([counts, *totals, [(moved**2).sum()]])

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Move the centres until they stay."""
        if not state:
            return Outcome(self._started(total, policy))
        counts = np.rint(total[: self.k])
        require_plausible(bool((counts >= 0).all()) and counts.sum() == state["n"], "counts")
        require_cells(counts, policy, "a pooled group")
        moves = total[self.k : -1].reshape(len(self.variables), self.k).T
        move = moves / np.maximum(counts, 1.0)[:, None]
        still = bool(np.all(np.abs(move) <= 1e-12 * state["deviation"]))
        now = {**state, "centres": state["centres"] + move, "iteration": state["iteration"] + 1}
        if still:
            return Outcome(now, self._answer(now, counts, float(total[-1]), still))
        if now["iteration"] >= self.max_iterations:
            raise RefusedError("the groups still change; steps on the way can differ by one record")
        return Outcome(now)

    def _started(self, total: np.ndarray, policy: Policy) -> dict[str, Any]:
        n = round(total[0])
        require_plausible(n > 0, "no records")
        require_records(n, policy)
        first, second = np.split(total[1:] / n, 2)
        deviation = np.sqrt(np.maximum(second - first**2, 0.0))
        rng = np.random.default_rng(self.seed)
        drawn = first + deviation * rng.normal(size=(self.k, len(self.variables)))
        centres = drawn if self.centres is None else np.asarray(self.centres, dtype=float)
        return {"n": n, "deviation": deviation, "centres": centres, "iteration": 0}

    def _answer(
        self, state: State, counts: np.ndarray, squares: float, still: bool
    ) -> dict[str, Any]:
        return {
            "n": state["n"],
            "variables": list(self.variables),
            "centres": state["centres"].tolist(),
            "counts": counts.astype(int).tolist(),
            "sum_of_squares": squares,
            "iterations": state["iteration"],
            "converged": still,
        }


def _squares(part: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return squared distances, records by centres, one centre at a time to save memory."""
    return np.stack([((part - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
