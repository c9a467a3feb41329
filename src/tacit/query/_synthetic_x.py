"""Made-up values of a predictor, and the sticky random numbers they are made from."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError


class Streams:
    """The random numbers of one dependent variable: the same whatever the model and predictor.

    Fresh numbers for each plot would average out over many plots of the same residuals.
    """

    def __init__(self, secret: bytes, dependent: str, points: int) -> None:
        if not isinstance(secret, bytes) or len(secret) < 16:
            raise ParameterError(
                "the secret of diagnostics is at least 16 bytes", got=type(secret).__name__
            )
        if points < 1:
            raise ParameterError("a plot has at least one point", got=points)
        name = dependent.encode("utf-8", "surrogatepass")
        seed = hmac.new(secret, b"tacit residual plot " + name, hashlib.sha256).digest()
        self._seed, self.points = int.from_bytes(seed, "big"), points

    def uniform(self, use: int, n: int) -> np.ndarray:
        """Return the first n uniform numbers kept for one use."""
        return self._generator(use).random(self.points)[:n]

    def normal(self, use: int, n: int) -> np.ndarray:
        """Return the first n normal numbers kept for one use."""
        return self._generator(use).standard_normal(self.points)[:n]

    def _generator(self, use: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(use,)))


def complete(x: Any, *others: Any) -> tuple[np.ndarray, ...]:
    """Return the arrays without the units of which anything is missing."""
    given = np.asarray(x)
    if given.dtype.kind not in "biuf":
        given = given.astype(object)
    arrays = [np.asarray(other, dtype=float) for other in others]
    if given.ndim != 1 or any(a.shape != given.shape for a in arrays):
        raise DataError("predictor and residuals have one value for each unit")
    kept = np.all([np.isfinite(a) for a in arrays], axis=0)
    if given.dtype == object:
        kept &= np.array([value is not None and value == value for value in given], dtype=bool)
        return (given[kept].astype(str), *(a[kept] for a in arrays))
    kept &= np.isfinite(given.astype(float))
    return (given[kept].astype(float), *(a[kept] for a in arrays))


def guarded_range(x_sorted: np.ndarray, minimum: int) -> tuple[float, float]:
    """Return the ends of what is shown: the outermost units play no part in them."""
    ends = x_sorted[minimum : 2 * minimum], x_sorted[-2 * minimum : -minimum]
    low, high = (float(end.mean()) for end in ends)
    if not low < high:
        raise DataError(
            "the predictor hardly varies, so a plot against it shows nothing",
            do="treat it as categorical",
        )
    return low, high


def synthetic_x(x_sorted: np.ndarray, n: int, streams: Streams, minimum: int) -> np.ndarray:
    """Draw from a kernel density estimate: a value taken at random, moved by normal noise."""
    low, high = guarded_range(x_sorted, minimum)
    quartiles = np.quantile(x_sorted, [0.25, 0.75])
    spread = min(x_sorted.std(), float(np.diff(quartiles)[0]) / 1.349 or np.inf)
    bandwidth = 0.9 * spread * len(x_sorted) ** -0.2  # Silverman's rule
    picked = x_sorted[(streams.uniform(0, n) * len(x_sorted)).astype(np.int64)]
    return np.asarray(np.clip(picked + bandwidth * streams.normal(1, n), low, high))
