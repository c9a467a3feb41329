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

    Two things are held. Records that were released equal stay equal, so that groups of at least k
    remain so. A value of a record that is alone never comes nearer to its original: it is mirrored
    at the original, or moved away. After each round the score is measured; a round that raises it,
    or the risk in it, is taken back and its steps are halved.

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
    """Released numbers in groups of equal records, with what holds for them."""

    def __init__(self, release: Release, names: list[str]) -> None:
        self._data, self._names = release.data, names
        both = pair(release.original, release)
        at, to = both.matched
        x, y = both.original.numeric(names), both.released.numeric(names)
        complete = ~(np.isnan(x[at]).any(axis=1) | np.isnan(y[to]).any(axis=1))
        self._at, self._to = at[complete], to[complete]
        if len(self._to) < 2:
            raise DataError("optimisation needs at least two complete records")
        self._x, self._released = x, y
        self.values, self._group, self._sizes = _groups(y[self._to])
        own = np.full_like(self.values, np.nan)
        own[self._group] = x[self._at]
        self._own = own
        self._limits()

    def _limits(self) -> None:
        x = self._x[self._at]
        self._mean, self._cov = x.mean(axis=0), np.atleast_2d(np.cov(x.T, bias=True))
        sd = x.std(axis=0)
        self._sd = np.where(sd > 0, sd, 1.0)
        self._free = np.flatnonzero(sd > 0)
        if not len(self._free):
            raise DataError("no number varies, so there is nothing to optimise")
        y = self._released[self._to]
        self._low, self._high = np.minimum(x.min(0), y.min(0)), np.maximum(x.max(0), y.max(0))
        types = [self._data.local[name].dtype for name in self._names]
        self._whole = np.array([dtype.is_integer() for dtype in types])

    @property
    def guarantee(self) -> str:
        """What holds, in plain words."""
        shared = int(np.sum(self._sizes[self._group] > 1))
        return (
            f"{shared:,} records that were equal stay equal; no value of the other "
            f"{len(self._to) - shared:,} came nearer to its original"
        )

    def climbed(self, start: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
        """Return the values after one round of proposals."""
        from tacit.tradeoff._optimise_kernel import AWAY, MIRROR, climb

        values = start.copy()
        n = max(1, int(size * _PROPOSALS_PER_VALUE * values.size))
        which = rng.integers(len(values), size=n)
        column = self._free[rng.integers(len(self._free), size=n)]
        kind = np.where(rng.random(n) < 0.7, MIRROR, AWAY)
        amount = rng.normal(0.0, _SMALL * size, n)
        climb(
            values, self._sizes, self._own, self._mean, self._cov, self._sd, self._low,
            self._high, self._whole, which, column, kind, amount,
        )  # fmt: skip
        return values

    def _full(self, values: np.ndarray) -> np.ndarray:
        full = self._released.copy()
        full[self._to] = values[self._group]
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


def _groups(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct rows, the row of each record, and how many records have each."""
    rows, inverse, counts = np.unique(y, axis=0, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(rows), inverse.reshape(-1), counts.astype(np.float64)
