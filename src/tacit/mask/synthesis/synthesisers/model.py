"""What every model of one variable offers: it is fitted once and drawn from as often as needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.mask.synthesis.predictors import View


@dataclass(frozen=True)
class Settings:
    """Choices that all models share."""

    leaf: int = 5
    """Records in a leaf, at least."""
    evidence: float = 8.0
    """How many times as much as a random cut a cut must explain."""
    smooth: bool = True
    """Draw numbers between those of a leaf."""
    common: int = 3
    """Numbers that so many records share are drawn as they are."""
    common_category: int = 2
    """Categories that fewer have are not drawn."""
    trees: int = 10
    """Trees of a forest."""
    proper: bool = False
    """Draw the parameters of the model too."""


@dataclass(frozen=True)
class Target:
    """The known values of a variable, without gaps."""

    values: np.ndarray
    """Classes from 0, or numbers."""
    n_classes: int
    """Number of classes; 0 for numbers."""
    shared: np.ndarray | None = None
    """Numbers that many records of the original share, rising; a bootstrap sample cannot tell."""

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.values)


@dataclass(frozen=True)
class Bounds:
    """Lowest and highest value of each new record."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def none(cls, n: int) -> Bounds:
        """No bounds."""
        return cls(np.full(n, -np.inf), np.full(n, np.inf))

    def take(self, rows: np.ndarray) -> Bounds:
        """Return the bounds of some records."""
        return Bounds(self.low[rows], self.high[rows])


class Fitted(Protocol):
    """A model that has seen the original."""

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw one value for each record."""


class Fit(Protocol):
    """A way to fit a model of one variable."""

    def __call__(
        self, target: Target, seen: View, settings: Settings, rng: np.random.Generator
    ) -> Fitted:
        """Fit the model."""


def shared_numbers(values: np.ndarray, common: int) -> np.ndarray:
    """Return the numbers that at least `common` records have, rising.

    Examples
    --------
    >>> shared_numbers(np.array([1.0, 2.0, 2.0, np.nan]), 2).tolist()
    [2.0]
    """
    distinct, sizes = np.unique(values[~np.isnan(values)], return_counts=True)
    return np.asarray(distinct[sizes >= common])


def is_shared(values: np.ndarray, target: Target, common: int) -> np.ndarray:
    """Say which of some values many records of the original have."""
    shared = target.shared
    if shared is None:
        shared = shared_numbers(target.values, common)
    return np.asarray(np.isin(values, shared))
