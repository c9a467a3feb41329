"""Noise tables: by how much a count or a total changes, depending on its cell key."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from tacit.core.errors import DataError, ParameterError
from tacit.core.value import Value
from tacit.tables.transitions import Design, NoiseRules, noise_row

_SPAN = 2**40
"""Room between the thresholds of two rows; more than any modulus of keys."""
_SLACK = 1e-6


class NoiseTable(Value):
    """For every count the possible changes and, cumulated, their probabilities.

    Entries stand in the order of `start`; within a start the last `upper` is 1. Starts beyond the
    last row are served by the last `period` rows in turn.

    Examples
    --------
    >>> noise = NoiseTable(start=(0, 1, 1), change=(0, -1, 2), upper=(1, 2 / 3, 1))
    >>> noise.changes(np.array([0, 1, 5]), np.array([0, 50, 90]), modulus=100).tolist()
    [0.0, -1.0, 2.0]
    """

    start: tuple[float, ...]
    """Count, or size in units of the noise, that each entry is for."""
    change: tuple[float, ...]
    """What is added."""
    upper: tuple[float, ...]
    """Probability of this change or one listed before it in the same row."""
    period: int = 1
    """How many of the last rows serve, in turn, all larger counts."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not len(self.start) == len(self.change) == len(self.upper) > 0:
            raise ValueError("needs a start, a change and an upper bound in every entry")
        if np.any(np.diff(self.start) < 0):
            raise ValueError("rows must be sorted by their start")
        if self.start[0] < 0 or min(map(sum, zip(self.start, self.change, strict=True))) < -1e-9:
            raise ValueError("no count may become negative")
        self._check_bounds()
        if not 1 <= self.period <= len(self.rows):
            raise ValueError("the period is a number of rows")
        return self

    def _check_bounds(self) -> None:
        upper, first = np.array(self.upper), self._first[:-1]
        share = np.diff(upper, prepend=0.0)
        share[first] = upper[first]
        if share.min() < -_SLACK or np.abs(upper[self._first[1:] - 1] - 1).max() > _SLACK:
            raise ValueError("probabilities of a row must rise to 1")
        moved = (np.array(self.start) == 0) & (share > 0) & (np.array(self.change) != 0)
        if moved.any():
            raise ValueError("a count of zero must stay zero: empty cells have no key")

    # -- reading the table ----------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Compare what is declared; arrays that were worked out from it do not count."""
        return isinstance(other, NoiseTable) and self.as_dict() == other.as_dict()

    @cached_property
    def rows(self) -> np.ndarray:
        """The starts, each once."""
        return np.unique(self.start)

    @cached_property
    def _first(self) -> np.ndarray:
        """Where each row begins, and where the last one ends."""
        starts = np.array(self.start)
        return np.append(np.searchsorted(starts, np.unique(starts)), len(starts))

    @property
    def max_change(self) -> float:
        """Largest change, up or down."""
        return float(np.abs(self.change).max())

    @cached_property
    def probability(self) -> np.ndarray:
        """The probability of each entry."""
        share = np.diff(np.array(self.upper), prepend=0.0)
        share[self._first[:-1]] = np.array(self.upper)[self._first[:-1]]
        return np.clip(share, 0.0, 1.0)

    @property
    def variance(self) -> float:
        """Variance of the change of large counts."""
        last = slice(self._first[-2], None)
        change, share = np.array(self.change)[last], self.probability[last]
        return float(share @ change**2 - (share @ change) ** 2)

    def reach(self, published: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest count that can have become each published count."""
        published = np.rint(published)
        largest = int(self.rows[-1] + self.period + 2 * self.max_change)
        table = self.of_counts(largest)
        possible = table.probability > 0
        start = table.start_array[possible]
        new = np.rint(start + table.changes_array[possible]).astype(np.int64)
        low, high = np.full(new.max() + 1, np.inf), np.full(new.max() + 1, -np.inf)
        np.minimum.at(low, new, start)
        np.maximum.at(high, new, start)
        # Larger counts have the same distances to their sources as those of the last period.
        last = largest - self.max_change
        wrapped = last - np.mod(last - published, self.period)
        place = np.where(published > last, wrapped, published).astype(np.int64)
        return published + low[place] - place, published + high[place] - place

    @cached_property
    def start_array(self) -> np.ndarray:
        """Starts as an array."""
        return np.array(self.start, dtype=float)

    @cached_property
    def changes_array(self) -> np.ndarray:
        """Changes as an array."""
        return np.array(self.change, dtype=float)

    def of_counts(self, largest: int) -> NoiseTable:
        """Return the table written out for every count up to `largest`."""
        if largest <= self.rows[-1]:
            return self
        wanted = np.arange(self.rows[-1] + 1, largest + 1)
        picks = [self._entries(row) for row in self._row_of(wanted)]
        start = [s for s, at in zip(wanted, picks, strict=True) for _ in at]
        entry = np.concatenate(picks)
        return NoiseTable(
            start=(*self.start, *map(float, start)),
            change=(*self.change, *self.changes_array[entry].tolist()),
            upper=(*self.upper, *np.array(self.upper)[entry].tolist()),
        )

    def _entries(self, row: int) -> np.ndarray:
        return np.arange(self._first[row], self._first[row + 1])

    # -- drawing changes ------------------------------------------------------------------------

    def _row_of(self, starts: np.ndarray) -> np.ndarray:
        """Return the row of each count; beyond the last one the period repeats."""
        last = self.rows[-1]
        beyond = np.asarray(starts) > last
        first_of_period = last - self.period + 1
        wrapped = first_of_period + np.mod(starts - first_of_period, self.period)
        looked = np.where(beyond, wrapped, starts)
        row = np.clip(np.searchsorted(self.rows, looked), 0, len(self.rows) - 1)
        missing = self.rows[row] != looked
        if missing.any():
            raise DataError(
                "the noise table has no row for a count", got=f"{np.asarray(looked)[missing][0]:g}"
            )
        return np.asarray(row)

    def _looked_up(self, row: np.ndarray, keys: np.ndarray, modulus: int) -> np.ndarray:
        """Return the change of each row at each key: whole numbers only, so alike everywhere."""
        bounds = np.rint(np.array(self.upper) * modulus).astype(np.int64)
        bounds[self._first[1:] - 1] = modulus
        which = np.repeat(np.arange(len(self.rows)), np.diff(self._first))
        at = np.searchsorted(which * _SPAN + bounds, row * _SPAN + keys, side="right")
        return np.asarray(self.changes_array[at])

    def changes(self, counts: np.ndarray, keys: np.ndarray, *, modulus: int) -> np.ndarray:
        """Return the change of each count at its cell key.

        Parameters
        ----------
        counts
            Whole numbers.
        keys
            Cell keys, whole numbers from 0 to below `modulus`.
        """
        keys = np.asarray(keys, dtype=np.int64)
        if keys.size and not (keys.min() >= 0 and keys.max() < modulus <= _SPAN // 2):
            raise ParameterError("cell keys must be at least 0 and below their modulus")
        return self._looked_up(self._row_of(np.asarray(counts, dtype=float)), keys, modulus)

    def between_rows(self, sizes: np.ndarray, keys: np.ndarray, *, modulus: int) -> np.ndarray:
        """Return the change of sizes that need not be whole, mixed from the rows on either side.

        Both rows are read at the same key, so that the mean stays zero and nothing falls below 0.
        """
        capped = np.clip(sizes, self.rows[0], self.rows[-1])
        above = np.clip(np.searchsorted(self.rows, capped), 1, len(self.rows) - 1)
        low, high = self.rows[above - 1], self.rows[above]
        share = (capped - low) / (high - low)
        keys = np.asarray(keys, dtype=np.int64)
        return np.asarray(
            (1 - share) * self._looked_up(above - 1, keys, modulus)
            + share * self._looked_up(above, keys, modulus)
        )

    # -- making and showing ---------------------------------------------------------------------

    @classmethod
    def of_matrix(cls, matrix: np.ndarray) -> NoiseTable:
        """Return the table of a transition matrix, counts by new counts."""
        matrix = np.asarray(matrix, dtype=float)
        if matrix.ndim != 2 or np.any(matrix < 0) or not np.allclose(matrix.sum(axis=1), 1):
            raise ParameterError("the rows of a transition matrix are probabilities that sum to 1")
        start, new = np.nonzero(matrix > 0)
        upper = np.cumsum(matrix, axis=1)[start, new]
        upper[np.append(np.diff(start) > 0, True)] = 1.0
        change = (new - start).astype(float)
        return cls(start=tuple(map(float, start)), change=tuple(change), upper=tuple(upper))

    @property
    def frame(self) -> Any:
        """The table as ptable and tau-ARGUS write it: i, j, p, v, p_int_ub."""
        import polars as pl

        return pl.DataFrame(
            {
                "i": self.start_array,
                "j": self.start_array + self.changes_array,
                "p": self.probability,
                "v": self.changes_array,
                "p_int_ub": np.array(self.upper),
            }
        )

    def write_csv(self, path: str | Path) -> Path:
        """Write the table in the form of ptable and tau-ARGUS, semicolons between columns."""
        from tacit.core.atomic import new_file

        with new_file(Path(path)) as scratch:
            self.frame.write_csv(scratch, separator=";")
        return Path(path)

    def chart(self) -> Any:
        """Draw the probabilities as a picture: counts down, new counts across."""
        from tacit.tables.perturb._noise_chart import noise_chart

        return noise_chart(self)

    def save_png(self, path: str | Path) -> Path:
        """Write the picture of the table to a PNG file."""
        from tacit.tables.perturb._noise_chart import write_png

        return write_png(self.chart(), Path(path))


def magnitude_noise(
    max_change: int = 5, variance: float = 1.0, *, step: float = 0.5, design: Design = "even"
) -> NoiseTable:
    r"""Return noise for totals, in units of what a contribution is to be hidden by.

    Row :math:`i` holds changes from :math:`-i` to D in steps; rows 0 (no change), 1, ..., D.

    Parameters
    ----------
    max_change
        Largest change D, in units.
    variance
        Variance of the change of large totals, in squared units; less where that is impossible.
    step
        Distance between neighbouring changes.
    design
        ``"even"`` (largest entropy) or ``"centred"``.

    Examples
    --------
    >>> noise = magnitude_noise(5, 1.0)
    >>> round(noise.variance, 6), noise.max_change
    (1.0, 5.0)
    """
    if max_change < 1 or not 0 < step <= 1 or not variance > 0:
        raise ParameterError(
            "noise needs a largest change of at least 1, a variance above 0 and a step up to 1",
            got=f"{max_change}, {variance:g}, {step:g}",
        )
    return _magnitude_noise(max_change, variance, step, design)


@lru_cache(maxsize=32)
def _magnitude_noise(max_change: int, variance: float, step: float, design: Design) -> NoiseTable:
    start, change, upper = [0.0], [0.0], [1.0]
    for size in range(1, max_change + 1):
        allowed = np.arange(0, size + max_change + step / 2, step)
        rules = NoiseRules(variance, None if design == "even" else 0.5, size == max_change)
        row = noise_row(size, allowed, rules)
        start += [float(size)] * len(row)
        change += (allowed - size).tolist()
        upper += [*np.cumsum(row)[:-1].tolist(), 1.0]
    return NoiseTable(start=tuple(start), change=tuple(change), upper=tuple(np.clip(upper, 0, 1)))
