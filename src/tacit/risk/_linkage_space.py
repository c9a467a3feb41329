"""The space in which an intruder measures distances between original and released records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.core.errors import DataError
from tacit.risk._linkage_fields import LinkageField

Distance = Literal["standardised", "mahalanobis"]
_NO_VARIANCE = 1e-10
"""Directions with less variance than this share of the largest are left out."""


@dataclass(frozen=True)
class Space:
    """Coordinates of both sides: columns of numbers first, then codes that differ by 0 or 1."""

    targets: np.ndarray
    """Original records."""
    points: np.ndarray
    """Released records."""
    n_measured: int
    """Number of columns that are numbers."""
    blank: np.ndarray
    """Squared distance that a missing value stands for, for each column."""

    @property
    def parts(self) -> tuple[np.ndarray, int, np.ndarray]:
        """What an index of the released records needs."""
        return self.points, self.n_measured, self.blank


def space(fields: Sequence[LinkageField], distance: Distance, *, by: str) -> Space:
    """Put fields on scales that compare; the original's standard deviations are the units."""
    if distance == "mahalanobis":
        return _whitened(fields, by=by)
    measured = [f for f in fields if f.scale != "nominal"]
    ordered = [*measured, *(f for f in fields if f.scale == "nominal")]
    columns = [_scaled(f) for f in ordered]
    targets = np.column_stack([external for external, _ in columns])
    points = np.column_stack([released for _, released in columns])
    blank = np.array([_typical(f, e) for f, (e, _) in zip(ordered, columns, strict=True)])
    return Space(targets, points, len(measured), blank)


def _scaled(field: LinkageField) -> tuple[np.ndarray, np.ndarray]:
    if field.scale == "nominal":
        return field.external, field.released
    if field.scale == "ordinal":
        steps = max(field.n_categories - 1, 1)
        return field.external / steps, field.released / steps
    centre, unit = _centre_and_unit(field)
    return (field.external - centre) / unit, (field.released - centre) / unit


def _centre_and_unit(field: LinkageField) -> tuple[float, float]:
    """Mean and standard deviation of the original; a constant takes the release's deviation."""
    for values in (field.external, field.released):
        known = values[~np.isnan(values)]
        if len(known) > 1 and np.ptp(known) > 0:
            # The size of the largest value goes first: squares of huge numbers would overflow.
            size = float(np.abs(known).max())
            deviation = size * float(np.std(known / size, ddof=1))
            return size * float(np.mean(known / size)), deviation if deviation > 0 else 1.0
    known = field.external[~np.isnan(field.external)]
    return (float(known[0]) if len(known) else 0.0), 1.0


def _typical(field: LinkageField, external: np.ndarray) -> float:
    """Mean squared distance between two originals picked at random."""
    known = external[~np.isnan(external)]
    if not len(known):
        return 0.0
    if field.scale == "nominal":
        shares = np.unique(known, return_counts=True)[1] / len(known)
        return float(1 - shares @ shares)
    return 2 * float(np.var(known))


def _whitened(fields: Sequence[LinkageField], *, by: str) -> Space:
    """Turn the axes so that squared Euclidean distance is Mahalanobis distance of the original."""
    wrong = [f.name for f in fields if f.scale != "numeric"]
    if wrong:
        raise DataError(f"{by}: Mahalanobis distance needs numbers", got=repr(wrong[0]))
    plain = space(fields, "standardised", by=by)
    if np.isnan(plain.targets).any() or np.isnan(plain.points).any():
        raise DataError(
            f"{by}: Mahalanobis distance needs complete numbers", do="use standardised distance"
        )
    covariances = np.atleast_2d(np.cov(plain.targets, rowvar=False, ddof=0))
    variances, directions = np.linalg.eigh(covariances)
    kept = variances > _NO_VARIANCE * max(float(variances.max()), 0.0)
    if not kept.any():
        return plain
    axes = directions[:, kept] / np.sqrt(variances[kept])
    targets, points = (np.einsum("ij,jk->ik", side, axes) for side in (plain.targets, plain.points))
    return Space(targets, points, axes.shape[1], np.zeros(axes.shape[1]))
