"""The Fellegi-Sunter model of agreement: how often fields agree among true and among all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError
from tacit.risk._linkage_fields import LinkageField
from tacit.risk._linkage_index import distinct_points, in_blocks

_MOST_PATTERNS = 2**18
"""Patterns of agreement that expectation-maximisation can hold."""
_MOST_ROUNDS = 2000
_CONVERGED = 1e-9


@dataclass(frozen=True)
class Comparison:
    """Fields of both sides with the tolerance within which their values agree."""

    external: np.ndarray
    """Fields by original records."""
    released: np.ndarray
    """Fields by released records."""
    tolerance: np.ndarray
    """One tolerance per field, 0 for categories."""

    @classmethod
    def of(
        cls, fields: Sequence[LinkageField], tolerances: dict[str, float], bins: int | None
    ) -> Comparison:
        """Prepare the fields; numbers are cut into quantile groups where `bins` is given."""
        sides = [_cut(f, bins) for f in fields]
        limits = [0.0 if bins and f.scale == "numeric" else tolerances[f.name] for f in fields]
        external, released = (np.ascontiguousarray(side) for side in zip(*sides, strict=True))
        return cls(external, released, np.array(limits))

    @property
    def n_pairs(self) -> int:
        """Number of all pairs."""
        return int(self.external.shape[1]) * int(self.released.shape[1])

    def levels(self, at: np.ndarray, to: np.ndarray) -> np.ndarray:
        """Level of agreement of some pairs, fields by pairs."""
        from tacit.risk import _pattern_kernel as kernel

        external = np.ascontiguousarray(self.external[:, at])
        released = np.ascontiguousarray(self.released[:, to])
        return np.asarray(kernel.pair_levels(external, released, self.tolerance))

    def agreement_of_all_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Count, for each field, the pairs that agree and those in which no value is missing."""
        sides = zip(self.external, self.released, self.tolerance, strict=True)
        agree = [_agreeing(*side) for side in sides]
        present = [
            int(np.sum(~np.isnan(x))) * int(np.sum(~np.isnan(y)))
            for x, y in zip(self.external, self.released, strict=True)
        ]
        return np.array(agree, dtype=np.float64), np.array(present, dtype=np.float64)

    def patterns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all patterns (patterns by fields, of levels) that occur, and their counts."""
        from tacit.risk import _pattern_kernel as kernel

        has_missing = np.isnan(self.external).any(axis=1) | np.isnan(self.released).any(axis=1)
        radix = np.where(has_missing, 3, 2)
        n_patterns = int(np.prod(radix, dtype=object))
        if n_patterns > _MOST_PATTERNS:
            raise DataError(
                "too many patterns of agreement for expectation-maximisation",
                got=f"{n_patterns:,}",
                do="name fewer attributes, or estimate from the known pairs",
            )
        strides = np.concatenate([[1], np.cumprod(radix)[:-1]]).astype(np.int64)
        (external, amounts), (released, others) = _distinct(self.external), _distinct(self.released)
        counts = in_blocks(
            lambda part: kernel.count_patterns(
                np.ascontiguousarray(external[:, part]), amounts[part], released, others,
                self.tolerance, strides, n_patterns,
            ),
            external.shape[1], "agreement patterns",
        ).sum(axis=0)  # fmt: skip
        occurring = np.flatnonzero(counts)
        levels = occurring[:, None] // strides % radix
        return levels, counts[occurring]

    def tied(self, targets: np.ndarray, own: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Count the released records of the same weight as `own`; 0 if one has a larger one."""
        from tacit.risk import _pattern_kernel as kernel

        released, amounts = _distinct(self.released)
        external = self.external[:, targets]
        return in_blocks(
            lambda part: kernel.tied_at_weight(
                np.ascontiguousarray(external[:, part]), own[part], released, amounts,
                self.tolerance, weights,
            ),
            len(targets), "linking",
        )  # fmt: skip


def _cut(field: LinkageField, bins: int | None) -> tuple[np.ndarray, np.ndarray]:
    if field.scale != "numeric" or not bins:
        return field.external, field.released
    return quantile_groups(field.external, field.released, bins)


def quantile_groups(
    external: np.ndarray, released: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Replace numbers by the number of their quantile group of the original; NaN stays."""
    known = external[~np.isnan(external)]
    if not len(known):
        return external, released
    cuts = np.unique(np.quantile(known, np.arange(1, bins) / bins, method="inverted_cdf"))
    groups = [np.searchsorted(cuts, v).astype(np.float64) for v in (external, released)]
    first, second = (
        np.where(np.isnan(v), np.nan, g) for v, g in zip((external, released), groups, strict=True)
    )
    return first, second


def _agreeing(external: np.ndarray, released: np.ndarray, tolerance: float) -> float:
    """Count the pairs within a tolerance, without looking at them one by one."""
    ordered = np.sort(released[~np.isnan(released)])
    values = external[~np.isnan(external)]
    after = np.searchsorted(ordered, values + tolerance, side="right")
    return float(np.sum(after - np.searchsorted(ordered, values - tolerance, side="left")))


def _distinct(fields: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct records, fields by records, and how often each occurs."""
    first, ids = distinct_points(fields.T)
    return np.ascontiguousarray(fields[:, first]), np.bincount(ids).astype(np.float64)


def shares(agree: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Share of agreement, kept half a pair away from 0 and 1 so that weights stay finite."""
    return (agree + 0.5) / (present + 1.0)


def level_weights(m: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Weights of the levels differ, agree, missing of each field: log-likelihood ratios."""
    # Eq. (10)-(11) of fellegi1969: log of m/u where a field agrees, of (1-m)/(1-u) where not.
    return np.column_stack([np.log((1 - m) / (1 - u)), np.log(m / u), np.zeros(len(m))])


def known_agreement(levels: np.ndarray) -> np.ndarray:
    """Estimate m, the chance that a field agrees in a true pair, from the true pairs."""
    return shares(np.sum(levels == 1, axis=1), np.sum(levels != 2, axis=1))


def fitted_agreement(
    levels: np.ndarray, counts: np.ndarray, u: np.ndarray, prevalence: float
) -> tuple[np.ndarray, int]:
    """Estimate m by expectation-maximisation, the chance u and the prevalence being fixed.

    Parameters
    ----------
    levels
        Patterns by fields: 0 differ, 1 agree, 2 missing.
    counts
        Number of pairs of each pattern.
    u
        Chance that a field agrees in any pair.
    prevalence
        Share of true pairs among all pairs.

    Returns
    -------
    The chances m and the number of rounds.
    """
    margin = 0.5 / (prevalence * counts.sum() + 1.0)
    m = np.full(len(u), 0.9)
    for round_ in range(1, _MOST_ROUNDS + 1):
        ratio = (level_weights(m, u)[np.arange(len(u)), levels]).sum(axis=1)
        odds = np.exp(np.minimum(ratio, 700.0)) * prevalence / (1 - prevalence)
        expected = counts * odds / (1 + odds)
        agree, present = expected @ (levels == 1), expected @ (levels != 2)
        new = np.divide(agree, present, out=np.full(len(u), 0.5), where=present > 0)
        new = new.clip(margin, 1 - margin)
        if np.max(np.abs(new - m)) < _CONVERGED:
            return new, round_
        m = new
    return m, _MOST_ROUNDS
