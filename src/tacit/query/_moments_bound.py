"""A bound on the largest leverage of a unit, from ranges that are known: no record is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from tacit.query._moments_first import Standard, linear_parts, standard_of
from tacit.query._moments_rows import Layout, Rows
from tacit.query.evidence import Factor, Link, Term

_MOST = 2_000_000
"""Above this many numbers, the largest of each column stands for all combinations."""
_WORKING = {"identity": 1.0, "logit": 0.25}
"""Largest working weight of a record with survey weight one."""
Range = tuple[float, float]


def leverage_bound(
    rows: Rows,
    terms: Sequence[Term],
    response: Term,
    inverse: np.ndarray,
    *,
    weighted: bool = False,
    link: Link = "identity",
) -> float:
    """Return a number that the leverage of no unit exceeds; infinite where none is known.

    Within its range, every column is at most m_j in size, so that x'Ax is at most m'|A|m. On many
    records this is far below any limit, and settles it.
    """
    layout = Layout.of(terms, response)
    standard = standard_of(rows, layout, weighted, "identity")
    heaviest = rows.ranges.get(str(rows.weight), (0.0, np.inf))[1] if weighted else 1.0
    if rows.repeated or link not in _WORKING or standard.n == 0:
        return float(np.inf)
    sizes = _largest_columns(rows, layout, standard)
    bound = ((sizes @ np.abs(inverse)) * sizes).sum(axis=1).max() * heaviest * _WORKING[link]
    return float(bound) if np.isfinite(bound) else float(np.inf)


def _largest_columns(rows: Rows, layout: Layout, standard: Standard) -> np.ndarray:
    """Return combinations of categories by columns: how far from zero each column may be."""
    ranges = np.array([(1.0, 1.0), *(_product(n, rows) for n in layout.numbers[1:])])
    ends = (ranges - standard.centre[:-1, None]) / standard.scale[:-1, None]
    alpha, gamma, place = linear_parts(layout, standard, standard.labels)
    # Columns without a number have no slope, and infinity times zero is not a number.
    low, high = (np.where(gamma != 0, gamma * ends[place, side], 0.0) for side in (0, 1))
    sizes: np.ndarray = np.maximum(np.abs(alpha + low), np.abs(alpha + high))
    return sizes if sizes.size <= _MOST else sizes.max(axis=0, keepdims=True)


def _product(factors: tuple[Factor, ...], rows: Rows) -> Range:
    return reduce(_times, [_range(factor, rows) for factor in factors])


def _times(first: Range, second: Range) -> Range:
    ends = [a * b for a in first for b in second]
    return (min(ends), max(ends)) if np.isfinite(ends).all() else (-np.inf, np.inf)


def _range(factor: Factor, rows: Rows) -> Range:
    """Return the range of a factor of a column; a logarithm near zero has none."""
    if factor.level is not None:
        return 0.0, 1.0
    low, high = rows.ranges.get(factor.variable, (-np.inf, np.inf))
    match factor.transform:
        case "identity":
            return low, high
        case "square":
            return 0.0, max(low * low, high * high)
        case "sqrt":
            return 0.0, float(np.sqrt(max(high, 0.0)))
        case "log":
            return (float(np.log(low)), float(np.log(high))) if low > 0 else (-np.inf, np.inf)
