"""Multiplicative noise that keeps positivity, inequalities, means and covariances."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Gt
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.mask._differences import Differences
from tacit.mask._moments import moments, normal_draws
from tacit.mask._noise import finite_columns

__all__ = ["masked_moment", "recovered_moment"]

Scheme = Literal["plain", "z-scores"]


class MultiplicativeNoise(
    Mask,
    key="multiplicative-noise",
    title="Multiplicative noise",
    cites=("oganian2011", "oganian2010", "oganiankarr2011"),
    example={"columns": ["income", "taxes"]},
    at_scale="blocks",
):
    r"""Multiply values by random factors so that signs, inequalities, means and covariances stay.

    Nonnegative columns stay nonnegative. Where the schema says that one column is at least another
    (income and taxes) and both are masked here, the release keeps that on every record. Columns
    that the schema says are zero when an indicator has some value stay zero there.

    Missing values: stay missing; where the lower column of an inequality is missing, the higher one
    is blanked as well; moments come from the complete records. Weights: moments are
    weighted where the schema has a weight. Households: not considered.

    Notes
    -----
    With :math:`E` jointly normal, the masked data of the plain scheme are, by (7) of
    [oganian2011]_,

    .. math:: X_m = \frac{(\sqrt{1+k} - 1)\,E[X_o] + X_o \circ \exp(E)}{\sqrt{1+k}},\quad
       \Sigma_E(i,j) = \log\Bigl(1 + \frac{k\,\Sigma_o(i,j)}{E[X_o(i)X_o(j)]}\Bigr),\quad
       \mu_E(i) = -\frac{1}{2} \Sigma_E(i,i).

    The scheme on z-scores, (21) and (23), multiplies the constant too and can be computed for
    every nonnegative file; columns with negative values are shifted first. Chains of inequalities
    are masked as differences (27). Records beyond a limit can get less noise (zones): that steadies
    the covariances of skewed data. `masked_moment` and `recovered_moment` give the relation (26)
    between original and masked moments of any order. When not to use it: on columns with few
    distinct values, whose masked values would give the original away.

    Deviation: in (24) to (26) the paper's cross factor is misprinted; the one that (23) implies is
    used here: :math:`((1+k)E[X_jX_l]/(E[X_jX_l] + kE[X_j]E[X_l]))^{p_jp_l}`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> method = mask.MultiplicativeNoise(columns=["income", "taxes"])
    >>> frame = tacit.Plan([method]).apply(tacit.datasets.census(500), seed=1).frame
    >>> bool(((frame["income"] >= frame["taxes"]) & (frame["taxes"] >= 0)).all())
    True
    """

    columns: Columns
    """Numeric variables masked together."""
    k: Annotated[float, Gt(0), Try(0.05, 0.15, 0.3)] = 0.15
    """Share by which the noise would raise the variance before it is scaled back."""
    scheme: Scheme = "z-scores"
    """The scheme of Oganian's (7), or the one on z-scores (21), which always can be computed."""
    within: Columns | None = None
    """Mask the records of each category of these variables by themselves."""
    limits: tuple[float, ...] = ()
    """Zones: records whose largest value is at most the first limit, the second, ..., the rest."""
    levels: tuple[Annotated[float, Gt(0)], ...] = ()
    """Value of k in each zone, one more than there are limits."""

    @model_validator(mode="after")
    def _check_zones(self) -> Self:
        if (self.limits or self.levels) and len(self.levels) != len(self.limits) + 1:
            raise ValueError("should have one level more than limits")
        if any(b <= a for a, b in itertools.pairwise(self.limits)):
            raise ValueError("should have limits in rising order")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with the columns multiplied by noise."""
        values = finite_columns(data, self.columns, self.key)
        weights = data.weights
        differences = Differences.of(data.schema, self.columns)
        working = differences.split(values)
        part, level = self._zones(data, values)
        masked = working.copy()
        for zone in range(int(part.max()) + 1 if len(part) else 0):
            rows = np.flatnonzero(part == zone)
            if len(rows):
                shares = None if weights is None else weights[rows]
                masked[rows] = multiply(
                    working[rows], float(level[rows[0]]), self.scheme, rng, shares
                )
        result = differences.join(masked)
        return data.with_arrays(dict(zip(self.columns, result.T, strict=True)))

    def _zones(self, data: Microdata, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the part that each record is masked with, and the k of each record."""
        indicators = [
            rule.indicator
            for rule in data.schema.constraints
            if rule.rule == "zero_when" and rule.column in self.columns
        ]
        names = [*(self.within or ()), *(c for c in indicators if c in data.schema)]
        apart = encode(data, list(dict.fromkeys(names)))
        largest = np.where(np.isnan(values), -np.inf, values).max(axis=1, initial=-np.inf)
        zone = np.searchsorted(np.asarray(self.limits), largest, side="left")
        part, _ = group_ids(np.column_stack([apart, zone]).astype(np.int32))
        levels = np.asarray(self.levels or (self.k,))
        return part, levels[zone]


