"""What a regression over agencies with different variables of the same units is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analyses._design import solved
from tacit.federated.analysis import require_plausible, require_records, require_varied
from tacit.federated.matrix_product import PRODUCT
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_LIMBS = 4


@dataclass(frozen=True)
class Holder:
    """One agency's variables of the common units, scaled."""

    names: tuple[str, ...]
    centre: np.ndarray
    spread: np.ndarray
    z: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...], values: np.ndarray, policy: Policy) -> Holder:
        """Scale the values of the common units, or refuse by the agency's own rules."""
        require_records(len(values), policy)
        require_varied(values, policy)
        centre, spread = values.mean(axis=0), values.std(axis=0)
        if np.any(spread <= 1e-12 * np.maximum(np.abs(centre), 1e-300)):
            raise RefusedError("a variable is constant among the common units")
        z = (values - centre) / spread
        # The leverage of a record is at least that in each variable alone, which its holder sees.
        if (z**2).max() / len(z) > policy.max_leverage:
            raise RefusedError(f"a record has a leverage above {policy.max_leverage:g}")
        return cls(names, centre, spread, z)

    def scores(self, root: np.ndarray, predictors: tuple[str, ...]) -> np.ndarray:
        """Return the agency's term of each unit's scores, given the root of the inverse."""
        place = {name: i for i, name in enumerate(predictors)}
        own = [i for i, name in enumerate(self.names) if name in place]
        scores: np.ndarray = self.z[:, own] @ root[[place[self.names[i]] for i in own]]
        return scores


@dataclass(frozen=True)
class Moments:
    """Products of the scaled variables, the response first, with centres and spreads."""

    n: int
    names: tuple[str, ...]
    gram: np.ndarray
    centre: np.ndarray
    spread: np.ndarray

    def __post_init__(self) -> None:
        if self.n <= len(self.names):
            raise RefusedError("no more common units than coefficients (p >= n)")
        sizes = np.abs(self.gram) <= self.n * (1 + 1e-6)
        own = np.abs(np.diag(self.gram) - self.n) <= 1e-6 * self.n
        fits = bool(sizes.all() and own.all() and (self.spread > 0).all())
        require_plausible(fits, "correlations above 1")

    def root(self) -> np.ndarray:
        """Return C of C C' = the inverse of the predictors' products."""
        return np.linalg.cholesky(solved(self.gram[1:, 1:]))

    def answer(self, policy: Policy) -> dict[str, Any]:
        """Return coefficients and their errors, or refuse a fit that tells every response."""
        inverse = solved(self.gram[1:, 1:])
        b = inverse @ self.gram[1:, 0]
        rss = float(self.gram[0, 0] - b @ self.gram[1:, 0])
        r_squared = 1 - rss / float(self.gram[0, 0])
        if r_squared > policy.max_r_squared:
            raise RefusedError("the fit is (nearly) perfect, which tells every response")
        s, m = self.spread[1:], self.centre[1:]
        scale, sigma2 = float(self.spread[0]), rss / (self.n - len(self.names))
        beta = scale * b / s
        covariance = sigma2 * scale**2 * inverse / np.outer(s, s)
        errors = np.sqrt([sigma2 * scale**2 / self.n + m @ covariance @ m, *np.diag(covariance)])
        terms = ["(constant)", *self.names[1:]]
        constant = float(self.centre[0] - beta @ m)
        return {
            "n": self.n,
            "coefficients": dict(zip(terms, [constant, *beta.tolist()], strict=True)),
            "standard_errors": dict(zip(terms, errors.tolist(), strict=True)),
            "r_squared": r_squared,
            "residual_error": float(np.sqrt(sigma2)) * scale,
        }


def require_shared_out(bound: float, policy: Policy) -> None:
    """Refuse predictors of which one unit, seen over all agencies, might decide a combination."""
    if bound > policy.max_leverage:
        raise RefusedError(
            f"a record may have a leverage above {policy.max_leverage:g} in all variables together"
        )


def places(names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    """Return the positions of some variables among all."""
    return [wanted.index(name) for name in names]


def put(
    matrix: np.ndarray, size: int, rows: list[int], columns: list[int], block: np.ndarray
) -> None:
    """Write a block of ring elements into a square matrix of them."""
    where = np.add.outer(np.array(rows) * size, np.array(columns)).ravel()
    matrix[:, where] = block


def gram_of(total: np.ndarray, size: int) -> np.ndarray:
    """Return the products of all variables from ring elements, of pairs in one order or both."""
    found = PRODUCT.decode(total).reshape(size, size)
    return np.where(found != 0, found, found.T)


def units_of(data: Microdata, unit: str) -> np.ndarray:
    """Return the identifiers of the units as texts."""
    import polars as pl

    data.schema.require([unit])
    texts = data.local[unit].cast(pl.String)
    if texts.null_count():
        raise RefusedError("a record has no identifier of its unit")
    return np.asarray(texts.to_numpy())


def as_limbs(words: np.ndarray) -> np.ndarray:
    """Return ring elements as numbers below 2**32, which a sum of another ring can carry.

    Only agencies see the sums. They tell more than the sum of the ring elements, but nothing else
    about the data: given that sum, shares are uniform.
    """
    halves = [half for word in words for half in (word & _LOW, word >> _HALF)]
    return np.concatenate(halves).astype(np.float64)


def from_limbs(sums: np.ndarray, n_agencies: int) -> np.ndarray:
    """Return the sum of ring elements from the sums of their limbs.

    Examples
    --------
    >>> one = np.array([[2**64 - 1], [0]], dtype=np.uint64)
    >>> from_limbs(as_limbs(one) + as_limbs(one), 2)[:, 0].tolist()
    [18446744073709551614, 1]
    """
    whole = sums.reshape(_LIMBS, -1)
    fits = (whole >= 0) & (whole < n_agencies * 2.0**32) & (whole == np.floor(whole))
    require_plausible(bool(fits.all()), "no shares")
    carry = np.zeros(whole.shape[1], dtype=np.uint64)
    limbs = []
    for limb in whole.astype(np.uint64):
        limbs.append((limb + carry) & _LOW)
        carry = (limb + carry) >> _HALF
    return np.stack([limbs[0] | limbs[1] << _HALF, limbs[2] | limbs[3] << _HALF])
