"""Estimates from a sample survey with their standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.keys import encode_series, group_ids
from tacit.core.pairing import Pair
from tacit.core.schema import Role


@dataclass(frozen=True)
class SurveyDesign:
    """Weights, strata and clusters of one file."""

    weights: np.ndarray
    strata: np.ndarray
    clusters: np.ndarray

    @classmethod
    def of_both(cls, both: Pair) -> tuple[SurveyDesign, SurveyDesign]:
        """Describe both files by what both of them have."""
        sides = both.original, both.released
        weighted = all(side.schema.weight is not None for side in sides)
        strata = _shared(both, Role.STRATUM)
        household = _shared(both, Role.HOUSEHOLD)
        before, after = (cls._of(side, weighted, strata, household) for side in sides)
        return before, after

    @classmethod
    def _of(cls, side: Any, weighted: bool, strata: list[str], household: list[str]) -> Any:
        weights = side.weights if weighted else np.ones(side.n_records)
        return cls(weights, _numbered(side, strata), _clusters(side, household))

    def total(self, values: np.ndarray) -> tuple[float, float]:
        """Estimate a total and its standard error; missing values are left out."""
        known = ~np.isnan(values)
        terms = np.where(known, self.weights * np.where(known, values, 0.0), 0.0)
        return float(terms.sum()), self._error(terms)

    def mean(self, values: np.ndarray) -> tuple[float, float]:
        """Estimate a mean, or a share, and its standard error by linearisation of the ratio."""
        known = ~np.isnan(values)
        w = np.where(known, self.weights, 0.0)
        if w.sum() == 0:
            return float("nan"), float("nan")
        filled = np.where(known, values, 0.0)
        mean = float(w @ filled / w.sum())
        return mean, self._error(w * (filled - mean) / w.sum())

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Cluster of each record, and stratum of each cluster."""
        both = np.column_stack([self.strata, self.clusters])
        ids, n_clusters = group_ids(np.ascontiguousarray(both, dtype=np.int32))
        stratum = np.zeros(n_clusters, dtype=np.int64)
        stratum[ids] = self.strata
        return ids, stratum

    def _error(self, terms: np.ndarray) -> float:
        """Return the error of a sum of terms: clusters drawn with replacement within strata."""
        ids, stratum = self._drawn
        sums = np.bincount(ids, terms, minlength=len(stratum))
        sizes = np.bincount(stratum)
        means = np.bincount(stratum, sums) / np.maximum(sizes, 1)
        # A stratum of one cluster has no variance of its own: it is compared with the whole file.
        centre = np.where(sizes > 1, means, sums.mean())[stratum]
        factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)[stratum]
        return float(np.sqrt(factor @ (sums - centre) ** 2))


def _shared(both: Pair, role: Role) -> list[str]:
    released = set(both.released.schema.names(role))
    return [name for name in both.original.schema.names(role) if name in released]


def _numbered(side: Any, columns: list[str]) -> np.ndarray:
    """Return numbers of the groups of some columns; one group where there is no column."""
    if not columns:
        return np.zeros(side.n_records, dtype=np.int64)
    codes = np.column_stack([encode_series(side.local[c]) for c in columns])
    return group_ids(codes)[0]


def _clusters(side: Any, household: list[str]) -> np.ndarray:
    """Return each record's household, or the record itself where none is known."""
    n = side.n_records
    if not household:
        return np.arange(n)
    codes = encode_series(side.local[household[0]]).astype(np.int64)
    return np.where(codes < 0, codes.max(initial=0) + 1 + np.arange(n), codes)
