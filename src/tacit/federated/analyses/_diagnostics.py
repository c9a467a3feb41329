"""KS's regression diagnostics from sums: leverages, residuals, a synthetic residual plot."""

from __future__ import annotations

from typing import Any

import numpy as np

LEVERAGE_EDGES = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Leverages are counted between these multiples of their mean p/n."""
N_LEVERAGE = len(LEVERAGE_EDGES) + 2
RESIDUAL_EDGES = np.array([-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
FITTED_EDGES = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
_SHAPE = (len(FITTED_EDGES) + 1, len(RESIDUAL_EDGES) + 1)
_N_MOMENTS = 9
N_RESIDUAL = _N_MOMENTS + _SHAPE[0] * _SHAPE[1]
_POINTS = 200
"""Most points in a synthetic plot."""


def leverage_counts(leverage: np.ndarray, limits: tuple[float, ...]) -> np.ndarray:
    """Count leverages between edges, and those above the largest that is allowed."""
    place = np.searchsorted(limits[:-1], leverage, side="left")
    counts = np.bincount(place, minlength=len(limits))
    above = float(np.sum(leverage > limits[-1]))
    return np.concatenate([counts.astype(float), [above]])


def residual_sums(scaled: np.ndarray, leverage: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    """Return moments of standardised residuals and their counts on a grid with fitted values."""
    r = scaled / np.sqrt(np.maximum(1 - leverage, 1e-12))
    size = np.abs(r)
    moments = [
        r.sum(), (r**2).sum(), (r**3).sum(), (r**4).sum(),
        size.sum(), fitted.sum(), (fitted**2).sum(), (size * fitted).sum(), float(len(r)),
    ]  # fmt: skip
    place = np.searchsorted(FITTED_EDGES, fitted) * _SHAPE[1] + np.searchsorted(RESIDUAL_EDGES, r)
    counts = np.bincount(place, minlength=_SHAPE[0] * _SHAPE[1])
    return np.concatenate([moments, counts.astype(float)])


def _grid(total: np.ndarray) -> np.ndarray:
    return np.asarray(np.rint(total[_N_MOMENTS:])).reshape(_SHAPE)


def merged(counts: np.ndarray, smallest: int) -> list[list[int]]:
    """Join neighbouring classes until none is small: first class, last class, count.

    Examples
    --------
    >>> merged(np.array([40.0, 9.0, 0.0, 1.0, 1.0]), 3)
    [[0, 0, 40], [1, 4, 11]]
    """
    found: list[list[int]] = []
    start, held = 0, 0
    for i, count in enumerate(np.rint(counts).astype(int).tolist()):
        held += count
        if held >= smallest:
            found.append([start, i, held])
            start, held = i + 1, 0
    if start < len(counts) and found:
        first, _, last = found.pop()
        found.append([first, len(counts) - 1, last + held])
    return found


def residual_summary(total: np.ndarray, n: int, smallest: int) -> dict[str, Any]:
    """Return moments, tails and the link of spread and fitted value."""
    s1, s2, s3, s4, a1, f1, f2, af, _ = total[:_N_MOMENTS] / n
    variance = s2 - s1**2
    third = s3 - 3 * s1 * s2 + 2 * s1**3
    fourth = s4 - 4 * s1 * s3 + 6 * s1**2 * s2 - 3 * s1**4
    spread = np.sqrt(max((s2 - a1**2) * (f2 - f1**2), 0.0))
    return {
        "mean": float(s1),
        "deviation": float(np.sqrt(variance)),
        "skewness": float(third / variance**1.5),
        "excess_kurtosis": float(fourth / variance**2 - 3),
        "spread_with_fitted": float((af - a1 * f1) / spread) if spread > 0 else 0.0,
        "edges": RESIDUAL_EDGES.tolist(),
        "counts": merged(_grid(total).sum(axis=0), smallest),
    }


def synthetic_plot(
    total: np.ndarray, smallest: int, mean: float, spread: float
) -> dict[str, list[float]]:
    """Draw points that no record has, with the joint pattern of fitted values and residuals.

    Cells of the grid with fewer than `smallest` records are left empty; in the others points are
    spread evenly. The draw is fixed by the counts, so that every agency draws the same points.
    """
    grid = _grid(total)
    grid = np.where(grid < smallest, 0, grid)
    if grid.sum() == 0:
        return {"fitted": [], "residual": []}
    shown = np.floor(grid * min(1.0, _POINTS / grid.sum()) + 0.5).astype(int)
    row, column = np.divmod(np.repeat(np.arange(grid.size), shown.ravel()), _SHAPE[1])
    rng = np.random.default_rng(np.abs(grid).astype(np.int64).ravel().tolist())
    fitted = _within(row, FITTED_EDGES, rng)
    return {
        "fitted": (mean + spread * fitted).tolist(),
        "residual": _within(column, RESIDUAL_EDGES, rng).tolist(),
    }


def _within(place: np.ndarray, edges: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw evenly inside classes; the outer ones are as wide as their neighbours."""
    step = edges[1] - edges[0]
    all_edges = np.concatenate([[edges[0] - step], edges, [edges[-1] + step]])
    drawn: np.ndarray = rng.uniform(all_edges[place], all_edges[place + 1])
    return drawn
