"""Numeric columns of an original and its release, for measures that need no pairs of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.pairing import Pair, substantive_columns
from tacit.core.schema import Kind


@dataclass(frozen=True)
class Numbers:
    """The same numeric columns of two files; NaN is missing."""

    columns: list[str]
    before: np.ndarray
    after: np.ndarray
    weights: tuple[np.ndarray, np.ndarray]
    """Weights of both files, all 1 where one of them has none."""
    lost: list[str]
    """Numeric columns of the original that the release does not have as numbers."""
    weighted: bool
    """Whether both files have weights."""
    weights_lost: bool
    """Whether the original has weights but the release has none."""

    @classmethod
    def of(cls, both: Pair, columns: Sequence[str] | None, *, by: str) -> Numbers:
        """Take the named columns, or all numbers that both files have."""
        numeric = numeric_columns(both.original)
        released = set(numeric_columns(both.released))
        chosen = list(columns) if columns else [name for name in numeric if name in released]
        for side in both.sides:
            side.schema.require(chosen, kinds=[Kind.NUMERIC], by=by)
            if side.n_records == 0:
                raise DataError(f"{by} needs at least one record", got="an empty file")
        if not chosen:
            raise DataError(f"{by} needs numeric columns that both files have")
        before, after = (finite(side, chosen, by=by) for side in both.sides)
        lost = [name for name in numeric if name not in released] if columns is None else []
        has_weights = [side.schema.weight is not None for side in both.sides]
        weighted, weights_lost = all(has_weights), has_weights == [True, False]
        return cls(chosen, before, after, shared_weights(both), lost, weighted, weights_lost)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know about columns and weights that could not be compared."""
        said = []
        if self.lost:
            gone = ", ".join(self.lost)
            said.append(f"No longer numbers in the release, and not in this number: {gone}.")
        if self.weights_lost:
            said.append("The release has no weights, so both files were compared unweighted.")
        return tuple(said)


def numeric_columns(data: Microdata) -> list[str]:
    """Numbers that are no weights, identifiers or household numbers."""
    return substantive_columns(data, [Kind.NUMERIC])


def objection_without_numbers(data: Microdata, columns: Sequence[str] | None) -> str | None:
    """Say that there is no numeric column, where none was named."""
    return "no numeric column" if columns is None and not numeric_columns(data) else None


def finite(data: Microdata, columns: Sequence[str], *, by: str) -> np.ndarray:
    """Return the columns as numbers, refusing infinite ones, whose means say nothing."""
    values = data.numeric(columns)
    endless = np.isinf(values).any(axis=0)
    if endless.any():
        name = columns[int(endless.argmax())]
        raise DataError(
            f"{by} needs finite numbers", got=f"infinite values in {name!r}", do="mark them missing"
        )
    return values


def shared_weights(both: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of both files if both have them, or else ones."""
    old, new = both.original.weights, both.released.weights
    if old is None or new is None:
        return np.ones(both.original.n_records), np.ones(both.released.n_records)
    return old, new


def effective_size(weights: np.ndarray) -> float:
    """Return the number of equally weighted records that estimate a mean as precisely.

    Examples
    --------
    >>> effective_size(np.array([2.0, 2.0, 2.0])), round(effective_size(np.array([1.0, 3.0])), 6)
    (3.0, 1.6)
    """
    scaled = weights / weights.max(initial=1e-300)
    return float(scaled.sum() ** 2 / (scaled**2).sum()) if len(weights) else 0.0
