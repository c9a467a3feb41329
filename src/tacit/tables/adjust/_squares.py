"""Least squares under sums and bounds: an interior-point method on sparse normal equations."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import ProtectionError, optional
from tacit.tables.adjust._nearest import Adjustment

_ITERATIONS = 200
_NEAR = 1e-9
"""Share of the size of a problem to which sums and optimality are met."""
_STEP = 0.995
"""Share of the way to the nearest bound that a step may go."""


def least_squares(problem: Adjustment, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the change of least weighted squares between bounds that keeps the relations.

    Where sums outnumber cells most follow from others and their normal equations are dense, so
    HiGHS goes first; elsewhere it may never end, so our own method does. Each gets half the time.
    """
    ways = [_by_interior_points, _by_highs]
    if problem.relations.shape[0] > problem.n:
        ways.reverse()
    for way, share in zip(ways, (0.5, 1.0), strict=True):
        found = way(problem, low, high, share * problem.left)
        if found is not None:
            return found
    raise ProtectionError(
        "least squares did not come to an end",
        got=f"{problem.n:,} cells, {problem.seconds:g} seconds",
        do="minimise absolute changes (norm='absolute'), or allow more seconds",
    )


def _by_interior_points(
    problem: Adjustment, low: np.ndarray, high: np.ndarray, seconds: float
) -> np.ndarray | None:
    """Return the solution of our own method, or nothing if it does not end in time."""
    from scipy.sparse import csr_array

    until = time.perf_counter() + seconds
    change = np.where(low == high, low, 0.0)
    free = np.flatnonzero(low < high)
    matrix = csr_array(problem.relations)
    missing = -np.asarray(matrix @ (problem.value + change))
    # Distances from 1 at the largest level or miss: tolerances below are then relative.
    size = max(float(np.abs(missing).max(initial=0.0)), *problem._levels_max(), 1e-300)
    weight = problem.weight[free] / max(float(problem.weight[free].max(initial=0.0)), 1e-300)
    inner = csr_array(matrix[:, free])
    point = _Point.start(inner, missing / size, weight, low[free] / size, high[free] / size)
    for _ in range(_ITERATIONS):
        if point.done or time.perf_counter() > until:
            break
        point.advance()
    if not point.done:
        return None
    change[free] = np.clip(point.x * size, low[free], high[free])
    return change


def _by_highs(
    problem: Adjustment, low: np.ndarray, high: np.ndarray, seconds: float
) -> np.ndarray | None:
    """Return the solution of HiGHS's quadratic solver, or nothing if it does not end in time."""
    from scipy.sparse import csc_array

    highspy: Any = optional("highspy", extra="tables")

    matrix = csc_array(problem.relations)
    missing = -np.asarray(problem.relations @ problem.value)
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = problem.n, matrix.shape[0]
    lp.col_cost_ = np.zeros(problem.n)
    infinity = highspy.kHighsInf
    lp.col_lower_, lp.col_upper_ = (
        np.clip(low, -infinity, infinity),
        np.clip(high, -infinity, infinity),
    )
    lp.row_lower_ = lp.row_upper_ = missing
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(float)
    hessian = model.hessian_
    hessian.dim_ = problem.n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.arange(problem.n + 1, dtype=np.int32)
    hessian.index_ = np.arange(problem.n, dtype=np.int32)
    hessian.value_ = 2.0 * problem.weight
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", seconds)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.asarray(solver.getSolution().col_value)


