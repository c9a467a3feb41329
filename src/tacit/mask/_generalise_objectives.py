"""What a full-domain generalisation loses: the measures that the search can minimise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.mask._generalise_domains import Domain

ObjectiveName = Literal["loss", "precision", "height", "discernibility", "class-size"]


@dataclass(frozen=True)
class Tally:
    """What the classes of one generalisation add up to."""

    excess: np.ndarray
    """Per key, what suppressed records cost beyond their labels, as a share of the records."""
    n_classes: int
    """Classes that are released."""
    sum_of_squares: float
    """Sum of the squared sizes of the released classes."""
    n_suppressed: int
    n_records: int


@dataclass(frozen=True)
class Objective:
    """A measure of loss, as sums that bound each other.

    The measures per key are means of :meth:`cell_losses` over the records, so their value without
    suppression is known for every generalisation before any class is counted.
    """

    name: ObjectiveName
    domains: Sequence[Domain]
    weights: np.ndarray
    """Importance of each key; the weights add up to 1."""

    @property
    def is_per_key(self) -> bool:
        """Whether the measure is made of one mean per key."""
        return self.name in ("loss", "precision", "height")

    @property
    def feels_suppression(self) -> bool:
        """Whether a suppressed record raises the means per key."""
        return self.name in ("loss", "precision")

    def cell_losses(self, domain: Domain) -> np.ndarray:
        """Loss of each value at each level, levels by values."""
        if self.name == "loss":
            return domain.losses
        heights = np.arange(domain.n_levels) / max(domain.n_levels - 1, 1)
        return np.repeat(heights[:, None], domain.labels.shape[1], axis=1)

    def terms(self, j: int, means: np.ndarray) -> np.ndarray:
        """Part of key `j` in the sum to minimise, for mean losses of that key."""
        if self.name == "loss":
            return np.asarray(self.weights[j] * np.log1p(means))
        if self.name == "height":
            return np.asarray(self.weights[j] * means * max(self.domains[j].n_levels - 1, 1))
        return np.asarray(self.weights[j] * means)

    def total(self, means: np.ndarray, tally: Tally) -> float:
        """Return the sum to minimise; `means` are the losses per key without suppression."""
        if self.name == "discernibility":
            # The metric of bayardo2005: a suppressed record counts as like all others.
            return tally.sum_of_squares + float(tally.n_suppressed) * tally.n_records
        if self.name == "class-size":
            return tally.n_records / max(tally.n_classes + (tally.n_suppressed > 0), 1)
        if self.feels_suppression:
            means = means + tally.excess
        return float(sum(self.terms(j, mean) for j, mean in enumerate(means)))

    def score(self, total: float) -> float:
        """Return the measure as it is reported."""
        if self.name == "loss":
            return float(np.expm1(total))
        return total * len(self.domains) if self.name == "height" else total

    def floor_above(self, sizes: np.ndarray) -> float:
        """Bound of the total of every generalisation coarser than one with these classes."""
        if self.name == "discernibility":
            return float(np.sum(sizes.astype(np.float64) ** 2))
        return float(sizes.sum()) / (len(sizes) + 1) if self.name == "class-size" else 0.0


def shared_weights(names: Sequence[str], importance: dict[str, float] | None) -> np.ndarray:
    """Return the weight of each key: 1 unless given, scaled to add up to 1."""
    weights = np.array([(importance or {}).get(name, 1.0) for name in names])
    return np.asarray(weights / weights.sum())
