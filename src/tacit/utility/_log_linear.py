"""Hierarchical log-linear models of a contingency table, fitted by iterative proportional fitting.

A model is the set of its terms; a term is the set of variables that interact. With a term come all
its subsets, and the largest terms, the generators, are the margins that the fitted table keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

Term = frozenset[int]
_MOST_SWEEPS = 200
_PRECISION = 1e-8
"""Fitting stops where no margin is off by more than this share of the records."""


@dataclass(frozen=True)
class LogLinearModel:
    """Terms of a hierarchical model, the single variables always among them."""

    terms: frozenset[Term]

    @classmethod
    def independence(cls, n_variables: int) -> LogLinearModel:
        """Return the model without interactions."""
        return cls(frozenset(frozenset({j}) for j in range(n_variables)))

    @property
    def generators(self) -> list[Term]:
        """Largest terms, in a fixed order."""
        largest = [t for t in self.terms if not any(t < other for other in self.terms)]
        return sorted(largest, key=lambda t: (len(t), sorted(t)))

    def n_parameters(self, shape: tuple[int, ...]) -> int:
        """Count free parameters, the total left out."""
        return sum(int(np.prod([shape[j] - 1 for j in term])) for term in self.terms)

    def additions(self, largest: int) -> Iterator[Term]:
        """List the terms that can be added, all smaller terms in them being there."""
        variables = sorted(frozenset().union(*self.terms))
        for size in range(2, largest + 1):
            for chosen in combinations(variables, size):
                term = frozenset(chosen)
                if term not in self.terms and all(term - {j} in self.terms for j in term):
                    yield term

    def removals(self) -> Iterator[Term]:
        """List the interactions that can be taken out: no larger term needs them."""
        return (term for term in self.generators if len(term) > 1)

    def plus(self, term: Term) -> LogLinearModel:
        """Add a term."""
        return LogLinearModel(self.terms | {term})

    def minus(self, term: Term) -> LogLinearModel:
        """Take a term out."""
        return LogLinearModel(self.terms - {term})


@dataclass(frozen=True)
class Fit:
    """A model fitted to a table."""

    model: LogLinearModel
    expected: np.ndarray
    log_likelihood: float
    converged: bool

    def criterion(self, penalty: float) -> float:
        """Return AIC (penalty 2) or BIC (penalty log n); smaller is better."""
        n_parameters = self.model.n_parameters(self.expected.shape)
        return -2.0 * self.log_likelihood + penalty * n_parameters


def fitted(table: np.ndarray, model: LogLinearModel, start: np.ndarray | None = None) -> Fit:
    """Fit a model by iterative proportional fitting.

    Parameters
    ----------
    table
        Counts.
    model
        The model.
    start
        Fitted table of a smaller model, from which the fit takes fewer steps.
    """
    expected = np.ones(table.shape) if start is None else start.copy()
    margins = [_kept(term, table.ndim) for term in model.generators]
    wanted = [table.sum(axis=axes, keepdims=True) for axes in margins]
    limit = _PRECISION * max(float(table.sum()), 1.0)
    for _ in range(_MOST_SWEEPS):
        off = 0.0
        for axes, target in zip(margins, wanted, strict=True):
            present = expected.sum(axis=axes, keepdims=True)
            off = max(off, float(np.abs(present - target).max()))
            expected *= np.divide(target, present, out=np.zeros_like(target), where=present > 0)
        if off <= limit:
            return Fit(model, expected, log_likelihood(table, expected), True)
    return Fit(model, expected, log_likelihood(table, expected), False)


def _kept(term: Term, n_variables: int) -> tuple[int, ...]:
    """Axes to sum over to get a term's margin."""
    return tuple(j for j in range(n_variables) if j not in term)


def log_likelihood(table: np.ndarray, expected: np.ndarray) -> float:
    r"""Return :math:`\sum_c n_c \log(\mu_c / \mu)`, minus infinity if an impossible cell occurs."""
    there = table > 0
    if np.any(expected[there] <= 0):
        return float("-inf")
    shares = expected[there] / expected.sum()
    return float(table[there] @ np.log(shares))


def searched(table: np.ndarray, penalty: float, largest: int) -> Fit:
    """Find a good model: add the best term while that helps, then take out what is not needed."""
    best = fitted(table, LogLinearModel.independence(table.ndim))
    while True:
        larger = (fitted(table, best.model.plus(t), best.expected)
                  for t in best.model.additions(largest))  # fmt: skip
        better = _best(larger, penalty, best)
        if better is best:
            break
        best = better
    while True:
        smaller = (fitted(table, best.model.minus(t)) for t in best.model.removals())
        better = _best(smaller, penalty, best)
        if better is best:
            return best
        best = better


def _best(candidates: Iterable[Fit], penalty: float, best: Fit) -> Fit:
    for candidate in candidates:
        if candidate.criterion(penalty) < best.criterion(penalty) - 1e-6:
            best = candidate
    return best
