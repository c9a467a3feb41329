"""Subdomains of two files: the same groups of records, with their sizes, means and variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.common_scale import as_text
from tacit.core.keys import group_ids
from tacit.core.pairing import Pair
from tacit.core.schema import Kind, Role
from tacit.utility._tables import SharedCodes, tabulated_columns


@dataclass(frozen=True)
class Domains:
    """Groups of records by their categories, numbered alike in both files."""

    columns: tuple[str, ...]
    labels: list[str]
    """What the records of each group have in common."""
    before: np.ndarray
    """Group of each original record."""
    after: np.ndarray
    """Group of each released record."""

    @classmethod
    def of(cls, both: Pair, columns: Sequence[str]) -> Domains:
        """Group the records of both files by the labels of some columns; a gap is a label."""
        codes = SharedCodes.of(both, columns)
        stacked = np.concatenate([codes.before, codes.after])
        ids, n_groups = group_ids(np.ascontiguousarray(stacked, dtype=np.int32))
        n = len(codes.before)
        first = np.full(n_groups, len(ids))
        np.minimum.at(first, ids, np.arange(len(ids)))
        labels = _labels(both, columns, first)
        return cls(tuple(columns), labels, ids[:n], ids[n:])


def _labels(both: Pair, columns: Sequence[str], rows: np.ndarray) -> list[str]:
    """Describe the groups by the values of one record of each."""
    n = both.original.n_records
    parts = []
    for column in columns:
        old, new = (as_text(side.local[column]) for side in (both.original, both.released))
        texts = [old[int(r)] if r < n else new[int(r) - n] for r in rows]
        parts.append([f"{column} = {'missing' if t is None else t}" for t in texts])
    return [", ".join(words) for words in zip(*parts, strict=True)]


@dataclass(frozen=True)
class DomainMoments:
    """Size, mean, variance and standard error of a column in each domain; NaN: no value."""

    sizes: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    """Sum of the squared weighted values."""
    means: np.ndarray
    variances: np.ndarray
    effective: np.ndarray

    @classmethod
    def of(
        cls, values: np.ndarray, weights: np.ndarray, ids: np.ndarray, n_groups: int
    ) -> DomainMoments:
        """Sum the values that are there, by domain."""
        known = ~np.isnan(values)
        x, w, at = values[known], weights[known], ids[known]

        def summed(terms: np.ndarray) -> np.ndarray:
            return np.bincount(at, terms, minlength=n_groups)

        weight = summed(w)
        means = _over(summed(w * x), weight)
        # Deviations are taken before squaring: sums of squares lose digits of large numbers.
        variances = _over(summed(w * (x - means[at]) ** 2), weight)
        effective = _over(weight**2, summed(w**2))
        sizes = np.bincount(at, minlength=n_groups)
        return cls(sizes, summed(w * x), summed((w * x) ** 2), means, variances, effective)

    @property
    def errors(self) -> np.ndarray:
        """Standard errors of the means."""
        return np.asarray(np.sqrt(_over(self.variances, np.maximum(self.effective - 1.0, 0.0))))


def _over(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    nothing = np.full(len(above), np.nan)
    return np.asarray(np.divide(above, below, out=nothing, where=below > 0))


def usual_domains(both: Pair) -> list[str]:
    """Columns whose categories make domains: keys if there are any, else all with few values."""
    tabulated = [
        c
        for c in tabulated_columns(both)
        if Role.CONFIDENTIAL not in both.original.schema[c].roles
        and both.original.schema[c].kind != Kind.TEXT
    ]
    other = recoded(both, tabulated)
    tabulated = [c for c in tabulated if c not in other]
    keys = [c for c in tabulated if Role.KEY in both.original.schema[c].roles]
    return keys or tabulated


def recoded(both: Pair, columns: Sequence[str]) -> list[str]:
    """Columns whose released categories have none in common with the original ones."""
    if not columns or min(both.original.n_records, both.released.n_records) == 0:
        return []
    return SharedCodes.of(both, columns).recoded()
