"""Drawing codes and labels at random, vectorised: what the four generators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError


def checked_count(n: Any, name: str = "n") -> int:
    """Return `n` as a whole number of records or users, or refuse it."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ParameterError(f"{name} must be a whole number, 0 or above", got=repr(n))
    return int(n)


def checked_share(share: Any, name: str) -> float:
    """Return a share between 0 and 1, or refuse it."""
    is_number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if not is_number or not 0 <= share <= 1:
        raise ParameterError(f"{name} must be a share between 0 and 1", got=repr(share))
    return float(share)


def generator(seed: Any) -> np.random.Generator:
    """Return the generator of a seed that a user gave."""
    return np.random.default_rng(checked_count(seed, "seed"))


def pick(rng: np.random.Generator, weights: Any, size: int) -> np.ndarray:
    """Draw `size` codes 0, 1, ... with probabilities proportional to `weights`."""
    return pick_by(rng, np.asarray(weights, dtype=float)[None, :], np.zeros(size, dtype=np.int64))


def pick_by(rng: np.random.Generator, table: Any, row: np.ndarray) -> np.ndarray:
    """Draw one code per element of `row`, with the weights in that row of `table`."""
    weights = np.asarray(table, dtype=float)
    cumulated = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    cumulated[:, -1] = 1.0
    # One sorted array for all rows: row r covers (r, r + 1].
    ladder = (cumulated + np.arange(len(weights))[:, None]).ravel()
    rung = np.searchsorted(ladder, row + rng.random(len(row)), side="right")
    codes = rung - row * weights.shape[1]
    return np.asarray(np.minimum(codes, weights.shape[1] - 1), dtype=np.int64)


def zipf_weights(n: int, exponent: float = 1.0) -> np.ndarray:
    """Return weights that fall with rank: 1, 1/2^s, 1/3^s, ..."""
    return np.asarray(np.arange(1, n + 1, dtype=float) ** -exponent)


def labelled(codes: np.ndarray, labels: Sequence[str]) -> Any:
    """Return the labels of codes as a Polars text column."""
    import polars as pl

    return pl.Series(labels, dtype=pl.String).gather(pl.Series(codes, dtype=pl.UInt32))


def numbered_codes(prefix: str, numbers: np.ndarray, digits: int) -> Any:
    """Return codes such as ``P00000012`` as a Polars text column."""
    import polars as pl

    text = pl.Series("code", numbers, dtype=pl.Int64).cast(pl.String).str.zfill(digits)
    return pl.select(pl.lit(prefix) + text).to_series()


def scrambled(n: int, digits: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n` different numbers below 10**digits, in no visible order."""
    modulus = 10**digits
    # An odd multiplier that 5 does not divide permutes the numbers modulo a power of ten.
    step, start = 61_803_399, int(rng.integers(modulus))
    return np.asarray((np.arange(n, dtype=np.int64) * step + start) % modulus)


def blanked(column: Any, missing: float, rng: np.random.Generator) -> Any:
    """Return a Polars column with a share of its values missing at random."""
    import polars as pl

    if missing == 0:
        return column
    kept = pl.Series(rng.random(len(column)) >= missing)
    return pl.select(pl.when(kept).then(column)).to_series().alias(column.name)
