"""A simple model for new records: mixes of two records that resemble each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from tacit.core.data import Microdata
from tacit.core.keys import encode
from tacit.core.schema import Kind
from tacit.mask._blocks import split_into_blocks

_NEIGHBOURS = 24
"""Records that count as neighbours of each other."""
_FEW_CATEGORIES = 12
"""Nominal variables with more categories than this are left out when neighbours are sought."""
_RELATED = 0.5
"""Variables with at least this Cramer's V are taken from the same record."""
_LEVELS = 8
_MOST_COUNTED = 20_000
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Neighbourhoods:
    """Small blocks of records that resemble each other."""

    members: np.ndarray
    """The records, block by block."""
    place: np.ndarray
    """For each record its place in its block."""
    start: np.ndarray
    """For each record where its block starts among the members."""
    size: np.ndarray
    """For each record the size of its block."""

    @classmethod
    def of(cls, data: Microdata, columns: Sequence[str], rng: np.random.Generator) -> Self:
        """Find the blocks by the given columns."""
        blocks = split_into_blocks(_points(data, columns), _NEIGHBOURS, rng)
        members = np.concatenate(blocks)
        sizes = np.array([len(block) for block in blocks])
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        place, start, size = (np.empty(len(members), dtype=np.int64) for _ in range(3))
        place[members] = np.arange(len(members)) - starts
        start[members], size[members] = starts, np.repeat(sizes, sizes)
        return cls(members, place, start, size)

    def drawn(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw for each of the given records another one of its block, if there is one."""
        size = self.size[rows]
        jump = 1 + (rng.random(len(rows)) * (size - 1)).astype(np.int64)
        return np.asarray(self.members[self.start[rows] + (self.place[rows] + jump) % size])


def _points(data: Microdata, columns: Sequence[str]) -> np.ndarray:
    """Place records in space: ranks of ordered variables, corners for nominal ones."""
    parts = [np.zeros((data.n_records, 1))]
    codes = encode(data, columns)
    for name, column in zip(columns, codes.T, strict=True):
        top = max(int(column.max(initial=0)), 1)
        if data.schema[name].kind in (Kind.NOMINAL, Kind.TEXT):
            if top < _FEW_CATEGORIES:
                parts.append((column[:, None] == np.arange(-1, top + 1)).astype(float))
        else:
            parts.append(np.where(column < 0, 0.5, column / top)[:, None])
    return np.hstack(parts)


def related_sets(data: Microdata, columns: Sequence[str]) -> np.ndarray:
    """Return the number of the set of each column; columns of a set go together.

    Columns go together if an edit rule names both or if they are strongly associated.
    """
    number = np.arange(len(columns))
    place = {name: i for i, name in enumerate(columns)}
    pairs = [
        (place[a], place[b])
        for rule in data.schema.constraints
        for a, b in combinations(rule.columns, 2)
        if a in place and b in place
    ]
    levels = _coarse(encode(data, columns)[:_MOST_COUNTED])
    pairs += [
        (a, b)
        for a, b in combinations(range(len(columns)), 2)
        if _association(levels[:, a], levels[:, b]) >= _RELATED
    ]
    for a, b in pairs:
        number[number == number[b]] = number[a]
    return number


def _coarse(codes: np.ndarray) -> np.ndarray:
    """Merge ranks into a few levels of about equal frequency; missing is a level of its own."""
    merged = np.zeros_like(codes)
    for j, column in enumerate(codes.T):
        known = column >= 0
        if known.any():
            cuts = np.quantile(column[known], np.linspace(0, 1, _LEVELS + 1)[1:-1])
            merged[known, j] = 1 + np.searchsorted(cuts, column[known], side="right")
    return merged


def _association(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramer's V of two columns of small numbers."""
    table = np.bincount(a * (_LEVELS + 2) + b, minlength=(_LEVELS + 2) ** 2).astype(float)
    table = table.reshape(_LEVELS + 2, -1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi_square = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi_square / table.sum() / (min(table.shape) - 1)))


def between_ranks(column: Any, rows: np.ndarray, shift: np.ndarray) -> Any:
    """Return values near those of the given records, such as the column might hold.

    A value that occurs once moves a random part (`shift`, from -1 to 1) of half the way to the next
    smaller or larger one, so that no exact number gives a copy away; a value that several records
    share is kept, and so is a missing one. Numbers keep the column's decimals and steps.
    """
    import polars as pl

    physical = column.to_physical()
    known = physical.is_not_null().to_numpy()
    values = physical.fill_null(0).cast(pl.Float64).to_numpy()
    ascending = np.sort(values[known])
    moved = values[rows].copy()
    alone = np.searchsorted(ascending, moved, "right") - np.searchsorted(ascending, moved) == 1
    alone &= known[rows]
    rank = np.searchsorted(ascending, moved[alone])
    other = np.clip(rank + np.where(shift[alone] < 0, -1, 1), 0, len(ascending) - 1)
    moved[alone] += 0.5 * np.abs(shift[alone]) * (ascending[other] - moved[alone])
    moved[alone] = _on_grid(moved[alone], ascending)
    copied = physical.gather(rows)
    drawn = pl.Series(moved).cast(physical.dtype, strict=False)
    kept = pl.Series(~alone)
    mixed = pl.select(pl.when(kept).then(copied).otherwise(drawn)).to_series()
    return mixed.cast(column.dtype).alias(column.name)


def _on_grid(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Round to the decimals and the common step of the known values, if they have any."""
    if not len(values):
        return values
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = known * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) > 2**53:
            return values
        whole = np.rint(scaled)
        if np.allclose(scaled, whole, rtol=1e-12, atol=1e-9):
            steps = whole.astype(np.int64) - int(whole[0])
            step = max(int(np.gcd.reduce(steps)), 1)
            index = np.rint((values * 10.0**decimals - whole[0]) / step)
            return np.asarray(np.round((whole[0] + index * step) / 10.0**decimals, decimals))
    return values
