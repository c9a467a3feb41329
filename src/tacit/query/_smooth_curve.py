"""A smooth curve through a cloud of points, too stiff to follow single ones."""

from __future__ import annotations

from typing import Any

import numpy as np

_DEGREE = 3
_SEGMENTS = 8


class SmoothCurve:
    """Penalised cubic spline with a fixed number of degrees of freedom.

    The stiffness is set, not estimated: a curve fitted by cross-validation may follow single
    points, and so tell on them.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, *, freedom: float = 5.0) -> None:
        self._knots = _knots(x)
        basis = self._basis(x)
        gram = np.asarray((basis.T @ basis).todense())
        bend = np.diff(np.eye(len(gram)), n=2, axis=0)
        penalty = bend.T @ bend
        ridge = 1e-9 * np.trace(gram) / len(gram) * np.eye(len(gram))
        stiffness = _stiffness(gram + ridge, penalty, freedom)
        self._weights = np.linalg.solve(gram + ridge + stiffness * penalty, basis.T @ y)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._basis(x) @ self._weights)

    def _basis(self, x: np.ndarray) -> Any:
        from scipy.interpolate import BSpline

        inside = np.clip(x, self._knots[_DEGREE], self._knots[-_DEGREE - 1])
        return BSpline.design_matrix(inside, self._knots, _DEGREE)


def _knots(x: np.ndarray) -> np.ndarray:
    inner = np.unique(np.quantile(x, np.linspace(0, 1, _SEGMENTS + 1)))
    return np.asarray(np.r_[[inner[0]] * _DEGREE, inner, [inner[-1]] * _DEGREE])


def _stiffness(gram: np.ndarray, penalty: np.ndarray, freedom: float) -> float:
    """Return the weight of the penalty that leaves so many degrees of freedom, by bisection."""
    scale = float(np.trace(gram))
    low, high = -12.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        left = np.trace(np.linalg.solve(gram + scale * 10**middle * penalty, gram))
        low, high = (middle, high) if left > freedom else (low, middle)
    return float(scale * 10.0**high)
