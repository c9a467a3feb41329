"""From guarded cells to released columns: labels, counts, totals, rounded so that nothing shows.

Released numbers are whole, or rounded to a tenth of their noise, so that the order in which an
engine added them up cannot be seen in the last digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.query.evidence import MARGIN, Cells

TOTAL = "total"
"""How a margin is written."""
_DIGITS = 10
"""Significant digits of numbers without noise."""


def shown(cells: Cells, margins: bool) -> np.ndarray:
    """Return which cells are released: all, or those that are no margins."""
    return np.flatnonzero(~cells.is_margin | margins)


def labels(cells: Cells, rows: np.ndarray) -> dict[str, list[Any]]:
    """Return the categories of the released cells, by dimension."""
    columns: dict[str, list[Any]] = {}
    for j, name in enumerate(cells.by):
        words = np.array([*cells.labels[j], TOTAL], dtype=object)
        codes = cells.codes[rows, j]
        columns[name] = words[np.where(codes == MARGIN, len(words) - 1, codes)].tolist()
    return columns


def counts(cells: Cells, rows: np.ndarray) -> list[Any]:
    """Return released counts; whole numbers unless weighted, None where withheld."""
    return [None if np.isnan(c) else int(np.rint(c)) for c in cells.count[rows]]


def totals(cells: Cells, name: str, rows: np.ndarray) -> dict[str, list[Any]]:
    """Return released totals, or the ends of their intervals; None where withheld."""
    if name in cells.intervals:
        low, high = cells.interval(name)
        # One more digit outwards: rounding must not leave the truth outside.
        room = np.maximum(np.abs(low), np.abs(high)) * 10.0 ** (2 - _DIGITS)
        ends = {"from": rounded(low - room), "to": rounded(high + room)}
        return {f"total {name} {end}": v[rows].tolist() for end, v in ends.items()}
    noise = cells.total_noise_size(name)
    return {f"total {name}": rounded(cells.total(name), noise)[rows].tolist()}


def rounded(values: np.ndarray, noise: np.ndarray | float = 0.0) -> np.ndarray:
    """Round each value to a tenth of its noise, or to ten digits; missing ones become None.

    Examples
    --------
    >>> rounded(np.array([1234.5678, np.nan]), np.array([20.0, 1.0])).tolist()
    [1235.0, None]
    """
    values = np.asarray(values, dtype=float)
    size = np.maximum(np.abs(values), 1e-300)
    finest = 10.0 ** (np.floor(np.log10(np.where(np.isfinite(size), size, 1.0))) + 1 - _DIGITS)
    tenth = np.broadcast_to(np.asarray(noise, dtype=float), values.shape) / 10
    coarse = 10.0 ** np.floor(np.log10(np.where(tenth > 0, tenth, 1.0)))
    step = np.where(tenth > 0, np.maximum(coarse, finest), finest)
    done = np.array([_to_step(v, s) for v, s in zip(values, step, strict=True)], dtype=object)
    return done.reshape(values.shape)


def _to_step(value: float, step: float) -> float | None:
    if not np.isfinite(value):
        return None
    digits = -int(np.floor(np.log10(step) + 0.5))
    return round(float(value), digits) + 0.0


def accuracy(cells: Cells) -> dict[str, Any]:
    """Say how many cells are withheld."""
    return {
        "cells": int((~cells.is_margin).sum()),
        "withheld": int(cells.hidden[~cells.is_margin].sum()),
    }
