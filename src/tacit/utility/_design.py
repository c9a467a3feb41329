"""Two files as one matrix of numbers, for models that compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.core.keys import encode_series
from tacit.core.pairing import Pair, substantive_columns
from tacit.core.schema import Kind

_MOST_LEVELS = 40
"""Categories beyond the most frequent ones are taken together."""


@dataclass(frozen=True)
class Design:
    """The records of both files as numbers, the original ones first."""

    matrix: np.ndarray
    names: list[str]
    n_original: int

    @property
    def is_released(self) -> np.ndarray:
        """Mark the released records."""
        return np.arange(len(self.matrix)) >= self.n_original

    @classmethod
    def of(
        cls,
        both: Pair,
        columns: Sequence[str],
        *,
        most: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> Design:
        """Stack both files: numbers standardised, categories as indicators, gaps marked.

        Parameters
        ----------
        both
            The original and its release.
        columns
            Columns that both files have.
        most
            Draw at most this many records of each file.
        rng
            Used for that draw.
        """
        import polars as pl

        tables = [_drawn(side.local, most, rng) for side in (both.original, both.released)]
        if min(t.height for t in tables) == 0:
            raise DataError("a comparison needs at least one record in each file", got="none")
        parts, names = [], []
        for column in columns:
            kinds = {side.schema[column].kind for side in (both.original, both.released)}
            series = [t[column] for t in tables]
            if kinds == {Kind.NUMERIC}:
                joined = pl.concat([s.cast(pl.Float64).rename("v") for s in series])
                found = _numeric(joined.to_numpy(), column)
            else:
                joined = pl.concat([s.cast(pl.String).rename("v") for s in series])
                found = _indicators(encode_series(joined), column)
            parts += [values for _, values in found]
            names += [name for name, _ in found]
        matrix = np.column_stack(parts) if parts else np.empty((sum(t.height for t in tables), 0))
        return cls(matrix, names, tables[0].height)


def comparable(both: Pair) -> list[str]:
    """Columns of both files that a model may use: no weights, identifiers or household numbers."""
    return [c for c in substantive_columns(both.original) if c in both.released.schema]


def _drawn(table: Any, most: int | None, rng: np.random.Generator | None) -> Any:
    if most is None or rng is None or table.height <= most:
        return table
    return table[np.sort(rng.choice(table.height, most, replace=False))]


def _numeric(values: np.ndarray, name: str) -> list[tuple[str, np.ndarray]]:
    """Return the standardised column, and an indicator of gaps if there are any."""
    gaps = ~np.isfinite(values)
    filled = np.where(gaps, values[~gaps].mean() if (~gaps).any() else 0.0, values)
    spread = filled.std()
    found = [(name, (filled - filled.mean()) / (spread if spread > 0 else 1.0))]
    if gaps.any():
        found.append((f"{name} missing", gaps.astype(float)))
    return found


def _indicators(codes: np.ndarray, name: str) -> list[tuple[str, np.ndarray]]:
    """Return an indicator for each category but the most frequent; rare ones are joined."""
    counts = np.bincount(codes + 1)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    shown = order[1 : 1 + _MOST_LEVELS]
    found = [(f"{name} = {level - 1}", (codes + 1 == level).astype(float)) for level in shown]
    rest = order[1 + _MOST_LEVELS :]
    if len(rest):
        found.append((f"{name} other", np.isin(codes + 1, rest).astype(float)))
    return found
