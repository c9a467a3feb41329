"""Products of two agencies' matrices, which neither shows the other."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from tacit.core.errors import ParameterError
from tacit.federated import masks
from tacit.federated.fixed_point import FixedPoint

FACTOR = FixedPoint(words=2, fraction_bits=40)
"""How the entries of the matrices are held."""
PRODUCT = FixedPoint(words=2, fraction_bits=80)
"""How the entries of the product are held."""
_LIMB = np.uint64(16)
_LIMBS = 8
_BLOCK = 1 << 20
"""Records multiplied at a time, so that sums of products of limbs stay exact in floats."""


def orthogonal_product(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, n_hidden: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return X'Y by the secure matrix product of Karr et al., and what the first agency saw.

    Notes
    -----
    The agency with X draws an orthonormal Z with :math:`Z^T X = 0` of g columns and sends it; the
    agency with Y returns :math:`(I - Z Z^T) Y`; then :math:`X^T (I - Z Z^T) Y = X^T Y`
    [karr2009]_. The first agency learns Y up to a space of g dimensions, the second that X lies
    in one of n - g: g = n p / (p + q) shares the loss evenly. This is no perfect hiding, and a
    column of zeros and ones can often be found; regressions here use `shared_product`.
    """
    n, p, q = len(x), x.shape[1], y.shape[1]
    g = n * p // (p + q) if n_hidden is None else n_hidden
    if len(y) != n or not 1 <= g <= n - p:
        raise ParameterError("Z needs from 1 to n - p columns", got=f"g = {g}, n = {n}, p = {p}")
    basis = np.linalg.qr(x)[0]
    drawn = rng.normal(size=(n, g))
    for _ in range(2):  # twice is enough to be orthogonal to the last bit
        drawn = np.linalg.qr(drawn - basis @ (basis.T @ drawn))[0]
    seen = y - drawn @ (drawn.T @ y)
    return x.T @ seen, seen


@dataclass(frozen=True)
class Dealt:
    """What a dealer gives to one side: a seed of random factors and a share of their product."""

    seed: bytes
    product: np.ndarray


def deal(n: int, p: int, q: int) -> tuple[Dealt, Dealt]:
    """Draw factors U and V and split U'V; the dealer sees nothing of the data."""
    seeds = secrets.token_bytes(32), secrets.token_bytes(32)
    u, v = factors(seeds[0], n, p), factors(seeds[1], n, q)
    whole = ring_product(u, v)
    first = masks.expand(secrets.token_bytes(32), PRODUCT.words, p * q)
    return Dealt(seeds[0], first), Dealt(seeds[1], PRODUCT.subtract(whole, first))


@dataclass(frozen=True)
class Factor:
    """One side of a product: its matrix, hidden under the dealer's factors."""

    matrix: np.ndarray
    """Words by records by columns, ring elements."""
    dealt: Dealt

    @classmethod
    def of(cls, values: np.ndarray, dealt: Dealt) -> Factor:
        """Encode a matrix of records by columns."""
        encoded = FACTOR.encode(values).reshape(FACTOR.words, *values.shape)
        return cls(encoded, dealt)

    @property
    def _own(self) -> np.ndarray:
        return factors(self.dealt.seed, *self.matrix.shape[1:])

    def hidden(self) -> np.ndarray:
        """Return what is sent to the other side: uniform whatever the matrix is."""
        return _flat(FACTOR.subtract, self.matrix, self._own)

    def multiply(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the product of the two sides' matrices."""
        return ring_product(one, other)

    def first_share(self, other: np.ndarray) -> np.ndarray:
        """Return the first side's share of the product, given what the second side sent."""
        # (D + U)'(E + V) = D'E + U'E + D'V + U'V; the first side adds the first two terms.
        return PRODUCT.add(self.multiply(self.matrix, other), self.dealt.product)

    def second_share(self, other: np.ndarray) -> np.ndarray:
        """Return the second side's share of the product, given what the first side sent."""
        return PRODUCT.add(self.multiply(other, self._own), self.dealt.product)


def shared_product(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return two shares of X'Y, each of them uniform, that add up to it.

    Notes
    -----
    With random factors U, V and shares of :math:`U^T V` from a dealer [beaver1991]_ the sides
    exchange D = X - U and E = Y - V, which are uniform; then :math:`X^T Y = D^T E + U^T E + D^T V +
    U^T V`. The dealer, here the coordinator, sees nothing and must not collude with either side.

    Examples
    --------
    >>> one, other = shared_product(np.array([[1.0], [2.0]]), np.array([[10.0], [0.5]]))
    >>> PRODUCT.decode(PRODUCT.add(one, other))
    array([11.])
    """
    dealt = deal(len(x), x.shape[1], y.shape[1])
    first, second = Factor.of(x, dealt[0]), Factor.of(y, dealt[1])
    return first.first_share(second.hidden()), second.second_share(first.hidden())


def ring_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return A'B modulo 2 to the power of 128, from exact products of 16-bit limbs.

    `a` and `b` are words by records by columns; the result is words by entries.
    """
    p, q = a.shape[2], b.shape[2]
    total = PRODUCT.zeros(p * q)
    for start in range(0, a.shape[1], _BLOCK):
        left, right = (_limbs(m[:, start : start + _BLOCK]) for m in (a, b))
        for shift in range(_LIMBS):
            part = np.zeros((p, q), dtype=np.uint64)
            for i in range(shift + 1):
                part += (left[i].T @ right[shift - i]).astype(np.uint64)
            total = PRODUCT.add(total, _shifted(part.ravel(), 16 * shift))
    return total


def _limbs(matrix: np.ndarray) -> list[np.ndarray]:
    """Return the 16-bit limbs of ring elements as floats, lowest first."""
    mask = np.uint64(0xFFFF)
    return [
        ((word >> np.uint64(16 * i)) & mask).astype(np.float64) for word in matrix for i in range(4)
    ]


def _shifted(values: np.ndarray, by: int) -> np.ndarray:
    """Return values below 2**64 times a power of two, as two words."""
    low, high = np.zeros_like(values), np.zeros_like(values)
    if by >= 64:
        high = values << np.uint64(by - 64)
    else:
        low = values << np.uint64(by)
        high = values >> np.uint64(64 - by) if by else high
    return np.stack([low, high])


def factors(seed: bytes, n: int, columns: int) -> np.ndarray:
    """Return the random factors of a seed: words by records by columns."""
    return masks.expand(seed, FACTOR.words, n * columns).reshape(FACTOR.words, n, columns)


def _flat(operation: object, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    shape = one.shape
    done: np.ndarray = operation(one.reshape(shape[0], -1), other.reshape(shape[0], -1))  # type: ignore[operator]
    return done.reshape(shape)