@dataclass
class _Point:
    """A point strictly between the bounds, with the prices of the sums and of the bounds."""

    matrix: Any
    missing: np.ndarray
    curve: np.ndarray
    low: np.ndarray
    high: np.ndarray
    x: np.ndarray
    price: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray
    pull: float = 0.3
    """How far the next step stays from the bounds."""

    @classmethod
    def start(
        cls, matrix: Any, missing: np.ndarray, weight: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> _Point:
        room = np.minimum(1.0, np.where(np.isinf(high - low), 1.0, (high - low) / 2))
        x = np.clip(np.zeros(len(low)), low + room, high - room)
        below, above = np.isfinite(low).astype(float), np.isfinite(high).astype(float)
        price = np.zeros(matrix.shape[0])
        return cls(matrix, missing, 2 * weight, low, high, x, price, below, above)

    @property
    def _slope(self) -> np.ndarray:
        """By how much the point fails to be stationary."""
        prices = self.matrix.T @ self.price + self.at_low - self.at_high
        return np.asarray(self.curve * self.x - prices)

    @property
    def _gap(self) -> float:
        """Mean product of a price and the distance from its bound."""
        ends = int(np.isfinite(self.low).sum() + np.isfinite(self.high).sum())
        total = self.at_low @ self._room(self.low) + self.at_high @ self._room(self.high)
        return float(total / max(ends, 1))

    def _room(self, bound: np.ndarray) -> np.ndarray:
        """Return the distance from a bound; 1 where there is none, its price being zero."""
        return np.where(np.isfinite(bound), np.abs(self.x - bound), 1.0)

    @property
    def done(self) -> bool:
        """Whether sums, slopes and products are all small."""
        missed = np.abs(self.missing - self.matrix @ self.x).max(initial=0.0)
        steep = np.abs(self._slope).max(initial=0.0) / (1.0 + np.abs(self.price).max(initial=0.0))
        cost = max(float(self.curve @ self.x**2), 1e-12)
        ends = 2 * len(self.x)
        return bool(missed < _NEAR and steep < 1e-7 and self._gap * ends < 1e-6 * cost)

    def advance(self) -> None:
        """Make one step towards a point nearer to the bounds that are active."""
        below, above = self._room(self.low), self._room(self.high)
        aim = self.pull * self._gap
        has_low, has_high = np.isfinite(self.low), np.isfinite(self.high)
        to_low = np.where(has_low, aim / below, 0.0) - self.at_low
        to_high = np.where(has_high, aim / above, 0.0) - self.at_high
        stiff = self.curve + self.at_low / below + self.at_high / above
        stiff = np.maximum(stiff, 1e-14)
        force = -self._slope + to_low - to_high
        step, price = self._solved(stiff, force)
        low_step = to_low - self.at_low * step / below
        high_step = to_high + self.at_high * step / above
        primal = min(_reach(below, np.where(has_low, step, 0.0)),
                     _reach(above, np.where(has_high, -step, 0.0)))  # fmt: skip
        dual = min(_reach(self.at_low, low_step), _reach(self.at_high, high_step))
        length = min(1.0, _STEP * min(primal, dual))
        self.x = self.x + length * step
        self.price = self.price + length * price
        self.at_low, self.at_high = (
            self.at_low + length * low_step,
            self.at_high + length * high_step,
        )
        self.pull = 0.1 if length > 0.9 else 0.3 if length > 0.3 else 0.8

    def _solved(self, stiff: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the step of point and prices, by the normal equations of the sums."""
        from scipy.sparse import csc_array, diags_array, eye_array
        from scipy.sparse.linalg import splu

        matrix = self.matrix
        normal = csc_array(matrix @ diags_array(1.0 / stiff) @ matrix.T)
        # Sums that follow from others make it singular; a trace of the identity does not.
        trace = 1e-11 * max(float(np.abs(normal.diagonal()).max(initial=0.0)), 1e-11)
        factor = splu(csc_array(normal + trace * eye_array(normal.shape[0])), permc_spec="COLAMD")
        wanted = self.missing - matrix @ self.x - matrix @ (force / stiff)
        price = factor.solve(wanted)
        for _ in range(3):
            price = price + factor.solve(wanted - normal @ price)
        return (matrix.T @ price + force) / stiff, price


def _reach(amount: np.ndarray, step: np.ndarray) -> float:
    """Return how many steps lead to where an amount would turn negative."""
    falling = step < 0
    return float((amount[falling] / -step[falling]).min(initial=np.inf))
