"""Confidentiality via camouflage: interval answers to any number of queries of any kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.core.rng import fresh_seed
from tacit.query._camouflage_vectors import skewed_weights, vectors_around

_ROUNDING = 1e-12
"""Room for rounding errors of sums, relative to the sum of absolute values."""

_STRATUM = 50
"""Units of a stratum: with more, statistical guesses of its weights beat the midpoint."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An answer that is certain to contain the true one."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Upper less lower end."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def outward(self, step: float) -> Interval:
        """Return the interval widened to multiples of a step, never narrowed.

        Examples
        --------
        >>> Interval(12.3, 18.9).outward(5)
        Interval(low=10, high=20)
        """
        if not step > 0:
            raise ParameterError("the step of rounding must be positive", got=step)
        return Interval(math.floor(self.low / step) * step, math.ceil(self.high / step) * step)


class Camouflage:
    r"""A confidential variable hidden in a polytope, from which every query is answered.

    The true vector is one secret mixture of *k* made-up vectors. A query is answered with the
    interval of its values over all mixtures of them. The truth is always in it; and since every
    mixture, the made-up vectors among them, fits every answer that can ever be given, no number of
    queries shows more than the polytope.

    Make it with `Camouflage.of`. It holds the made-up vectors only: neither the truth nor the
    weights are kept, so answers cannot depend on them.

    Notes
    -----
    With vectors :math:`P^1, \dots, P^k` and secret weights :math:`\lambda_j > 0` of sum 1,
    :math:`a = \sum_j \lambda_j P^j`, and the answer to *f* contains
    :math:`[\min_\Pi f, \max_\Pi f]`, :math:`\Pi = \mathrm{conv}\{P^j\}` [gopal2002]_. A linear
    query takes its extremes at the vectors, so its interval needs *k* plain sums.

    Weights are skewed: with equal weights the truth is the mean of the vectors, and midpoints of
    the answers come close to it. A user who knows *k* - 1 of the values and has worked out the
    vectors can solve for the weights and then knows all values of the stratum: choose
    ``k`` at least two more than the values any user may know. Nor may a stratum be large: whoever
    sees many vectors and knows roughly how the values are spread can estimate its weights.
    Deviations from [gopal2002]_: strata, and widths made from the end of the interval rather than
    from the value.

    Examples
    --------
    >>> import numpy as np
    >>> salaries = np.array([61.0, 83.0, 52.0, 74.0, 96.0, 67.0])
    >>> hidden = Camouflage.of(salaries, relative=0.2, rng=np.random.default_rng(1))
    >>> answer = hidden.mean()
    >>> salaries.mean() in answer, hidden.total([0]).width >= 0.2 * 61
    (True, True)
    """

    def __init__(self, vertices: np.ndarray, strata: np.ndarray | None = None) -> None:
        self._vertices = np.asarray(vertices, dtype=float)
        n = len(self._vertices)
        self._strata = np.zeros(n, dtype=np.int64) if strata is None else np.asarray(strata)
        if self._vertices.ndim != 2 or self._vertices.shape[1] < 2 or self._strata.shape != (n,):
            raise ParameterError("vectors are given as units by two or more columns")
        self._present = ~np.isnan(self._vertices).any(axis=1)
        self._low, self._high = self._vertices.min(axis=1), self._vertices.max(axis=1)
        self.n_strata = int(self._strata.max()) + 1 if n else 0

    @classmethod
    def of(
        cls,
        values: Any,
        *,
        relative: float = 0.2,
        minimum: float = 0.0,
        insiders: int = 1,
        k: int | None = None,
        strata: Any = None,
        bounds: tuple[float, float] = (-math.inf, math.inf),
        slack: float = 0.5,
        weights: str = "skewed",
        rng: np.random.Generator | None = None,
    ) -> Camouflage:
        """Hide a variable. Missing values stay missing and are left out of every query.

        Parameters
        ----------
        values
            The confidential variable, a number for each unit.
        relative, minimum
            Least width of the interval for each single unit: a share of its value, and at least
            `minimum`. One of them must give every unit a positive width.
        insiders
            How many values (or totals) one user may know already.
        k
            Number of made-up vectors; by default, and at least, `insiders` + 2.
        strata
            A number of random strata, or a whole number from 0 for each unit; by default random
            strata of about 50 units. Each has weights of its own; the fewer units in a stratum, the
            less its weights can be guessed, and the wider are intervals of large sums.
        bounds
            Bounds everybody knows; made-up values keep to them, so that they cannot be told.
        slack
            Widths are up to this share larger than asked, so that they do not tell the value.
        weights
            ``skewed``, or ``equal`` to show why not.
        rng
            Source of the secret; by default the operating system.
        """
        truth = np.asarray(values, dtype=float)
        k = insiders + 2 if k is None else k
        _check_settings(truth, relative, minimum, insiders, k, slack, weights)
        rng = np.random.default_rng(fresh_seed()) if rng is None else rng
        labels = _labels(strata, len(truth), rng)
        widths = np.maximum(relative * np.abs(truth), minimum)
        present = ~np.isnan(truth)
        if (widths[present] <= 0).any():
            raise ProtectionError(
                "a value of zero gets no width from a relative protection",
                got=f"{int((widths[present] <= 0).sum())} values",
                do="give a minimum width",
            )
        vertices = np.full((len(truth), k), np.nan)
        for label in np.unique(labels):
            at = np.flatnonzero((labels == label) & present)
            share = np.full(k, 1 / k) if weights == "equal" else skewed_weights(k, rng)
            vertices[at] = vectors_around(
                truth[at],
                share,
                rng,
                relative=relative,
                minimum=minimum,
                slack=slack,
                bounds=bounds,
            )
        hidden = cls(vertices, labels)
        hidden._refuse_unless(truth, widths)
        return hidden

    def _refuse_unless(self, truth: np.ndarray, widths: np.ndarray) -> None:
        """Look once more, while the truth is at hand, that it is inside and well hidden."""
        at = self._present
        inside = (self._low[at] < truth[at]) & (truth[at] < self._high[at])
        wide = self._high[at] - self._low[at] >= widths[at] * (1 - 1e-9)
        if not (inside & wide).all():
            raise ProtectionError(
                "some values could not be hidden: the widths are too small for their size",
                got=f"{int((~(inside & wide)).sum())} values",
                do="raise the protection",
            )

    # -- the polytope ---------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """Number of made-up vectors."""
        return int(self._vertices.shape[1])

    @property
    def vectors(self) -> np.ndarray:
        """The made-up vectors, units by vectors; to be stored instead of the variable."""
        return self._vertices.copy()

    @property
    def strata(self) -> np.ndarray:
        """The stratum of each unit."""
        return self._strata.copy()

    # -- answers --------------------------------------------------------------------------------

    def linear(self, coefficients: Any) -> Interval:
        """Answer any linear query: sums, weighted sums, contrasts, least-squares coefficients.

        Parameters
        ----------
        coefficients
            A number for each unit. Units whose value is missing count as 0.
        """
        c = np.asarray(coefficients, dtype=float)
        if c.shape != self._strata.shape or not np.isfinite(c).all():
            raise ParameterError(
                f"a linear query has a finite coefficient for each of {len(self._strata)} units"
            )
        at = np.flatnonzero((c != 0) & self._present)
        parts = self._vertices[at] * c[at, None]
        return interval_of_sums(
            _by_stratum(parts, self._strata[at], self.n_strata),
            _by_stratum(np.abs(parts), self._strata[at], self.n_strata).sum(),
        )

    def total(self, units: Any = None) -> Interval:
        """Answer a sum over units: a mask, their places, or all."""
        return self.linear(self._mask(units).astype(float))

    def mean(self, units: Any = None) -> Interval:
        """Answer a mean over units."""
        mask = self._mask(units, least=1)
        return self.linear(mask / (mask & self._present).sum())

    def variance(self, units: Any = None, *, ddof: int = 0) -> Interval:
        """Answer a variance over units, with divisor n - `ddof`."""
        from tacit.query._camouflage_variance import variance_bounds

        mask = self._mask(units, least=ddof + 1) & self._present
        low, high = variance_bounds(self._vertices[mask], self._strata[mask])
        n = int(mask.sum())
        return Interval(low * n / (n - ddof), high * n / (n - ddof))

    def order_statistic(self, rank: int, units: Any = None) -> Interval:
        """Answer the value of a rank, 1 the smallest; negative from the top, -1 the largest.

        The rank is that of the smallest, and of the largest, made-up values: a little wider than
        the polytope needs, and again a function of the polytope alone.
        """
        mask = self._mask(units, least=1) & self._present
        n = int(mask.sum())
        if rank == 0 or abs(rank) > n:
            raise ParameterError(f"a rank is from 1 to {n}, or from -1 to -{n}", got=rank)
        place = rank - 1 if rank > 0 else n + rank
        ends = (np.partition(side[mask], place)[place] for side in (self._low, self._high))
        return Interval(*(float(end) for end in ends))

    def median(self, units: Any = None) -> Interval:
        """Answer a median over units."""
        n = int((self._mask(units, least=1) & self._present).sum())
        lower = self.order_statistic((n + 1) // 2, units)
        upper = self.order_statistic(n // 2 + 1, units)
        return Interval((lower.low + upper.low) / 2, (lower.high + upper.high) / 2)

    def count_above(self, limit: float, units: Any = None) -> Interval:
        """Answer how many units have a value above a limit."""
        mask = self._mask(units) & self._present
        ends = ((side[mask] > limit).sum() for side in (self._low, self._high))
        return Interval(*(float(end) for end in ends))

    def _mask(self, units: Any, least: int = 0) -> np.ndarray:
        n = len(self._strata)
        mask = np.ones(n, dtype=bool) if units is None else _as_mask(units, n)
        if (found := int((mask & self._present).sum())) < least:
            raise DataError(f"this needs at least {least} units with a value", got=f"{found} units")
        return mask


def interval_of_sums(sums: Any, absolute: float = 0.0) -> Interval:
    """Return the answer to a linear query from its sums over the made-up vectors.

    Parameters
    ----------
    sums
        The sum for each stratum (rows) and vector (columns), as a database returns them.
    absolute
        Sum of the absolute values of all terms, for the room that rounding errors get.

    Examples
    --------
    >>> interval_of_sums([[10, 12, 9], [5, 4, 6]])
    Interval(low=13.0, high=18.0)
    """
    per_vector = np.atleast_2d(np.asarray(sums, dtype=float))
    room = _ROUNDING * absolute
    low, high = per_vector.min(axis=1).sum(), per_vector.max(axis=1).sum()
    return Interval(float(low - room), float(high + room))


def _by_stratum(parts: np.ndarray, strata: np.ndarray, n_strata: int) -> np.ndarray:
    if n_strata <= 1:
        return np.asarray(parts.sum(axis=0, keepdims=True))
    columns = [np.bincount(strata, column, minlength=n_strata) for column in parts.T]
    return np.stack(columns, axis=1)


def _as_mask(units: Any, n: int) -> np.ndarray:
    given = np.asarray(units)
    if given.dtype == bool and given.shape == (n,):
        return given
    if given.ndim == 1 and (given.dtype.kind in "iu" or not given.size):
        places = given.astype(np.int64)
        if places.size == 0 or (places.min() >= 0 and places.max() < n):
            mask = np.zeros(n, dtype=bool)
            mask[places] = True
            return mask
    raise ParameterError(f"units are a mask of length {n} or places from 0 to {n - 1}")


def _labels(strata: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    strata = max(1, round(n / _STRATUM)) if strata is None else strata
    if np.ndim(strata) == 0:
        if not 1 <= int(strata) <= max(n, 1):
            raise ParameterError("the number of strata is from 1 to the units", got=strata)
        return np.asarray(rng.permutation(np.arange(n) % int(strata)))
    labels = np.asarray(strata)
    if labels.dtype.kind not in "iu" or labels.shape != (n,) or (n and labels.min() < 0):
        raise ParameterError("strata are a whole number from 0 for each unit")
    return labels.astype(np.int64)


def _check_settings(
    truth: np.ndarray,
    relative: float,
    minimum: float,
    insiders: int,
    k: int,
    slack: float,
    weights: str,
) -> None:
    if truth.ndim != 1 or np.isinf(truth).any():
        raise DataError("the variable to hide is a list of finite numbers")
    if not (0 <= relative <= 0.9 and 0 <= minimum < math.inf and 0 <= slack < math.inf):
        raise ParameterError(
            "the relative width is from 0 to 0.9, minimum and slack are not negative",
            got=f"relative = {relative}, minimum = {minimum}, slack = {slack}",
        )
    if insiders < 0 or k < insiders + 2:
        raise ParameterError(
            "there must be at least two more made-up vectors than values a user may know",
            got=f"k = {k}, insiders = {insiders}",
        )
    if weights not in ("skewed", "equal"):
        raise ParameterError("weights are skewed or equal", got=repr(weights))