def multiply(
    values: np.ndarray,
    k: float,
    scheme: Scheme,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Mask the columns of an array together; constant columns and missing values stay.

    A column that varies only on incomplete records is masked by itself, by its own moments.
    """
    masked = values.copy()
    complete = ~np.isnan(values).any(axis=1)
    if complete.sum() < 2:
        raise DataError(
            "multiplicative noise needs at least two complete records in each zone",
            got=f"{int(complete.sum())}",
            do="use fewer zones or another column to mask within",
        )
    shares = None if weights is None else weights[complete]
    varying = np.ptp(values[complete], axis=0) > 0
    for j in np.flatnonzero(~varying & (np.nanmax(values, axis=0) > np.nanmin(values, axis=0))):
        known = ~np.isnan(values[:, j])
        some = None if weights is None else weights[known]
        masked[known, j] = multiply(values[known, j : j + 1], k, scheme, rng, some)[:, 0]
    if not varying.any():
        return masked
    chosen = values[:, varying]
    # Mixed signs: shift to zero, mask, shift back (end of section 2 of oganian2011).
    shift = np.minimum(np.nanmin(chosen, axis=0), 0.0)
    if scheme == "plain" and (shift < 0).any():
        raise DataError(
            "the plain scheme needs columns without negative values",
            do="use the scheme 'z-scores', which shifts them",
        )
    shifted = chosen - shift
    mean, second = moments(shifted[complete], shares)
    centre, covariance = _noise_parameters(mean, second, k, scheme)
    noise = centre + normal_draws(covariance, len(values), rng)
    root = math.sqrt(1.0 + k)
    factor = np.exp(noise)
    # Eq. (7) of oganian2011 adds a constant, Eq. (21) multiplies it as well.
    constant = (root - 1.0) * mean * (factor if scheme == "z-scores" else 1.0)
    masked[:, varying] = (constant + shifted * factor) / root + shift
    return masked


def _noise_parameters(
    mean: np.ndarray, second: np.ndarray, k: float, scheme: Scheme
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the normal noise: (8), (9) or (23) of oganian2011."""
    product = np.outer(mean, mean)
    if scheme == "z-scores":
        ratio = (1.0 + k) * second / (second + k * product)  # Eq. (23)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = 1.0 + k * (second - product) / second  # Eq. (8)
    if not (ratio > 0).all():
        raise DataError(
            "the covariance of the noise cannot be computed: two columns lie along the axes, so "
            "that they are almost never positive together",
            do="use the scheme 'z-scores' with k small, or mask the columns apart"
            if scheme == "z-scores"
            else "use the scheme 'z-scores'",
        )
    covariance = np.log(ratio)
    return -np.diag(covariance) / 2.0, covariance


def _inflation(powers: Sequence[int], mean: np.ndarray, second: np.ndarray, k: float) -> float:
    """Return the factor A of (26), with the cross factor that (23) implies."""
    product = np.outer(mean, mean)
    ratio = (1.0 + k) * second / (second + k * product)
    factor = 1.0
    for j, p in enumerate(powers):
        factor *= ratio[j, j] ** (p * (p - 1) / 2)
        for other in range(j + 1, len(powers)):
            factor *= ratio[j, other] ** (p * powers[other])
    return float(factor)


def masked_moment(values: np.ndarray, powers: Sequence[int], k: float) -> float:
    r"""Return the expected moment :math:`E[\prod_j X_m(j)^{p_j}]` of data masked on z-scores.

    Parameters
    ----------
    values
        The original, nonnegative data, records by columns.
    powers
        The power :math:`p_j` of each column.
    k
        The noise level.

    Notes
    -----
    Eq. (25) of [oganian2011]_, with the cross factor corrected.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [6.0]])
    >>> round(masked_moment(x, [2], k=0.15), 6) == round(float((x**2).mean()), 6)
    True
    """
    values = np.asarray(values, dtype=float)
    mean, second = moments(values)

    def original(exponents: Sequence[int]) -> float:
        return float(np.prod(values ** np.asarray(exponents), axis=1).mean())

    return _masked(original, powers, mean, second, k)


def _masked(
    original: Callable[[Sequence[int]], float],
    powers: Sequence[int],
    mean: np.ndarray,
    second: np.ndarray,
    k: float,
    *,
    top: bool = True,
) -> float:
    """Sum (25) over all lower powers, with or without the term of the moment itself."""
    root = math.sqrt(1.0 + k)
    total = 0.0
    for lower in itertools.product(*(range(p + 1) for p in powers)):
        if not top and list(lower) == list(powers):
            continue
        rest = [p - i for p, i in zip(powers, lower, strict=True)]
        ways = math.prod(math.comb(p, i) for p, i in zip(powers, lower, strict=True))
        constant = math.prod(float(m) ** r for m, r in zip(mean, rest, strict=True))
        total += original(lower) * ways * constant * (root - 1.0) ** sum(rest)
    return total * _inflation(powers, mean, second, k) / root ** sum(powers)


def recovered_moment(masked: np.ndarray, powers: Sequence[int], k: float) -> float:
    r"""Estimate :math:`E[\prod_j X_o(j)^{p_j}]` from data masked on z-scores with known `k`.

    Parameters
    ----------
    masked
        The released, nonnegative data, records by columns.
    powers
        The power :math:`p_j` of each column.
    k
        The noise level that the releaser made known.

    Notes
    -----
    Eq. (26) of [oganian2011]_ solved for the original moment, lower ones first; means and second
    moments are those of the released data, which the scheme keeps.
    """
    masked = np.asarray(masked, dtype=float)
    mean, second = moments(masked)
    found: dict[tuple[int, ...], float] = {}

    def original(exponents: Sequence[int]) -> float:
        key = tuple(exponents)
        if key not in found:
            seen = float(np.prod(masked ** np.asarray(key), axis=1).mean())
            if sum(key) <= 2:
                found[key] = seen
            else:
                rest = _masked(original, key, mean, second, k, top=False)
                factor = _inflation(key, mean, second, k) / math.sqrt(1.0 + k) ** sum(key)
                found[key] = (seen - rest) / factor
        return found[key]

    return original(tuple(powers))
