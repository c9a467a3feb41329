"""Cutpoints: the only places at which a numeric variable may be cut to define a universe."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from tacit.core.errors import DataError, ParameterError
from tacit.core.value import Value

Bin = tuple[float, float]
Binning = Literal["fixed", "minimum", "increasing", "partitioned"]
_MOST_BINS = 2_000


class Cutpoints(Value):
    """Bins of a numeric variable, made once and kept.

    A condition on the variable may name bins, unions of neighbouring bins, and, where the bins come
    from a tree, its nodes. Equal values are never in different bins.

    Examples
    --------
    >>> Cutpoints.of([1, 1, 2, 2, 4, 4, 5, 6], method="increasing", minimum=2).bins
    ((1.0, 2.0), (3.0, 6.0))
    """

    method: Binning
    """How the bins were made."""
    bins: tuple[Bin, ...]
    """Lowest and highest value of each bin, lowest bin first."""
    nodes: tuple[Bin, ...] = ()
    """Further ranges that may be used: the inner nodes of a binary tree of bins."""

    @model_validator(mode="after")
    def _check(self) -> Cutpoints:
        ends = [end for low_high in self.bins for end in low_high]
        if not self.bins or any(b < a for a, b in pairwise(ends)):
            raise ValueError("should hold bins from the lowest to the highest, without overlap")
        return self

    @classmethod
    def of(cls, values: Any, *, method: Binning, minimum: int) -> Cutpoints:
        """Make bins from values; missing ones are left out."""
        given = np.asarray(values, dtype=float).ravel()
        given = given[~np.isnan(given)]
        distinct, counts = np.unique(given, return_counts=True)
        return cls.from_counts(distinct, counts, method=method, minimum=minimum)

    @classmethod
    def from_counts(
        cls, distinct: np.ndarray, counts: np.ndarray, *, method: Binning, minimum: int
    ) -> Cutpoints:
        """Make bins from distinct values and how many units have each, as an engine counts them."""
        order = np.argsort(distinct, kind="stable")
        distinct, counts = np.asarray(distinct, float)[order], np.asarray(counts)[order]
        if minimum < 1:
            raise ParameterError("a bin holds at least one unit", got=minimum)
        if not np.all(np.isfinite(distinct)):
            raise DataError("cutpoints need finite values")
        if counts.sum() < minimum or not len(distinct):
            raise DataError(
                "there are fewer units than one bin must hold",
                got=f"{int(counts.sum())} units, {minimum} per bin",
            )
        if method not in _METHODS:
            raise ParameterError(
                "no such method of binning", got=repr(method), do=f"known: {', '.join(_METHODS)}"
            )
        bins, nodes = _METHODS[method](distinct, counts, minimum)
        return cls(method=method, bins=tuple(bins), nodes=tuple(nodes))

    @cached_property
    def _lows(self) -> np.ndarray:
        return np.array([low for low, _ in self.bins])

    def code(self, values: Any) -> np.ndarray:
        """Return the bin of each value, -1 where it is missing."""
        given = np.asarray(values, dtype=float)
        found = np.searchsorted(self._lows, given, side="right") - 1
        return np.where(np.isnan(given), -1, np.maximum(found, 0))


def cutpoints(values: Any, method: Binning = "fixed", minimum: int = 2) -> list[Bin]:
    """Return bins of a numeric variable, each holding at least `minimum` units.

    Parameters
    ----------
    values
        The variable; missing values are left out.
    method
        ``fixed``: equal widths, as narrow as the sparsest bin allows. ``minimum``: as few units per
        bin as allowed. ``increasing``: widths grow where units get sparse. ``partitioned``: halves
        of halves.
    minimum
        Fewest units in a bin.

    Notes
    -----
    Section 3.1.3 of [lucero2011]_, whose Table 3 these four return. The paper leaves open how the
    widths of increasing bins grow: here a bin aims at twice the minimum and doubles its width until
    it has them.

    Examples
    --------
    >>> cutpoints([1, 1, 2, 2, 4, 4, 5, 6], method="fixed", minimum=2)
    [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]
    """
    return list(Cutpoints.of(values, method=method, minimum=minimum).bins)


# -- the four methods: distinct values and counts in, bins and nodes out ---------------------------


def _unit(distinct: np.ndarray) -> float:
    """Return the grain of the values: 1 for whole numbers, else none."""
    return 1.0 if np.all(distinct == np.round(distinct)) else 0.0


def _fixed(distinct: np.ndarray, counts: np.ndarray, minimum: int) -> tuple[list[Bin], list[Bin]]:
    unit, low = _unit(distinct), float(distinct[0])
    reach = float(distinct[-1] - low) + unit
    most = int(max(1, min(counts.sum() // minimum, len(distinct), _MOST_BINS)))
    total = np.concatenate([[0], np.cumsum(counts)])
    widths = (
        np.unique(np.ceil(reach / np.arange(most, 0, -1)))
        if unit
        else reach / np.arange(most, 0, -1)
    )
    for width in widths:
        n_bins = max(1, int(np.ceil(reach / width - 1e-9))) if width > 0 else 1
        starts = low + width * np.arange(n_bins + 1)
        starts[-1] = np.inf
        held = np.diff(total[np.searchsorted(distinct, starts, side="left")])
        if held.min() >= minimum:
            highs = np.minimum(starts[1:] - unit, distinct[-1])
            return [(float(a), float(b)) for a, b in zip(starts[:-1], highs, strict=True)], []
    return [(low, float(distinct[-1]))], []


def _minimum(distinct: np.ndarray, counts: np.ndarray, minimum: int) -> tuple[list[Bin], list[Bin]]:
    total = np.cumsum(counts)
    starts, done, place = [0], 0, 0
    while True:
        # The first value with which the bin is full; what is left over joins the last bin.
        place = int(np.searchsorted(total, done + minimum, side="left"))
        if place >= len(total) - 1 or total[-1] - total[place] < minimum:
            break
        starts.append(place + 1)
        done = int(total[place])
    return _of_starts(distinct, starts), []


def _increasing(
    distinct: np.ndarray, counts: np.ndarray, minimum: int
) -> tuple[list[Bin], list[Bin]]:
    unit = _unit(distinct)
    total = np.concatenate([[0], np.cumsum(counts)])
    aim, low = 2 * minimum, float(distinct[0])
    bins: list[Bin] = []
    gaps = np.diff(distinct)
    width = unit or (float(gaps.min()) if len(gaps) else 1.0)
    while True:
        at = int(np.searchsorted(distinct, low, side="left"))
        left = total[-1] - total[at]
        upto = int(np.searchsorted(distinct, low + width, side="left"))
        while total[upto] - total[at] < min(aim, left):
            width *= 2
            upto = int(np.searchsorted(distinct, low + width, side="left"))
        if total[-1] - total[upto] < minimum or left < 2 * minimum:
            return [*bins, (low, float(distinct[-1]))], []
        bins.append((low, low + width - unit))
        low += width


def _partitioned(
    distinct: np.ndarray, counts: np.ndarray, minimum: int
) -> tuple[list[Bin], list[Bin]]:
    total = np.concatenate([[0], np.cumsum(counts)])
    leaves: list[Bin] = []
    nodes: list[Bin] = []
    stack = [(0, len(distinct))]
    while stack:
        start, stop = stack.pop()
        cut = _middle(total, start, stop, minimum)
        whole = (float(distinct[start]), float(distinct[stop - 1]))
        if cut is None:
            leaves.append(whole)
        else:
            nodes.append(whole)
            stack += [(cut, stop), (start, cut)]
    return leaves, nodes


def _middle(total: np.ndarray, start: int, stop: int, minimum: int) -> int | None:
    """Return where to halve a range so that both sides hold enough, or nothing."""
    first, last = total[start], total[stop]
    cuts = np.arange(start + 1, stop)
    good = cuts[(total[cuts] - first >= minimum) & (last - total[cuts] >= minimum)]
    if not len(good):
        return None
    return int(good[np.argmin(np.abs(total[good] - (first + last) / 2))])


def _of_starts(distinct: np.ndarray, starts: list[int]) -> list[Bin]:
    stops = [*starts[1:], len(distinct)]
    ends = zip(starts, stops, strict=True)
    return [(float(distinct[a]), float(distinct[b - 1])) for a, b in ends]


_METHODS = {
    "fixed": _fixed,
    "minimum": _minimum,
    "increasing": _increasing,
    "partitioned": _partitioned,
}
