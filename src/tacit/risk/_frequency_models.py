r"""Models of class sizes: how likely a record that is unique in the sample is so in the population.

A sample of :math:`n` of :math:`N` people falls into classes of equal keys, :math:`n_j` of them
with :math:`j` records; :math:`\pi = n / N`. Each model gives :math:`P(F = 1 \mid f = 1)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special, stats

_FAR = 1e5
"""Above this argument ratios of gamma functions come from their expansion."""
_NORMAL_95 = 1.959963984540054
_MOST_STEPS = 600


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of each size a sample has, and how large the population is."""

    sizes: np.ndarray
    """The sizes that occur, ascending."""
    counts: np.ndarray
    """Number of classes of each size."""
    fraction: float
    """Sampling fraction."""

    @classmethod
    def of(cls, in_file: np.ndarray, fraction: float) -> ClassSizes:
        """Count classes from the number of records that share each record's key."""
        records = np.bincount(in_file)
        sizes = np.flatnonzero(records)
        return cls(sizes, records[sizes] // sizes, fraction)

    @property
    def n_records(self) -> int:
        """Size of the sample."""
        return int(self.sizes @ self.counts)

    @property
    def n_classes(self) -> int:
        """Number of classes in the sample."""
        return int(self.counts.sum())

    @property
    def n_uniques(self) -> int:
        """Number of records alone in their class."""
        return int(self.counts[self.sizes == 1].sum())

    @property
    def population(self) -> float:
        """Size of the population."""
        return self.n_records / self.fraction

    @property
    def is_trivial(self) -> bool:
        """Whether the answer needs no model: everybody was sampled, or all or none is unique."""
        return self.fraction == 1 or self.n_uniques in (0, self.n_records)


@dataclass(frozen=True)
class UniqueGivenUnique:
    """Estimated probability that a sample unique is a population unique."""

    probability: float
    interval: tuple[float, float] | None = None
    """95 % confidence interval, where the fit allows one."""
    parameters: dict[str, float] | None = None


def intrusion_probability(in_file: np.ndarray, fraction: float) -> float:
    """Estimate by data intrusion simulation that a unique match is correct.

    Examples
    --------
    >>> round(intrusion_probability(np.array([1, 1, 2, 2]), 0.1), 4)
    0.1
    """
    n_uniques = int(np.sum(in_file == 1))
    n_paired = int(np.sum(in_file == 2))
    if n_uniques == 0:
        return 0.0
    # Estimator of skinner2002: pi n1 / (pi n1 + 2 (1 - pi) n2)
    return fraction * n_uniques / (fraction * n_uniques + (1 - fraction) * n_paired)


# -- one function per model -----------------------------------------------------------------------


def poisson(classes: ClassSizes) -> UniqueGivenUnique:
    """Fit equal expected frequencies: class sizes are Poisson, seen only if not empty."""
    sizes, counts, pi = classes.sizes, classes.counts, classes.fraction

    def loss(x: np.ndarray) -> float:
        mean = np.exp(x[0])
        log_seen = np.log(-np.expm1(-mean))
        return float(-counts @ (sizes * x[0] - mean - log_seen))

    def unique(x: np.ndarray) -> float:
        return float(np.exp(-np.exp(x[0]) * (1 - pi) / pi))

    return _fitted(loss, unique, [(0.0,)], lambda x: {"mean": float(np.exp(x[0]))})


def negative_binomial(classes: ClassSizes) -> UniqueGivenUnique:
    """Fit expected frequencies with a gamma distribution, seen only if not empty."""
    sizes, counts, pi = classes.sizes, classes.counts, classes.fraction

    def loss(x: np.ndarray) -> float:
        shape, t = np.exp(np.clip(x[0], -18, 12)), special.expit(x[1])
        log_seen = np.log(-np.expm1(shape * np.log1p(-t)))
        terms = special.gammaln(sizes + shape) - special.gammaln(shape) - special.gammaln(sizes + 1)
        terms = terms + shape * np.log1p(-t) + sizes * np.log(t) - log_seen
        return float(-counts @ terms)

    def unique(x: np.ndarray) -> float:
        shape, rate = np.exp(np.clip(x[0], -18, 12)), np.exp(-x[1])
        # Poisson-gamma model of bethlehem1990, conditioned on one record in the sample
        return float((pi * (rate + 1) / (pi * rate + 1)) ** (shape + 1))

    def named(x: np.ndarray) -> dict[str, float]:
        return {"shape": float(np.exp(np.clip(x[0], -18, 12))), "rate": float(np.exp(-x[1]))}

    return _fitted(loss, unique, [(0.0, 0.0), (-4.0, 2.0), (-1.0, 4.0)], named)


def pitman(classes: ClassSizes) -> UniqueGivenUnique:
    """Fit Pitman's partition model, under which sample and population are of one kind."""
    sizes, counts = classes.sizes, classes.counts
    n, u, population = classes.n_records, classes.n_classes, classes.population

    def split(x: np.ndarray) -> tuple[float, float]:
        alpha = 1e-6 + (1 - 2e-6) * special.expit(x[0])
        return float(alpha), float(np.exp(x[1]) - alpha)

    def loss(x: np.ndarray) -> float:
        alpha, theta = split(x)
        # Pitman's sampling formula as in hoshino2001, products written as gamma functions
        blocks = (u - 1) * np.log(alpha) + _log_rising(theta / alpha + 1, u - 1)
        people = _log_rising(theta + 1, n - 1)
        within = special.gammaln(sizes - alpha) - special.gammaln(1 - alpha)
        return float(people - blocks - counts @ within)

    def unique(x: np.ndarray) -> float:
        alpha, theta = split(x)
        # Each person beyond the sample stays away from the class: prod (theta+i-1+alpha)/(theta+i)
        rest = _log_ratio(theta + population, alpha - 1) - _log_ratio(theta + n, alpha - 1)
        return float(np.exp(rest))

    def named(x: np.ndarray) -> dict[str, float]:
        return dict(zip(("alpha", "theta"), split(x), strict=True))

    start = (0.0, float(np.log(u)))
    return _fitted(loss, unique, [start, (2.0, 1.0), (-2.0, np.log(n))], named)


def zayatz(classes: ClassSizes) -> UniqueGivenUnique:
    """Take the class sizes of the sample for those of the population, and apply Bayes' rule."""
    sizes, counts = classes.sizes, classes.counts
    population = max(round(classes.population), classes.n_records)
    usable = sizes <= population
    chance = np.zeros(len(sizes))
    # P(f = 1 | F = j): hypergeometric, as in zayatz1991
    chance[usable] = stats.hypergeom.pmf(1, population, sizes[usable], classes.n_records)
    unique = counts[sizes == 1].sum() * chance[sizes == 1].sum()
    total = float(counts @ chance)
    probability = float(unique / total)
    slope = -unique * chance / total**2 + np.where(sizes == 1, chance / total, 0.0)
    spread = float(np.sqrt(counts @ slope**2))
    return UniqueGivenUnique(probability, _interval(probability, spread))


# -- fitting --------------------------------------------------------------------------------------


def _log_ratio(x: float, step: float) -> float:
    """Return log Gamma(x + step) - log Gamma(x) for a small step, also where x is huge."""
    if x > _FAR:
        return float(step * np.log(x) + step * (step - 1) / (2 * x))
    return float(special.gammaln(x + step) - special.gammaln(x))


def _log_rising(x: float, n: int) -> float:
    """Return the logarithm of x (x + 1) ... (x + n - 1)."""
    if x > 1e8 * max(n, 1):
        return float(n * np.log(x))
    return float(special.gammaln(x + n) - special.gammaln(x))


def _fitted(
    loss: Callable[[np.ndarray], float],
    unique: Callable[[np.ndarray], float],
    starts: list[tuple[float, ...]],
    named: Callable[[np.ndarray], dict[str, float]],
) -> UniqueGivenUnique:
    """Maximise a likelihood from several starts and carry its curvature over to the answer."""
    with np.errstate(all="ignore"):
        fits = [_nearest_minimum(loss, np.array(x)) for x in starts]
        best = min(fits, key=lambda fit: fit.fun).x
        probability = min(max(unique(best), 0.0), 1.0)
        spread = _spread(loss, unique, best)
    return UniqueGivenUnique(probability, _interval(probability, spread), named(best))


def _nearest_minimum(loss: Callable[[np.ndarray], float], start: np.ndarray) -> Any:
    # Sums of gamma functions carry rounding errors in proportion to the likelihood: a tighter
    # tolerance would never be met, and the search would run through all its steps.
    precision = 1e-11 * max(abs(loss(start)), 1.0)
    options = {"xatol": 1e-5, "fatol": max(precision, 1e-9), "maxiter": _MOST_STEPS}
    return optimize.minimize(_finite(loss), start, method="Nelder-Mead", options=options)


def _finite(loss: Callable[[np.ndarray], float]) -> Callable[[np.ndarray], float]:
    def bounded(x: np.ndarray) -> float:
        found = loss(x)
        return found if np.isfinite(found) else 1e300

    return bounded


def _spread(
    loss: Callable[[np.ndarray], float], unique: Callable[[np.ndarray], float], x: np.ndarray
) -> float:
    """Return the standard error of the answer by the delta method; NaN where the fit is flat."""
    step, size = 1e-3, len(x)
    units = np.eye(size) * step
    curvature = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            a, b = units[i], units[j]
            mixed = loss(x + a + b) - loss(x + a - b) - loss(x - a + b) + loss(x - a - b)
            curvature[i, j] = mixed / (4 * step**2)
    slope = np.array([(unique(x + a) - unique(x - a)) / (2 * step) for a in units])
    if not np.all(np.isfinite(curvature)) or np.linalg.eigvalsh(curvature).min() < 1e-6:
        return float("nan")
    return float(np.sqrt(slope @ np.linalg.solve(curvature, slope)))


def _interval(probability: float, spread: float) -> tuple[float, float] | None:
    """Return a 95 % interval, symmetric on the logit scale so that it stays within 0 and 1."""
    if not 0 < probability < 1 or not np.isfinite(spread):
        return None
    centre = special.logit(probability)
    reach = _NORMAL_95 * spread / (probability * (1 - probability))
    low, high = special.expit(np.array([centre - reach, centre + reach]))
    return float(low), float(high)
