"""Post-masking optimisation: small changes to a masked file that make it more useful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.measurement import Measurement
from tacit.core.pairing import pair
from tacit.core.progress import track
from tacit.core.release import Release
from tacit.tradeoff.score import Score

_PROPOSALS_PER_VALUE = 4
_SMALL = 0.1
"""Standard deviation of a shift, in standard deviations of its column."""


@dataclass(frozen=True, eq=False)
class Improvement:
    """A masked file after optimisation, with the score before and after.

    It is not a release of its plan any more: applying the plan again gives the file before. Keep
    the file itself in the dossier.
    """

    data: Microdata
    """The protected data, after optimisation."""
    before: Measurement
    """Score of the release as it was."""
    after: Measurement
    """Score of the data now; never higher, nor is its risk."""
    changed: int
    """Number of values that differ from the release."""
    guarantee: str
    """What was held while changing values, in plain words."""

    @property
    def frame(self) -> Any:
        """The protected data as the kind of frame that came in."""
        return self.data.frame


def optimise(
    release: Release, *, score: Score | None = None, rounds: int = 8, seed: int = 0
) -> Improvement:
    r"""Change released numbers so that means and covariances come back, at no higher risk.

    Parameters
    ----------
    release
        A release whose numbers were perturbed or microaggregated.
    score
        What is to be lowered; by default the score of DF07 on all numbers.
    rounds
        How often changes are proposed and measured.
    seed
        Same seed, same changes.

    Notes
    -----
    After [sebe2002]_: values are changed one at a time where that brings the first and second
    moments nearer to those of the original,

    .. math:: \sum_j \left(\frac{\bar x'_j - \bar x_j}{s_j}\right)^2
       + \sum_{j \le l} \left(\frac{c'_{jl} - c_{jl}}{s_j s_l}\right)^2 .

    Two things are held. In a column all of whose released values are shared, equal values stay
    equal; so groups of at least k remain so, in whichever columns they were made. In any other
    column no value comes nearer to its original: it is mirrored at the original, or moved away.
    After each round the score is measured; a round that raises it, or the risk in it, is taken back
    and its steps are halved.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, tradeoff
    >>> data = tacit.datasets.census(400)
    >>> names = ["age", "hours", "income"]
    >>> release = tacit.Plan([mask.RankSwap(columns=names, p=15)]).apply(data, seed=1)
    >>> better = tradeoff.optimise(release, score=tradeoff.Score(attributes=names), rounds=2)
    >>> better.after.value <= better.before.value
    True
    """
    if rounds < 1:
        raise ParameterError("optimisation needs at least one round", got=rounds)
    score = score or Score()
    names = score.columns(release.original)
    lost = [name for name in names if name not in release.data.schema]
    if lost:
        raise DataError(f"the release has no column {lost[0]!r}", do="name other attributes")
    work = _Work(release, names)
    before = score.measure(release.original, release)
    state, best = work.values.copy(), before
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    size = 1.0
    with track("optimising the release", rounds) as advance:
        for _ in range(rounds):
            proposed = work.climbed(state, size, rng)
            found = score.measure(release.original, work.data(proposed))
            if found.value < best.value and found.details["DR"] <= before.details["DR"] + 1e-9:
                state, best = proposed, found
            else:
                size /= 2
            advance(1)
    changed = work.n_changed(state)
    data = work.data(state) if changed else release.data
    return Improvement(data, before, best, changed, work.guarantee)


class _Work:
    """Released numbers in units that change together, with what holds for them."""

    def __init__(self, release: Release, names: list[str]) -> None:
        self._data, self._names = release.data, names
        both = pair(release.original, release)
        at, to = both.matched
        x, y = both.original.numeric(names), both.released.numeric(names)
        complete = ~(np.isnan(x[at]).any(axis=1) | np.isnan(y[to]).any(axis=1))
        self._to = to[complete]
        if len(self._to) < 2:
            raise DataError("optimisation needs at least two complete records")
        self._own, self._released = np.ascontiguousarray(x[at[complete]]), y
        self.values = np.ascontiguousarray(y[self._to])
        self._limits()
        self._units = [_Units.of(y[:, j], self._to) for j in range(len(names))]

    def _limits(self) -> None:
        x = self._own
        self._mean, self._cov = x.mean(axis=0), np.atleast_2d(np.cov(x.T, bias=True))
        sd = x.std(axis=0)
        self._sd = np.where(sd > 0, sd, 1.0)
        self._free = np.flatnonzero(sd > 0)
        if not len(self._free):
            raise DataError("no number varies, so there is nothing to optimise")
        y = self.values
        self._low, self._high = np.minimum(x.min(0), y.min(0)), np.maximum(x.max(0), y.max(0))
        types = [self._data.local[name].dtype for name in self._names]
        self._whole = np.array([dtype.is_integer() for dtype in types])

    @property
    def guarantee(self) -> str:
        """What holds, in plain words."""
        together = [n for n, u in zip(self._names, self._units, strict=True) if u.is_shared]
        alone = [n for n in self._names if n not in together]
        said = []
        if together:
            said.append(f"records equal in {', '.join(together)} stay equal, so no group splits")
        if alone:
            said.append(f"no value of {', '.join(alone)} came nearer to its original")
        return "; ".join(said)

    def climbed(self, start: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
        """Return the values after one round of proposals."""
        from tacit.tradeoff._optimise_kernel import AWAY, MIRROR, climb

        values = start.copy()
        n = max(1, int(size * _PROPOSALS_PER_VALUE * values.size))
        column = self._free[rng.integers(len(self._free), size=n)]
        counts = np.array([u.n_units for u in self._units])
        which = (np.cumsum(counts) - counts)[column] + rng.integers(counts[column])
        kind = np.where(rng.random(n) < 0.7, MIRROR, AWAY)
        amount = rng.normal(0.0, _SMALL * size, n)
        starts = np.concatenate(([0], np.cumsum(np.concatenate([u.sizes for u in self._units]))))
        members = np.concatenate([u.members for u in self._units])
        shared = np.array([u.is_shared for u in self._units])
        climb(
            values, starts, members, shared, self._own, self._mean, self._cov, self._sd, self._low,
            self._high, self._whole, which, column, kind, amount,
        )  # fmt: skip
        return values

    def _full(self, values: np.ndarray) -> np.ndarray:
        full = self._released.copy()
        for j, units in enumerate(self._units):
            full[:, j] = units.spread(full[:, j], values[:, j], self._to)
        return full

    def data(self, values: np.ndarray) -> Microdata:
        """Return the records with these values."""
        import polars as pl

        full = self._full(values)
        table = self._data.local.with_columns(
            pl.Series(name, full[:, j], nan_to_null=True).cast(self._data.local[name].dtype)
            for j, name in enumerate(self._names)
        )
        return self._data.with_local(table)

    def n_changed(self, values: np.ndarray) -> int:
        """Count the released values that are different now."""
        full = self._full(values)
        same = (full == self._released) | (np.isnan(full) & np.isnan(self._released))
        return int(np.sum(~same))


@dataclass(frozen=True)
class _Units:
    """What changes together in one column: all records of a value, or each record by itself.

    Where every released value is shared, groups may have been made on purpose, in this column or
    in several. If equal values stay equal in each column, no group of any columns splits, not even
    one with records that are incomplete elsewhere.
    """

    is_shared: bool
    of_row: np.ndarray
    """Unit of each released record, -1 for a gap."""
    sizes: np.ndarray
    """Complete records of each unit."""
    members: np.ndarray
    """Complete records, unit by unit."""

    @classmethod
    def of(cls, released: np.ndarray, complete: np.ndarray) -> _Units:
        known = ~np.isnan(released)
        _, unit, counts = np.unique(released[known], return_inverse=True, return_counts=True)
        of_row = np.full(len(released), -1, dtype=np.int64)
        of_row[known] = unit
        if counts.min() < 2:
            n = len(complete)
            return cls(False, of_row, np.ones(n, dtype=np.int64), np.arange(n))
        own = of_row[complete]
        sizes = np.bincount(own, minlength=len(counts))
        return cls(True, of_row, sizes, np.argsort(own, kind="stable"))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.sizes)

    def spread(self, released: np.ndarray, values: np.ndarray, complete: np.ndarray) -> np.ndarray:
        """Return the column with new values, those of a unit on all its records."""
        full = released.copy()
        full[complete] = values
        if self.is_shared:
            first = (np.cumsum(self.sizes) - self.sizes)[self.sizes > 0]
            new = np.full(self.n_units, np.nan)
            new[self.sizes > 0] = values[self.members[first]]
            rows = np.flatnonzero(self.of_row >= 0)
            moved = new[self.of_row[rows]]
            full[rows] = np.where(np.isnan(moved), full[rows], moved)
        return full
