"""The keys of a released file with what each record stands for in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le

from tacit.core.data import Microdata
from tacit.core.keys import Missing, frequencies_of_each
from tacit.core.pairing import pair, sides
from tacit.risk._released_keys import ReleasedKeys, released_keys

Fraction = Annotated[float, Gt(0), Le(1)]
"""A share of the population."""


@dataclass(frozen=True)
class SampledKeys(ReleasedKeys):
    """Codes of the keys, with the number of people of the population each record stands for."""

    data: Microdata = field(kw_only=True)
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
        if self.weights is None:
            in_file = self.sizes(missing)
            return in_file, in_file.astype(np.float64)
        times = None if self.times is None else self.times.astype(np.float64)
        in_file, in_population = frequencies_of_each(
            self.codes, [times, self.weights], missing=missing
        )
        if times is not None:
            in_file = np.rint(in_file).astype(np.int64)
        return in_file, in_population

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
    may_count_classes: bool = False,
) -> SampledKeys:
    """Encode the keys of the release (or of the original alone) and find its weights.

    A sampling fraction that is given takes the place of weights. A release that has lost its
    weights keeps those of the original records, which the data holder still knows.
    """
    keys = released_keys(original, release, names, by=by, may_count_classes=may_count_classes)
    before, after = sides(original, release)
    weights = keys.weights
    if fraction is not None:
        weights = (np.ones(keys.n_records) if keys.times is None else keys.times) / fraction
    elif weights is None and before.schema.weight is not None:
        weights = _weights_of_originals(original, release, keys)
    counted = (keys.names, keys.removed, keys.codes, weights, keys.times)
    return SampledKeys(*counted, data=after, given_fraction=fraction)


def _weights_of_originals(original: Any, release: Any, keys: ReleasedKeys) -> np.ndarray | None:
    """Return the weights that the released records had in the original, where that is known."""
    if keys.times is not None:
        return None
    both = pair(original, release)
    before = both.original.weights
    if before is None or both.rows is None or not np.all(both.rows >= 0):
        return None
    return np.asarray(before[both.rows])
