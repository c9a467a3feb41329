"""The keys of a released file with what each record stands for in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le

from tacit.core.data import Microdata
from tacit.core.keys import Missing, frequencies
from tacit.core.pairing import pair
from tacit.risk._released_keys import ReleasedKeys, released_keys

Fraction = Annotated[float, Gt(0), Le(1)]
"""A share of the population."""


@dataclass(frozen=True)
class SampledKeys(ReleasedKeys):
    """Codes of the keys, with the number of people of the population each record stands for."""

    data: Microdata
    """The released records."""
    given_fraction: float | None = None
    """Sampling fraction, where it was given in place of weights."""

    @property
    def is_sample(self) -> bool:
        """Whether anything says how the records were drawn from the population."""
        return self.weights is not None

    @property
    def fraction(self) -> float:
        """Share of the population that is in the file, at most 1."""
        if self.given_fraction is not None:
            return self.given_fraction
        if self.weights is None:
            return 1.0
        return min(1.0, self.n_records / float(self.weights.sum()))

    def counts(self, missing: Missing) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each record, how often its key occurs in the file and in the population."""
        in_file = frequencies(self.codes, missing=missing)
        if self.weights is None:
            return in_file, in_file.astype(np.float64)
        return in_file, frequencies(self.codes, self.weights, missing=missing)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know about keys that are gone and about the population."""
        gone = super().warnings
        if self.is_sample:
            return gone
        return (
            *gone,
            "There are no weights and no sampling fraction: the file is taken to be the whole "
            "population, which is the most careful reading.",
        )


def sampled_keys(
    original: Any,
    release: Any,
    names: Sequence[str] | None,
    fraction: float | None,
    *,
    by: str,
) -> SampledKeys:
    """Encode the keys of the release (or of the original alone) and find its weights.

    A sampling fraction that is given takes the place of weights. A release that has lost its
    weights keeps those of the original records, which the data holder still knows.
    """
    keys = released_keys(original, release, names, by=by)
    both = pair(original, release)
    weights = keys.weights
    if fraction is not None:
        weights = np.full(keys.n_records, 1 / fraction)
    elif weights is None and both.rows is not None and np.all(both.rows >= 0):
        before = both.original.weights
        weights = None if before is None else before[both.rows]
    return SampledKeys(keys.names, keys.removed, keys.codes, weights, both.released, fraction)
