r"""How far a log-linear model misjudges the risk: the statistics of Skinner and Shlomo.

With :math:`\mu_k = \pi \lambda_k` the expected number of records of cell :math:`k` in the sample,
a sample unique there has risk :math:`h(\lambda_k)`:

* :math:`h_1(\lambda) = e^{-\lambda (1-\pi)}`, that it is unique in the population;
* :math:`h_2(\lambda) = \frac{1 - e^{-\lambda (1-\pi)}}{\lambda (1-\pi)}`, the mean of
  :math:`1/F_k`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.risk._decomposable import DecomposableModel

_MANY_CELLS = 1 << 18
"""Tables with more cells are summed over drawn ones."""
_N_DRAWN = 1 << 16
"""Number of cells that are drawn."""
_SMALL = 1e-3
"""Below this argument h2 and its derivatives come from their series."""


@dataclass(frozen=True)
class Misjudgement:
    """Estimated errors of both risk measures, with their standard errors if the model is right."""

    bias: tuple[float, float]
    spread: tuple[float, float]

    @property
    def standardised(self) -> tuple[float, float]:
        """Errors in units of their standard error: positive for too simple a model."""
        first, second = (
            b / s if s > 0 else 0.0 for b, s in zip(self.bias, self.spread, strict=True)
        )
        return first, second

    @property
    def size(self) -> float:
        """Both errors in one number, zero at best."""
        return float(np.hypot(*self.standardised))


def unique_risks(expected: np.ndarray, fraction: np.ndarray | float) -> tuple[np.ndarray, ...]:
    """Return h1 and h2 for sample uniques with expected sample counts and sampling fractions."""
    reach = expected * (1 - fraction) / fraction
    return np.exp(-reach), _h2(reach)[0]


def _h2(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (1 - exp(-x)) / x and its first two derivatives."""
    small = x < _SMALL
    y = np.where(small, 1.0, x)
    e = np.exp(-y)
    value = np.where(small, 1 - x / 2 + x**2 / 6, -np.expm1(-y) / y)
    first = np.where(small, -1 / 2 + x / 3 - x**2 / 8, ((1 + y) * e - 1) / y**2)
    second = np.where(small, 1 / 3 - x / 4 + x**2 / 10, (2 - (y**2 + 2 * y + 2) * e) / y**3)
    return value, first, second


def misjudgement(
    model: DecomposableModel, fraction: float, rng: np.random.Generator
) -> Misjudgement:
    """Estimate by how much the model misjudges both risk measures.

    Cells without records count too. Their sum needs all cells of the table, or, where there are
    too many, cells drawn from the model itself.
    """
    if fraction == 1:
        return Misjudgement((0.0, 0.0), (0.0, 0.0))
    counts, expected = model.table.counts, model.fitted()
    cells, importance = _cells_to_sum(model, rng)
    bias, spread = [], []
    seen = _coefficients(expected, fraction)
    everywhere = _coefficients(cells, fraction)
    # Estimator of skinner2008: sum of a (f - mu) + b ((f - mu)^2 - f), with f = 0 in empty cells
    for (a, b), (all_a, all_b) in zip(seen, everywhere, strict=True):
        if_empty = importance @ (all_b * cells**2 - all_a * cells)
        bias.append(float(if_empty + np.sum(a * counts + b * counts * (counts - 2 * expected - 1))))
        variance = importance @ (all_a**2 * cells + 2 * all_b**2 * cells**2)
        spread.append(float(np.sqrt(variance)))
    return Misjudgement((bias[0], bias[1]), (spread[0], spread[1]))


def _cells_to_sum(
    model: DecomposableModel, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected counts of cells, and how many cells of the table each stands for."""
    table = model.table
    if table.n_possible <= _MANY_CELLS:
        expected = model.fitted_everywhere()
        return expected, np.ones(len(expected))
    _, expected = model.draw(_N_DRAWN, rng)
    return expected, table.n_records / (len(expected) * expected)


def _coefficients(expected: np.ndarray, fraction: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return a = -lambda exp(-mu) h' and b = lambda exp(-mu) h'' / (2 pi) for both measures."""
    weight = expected / fraction * np.exp(-expected)
    rest = 1 - fraction
    reach = expected / fraction * rest
    h1 = np.exp(-reach)
    _, first, second = _h2(reach)
    return [
        (-weight * rest * slope, weight * rest**2 * bend / (2 * fraction))
        for slope, bend in ((-h1, h1), (first, second))
    ]
