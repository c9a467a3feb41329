"""The largest leverage of a unit whose variables are at different agencies, without showing it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tacit.core.errors import ParameterError
from tacit.federated import masks
from tacit.federated.fixed_point import FixedPoint
from tacit.federated.matrix_product import PRODUCT, Dealt, Factor, deal, factors, ring_product
from tacit.federated.stopped import RefusedError

_SCORE = FixedPoint(words=2, fraction_bits=28)
"""How an agency's part of a unit's scores is held; leverages have twice as many bits."""
LEVERAGE = FixedPoint(words=2, fraction_bits=56)
"""How leverages are held."""
SQUARE = FixedPoint(words=2, fraction_bits=112)
"""How the sum of their squares is held."""
_INEXACT = 1e-4
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def leverage_bound(scores: Sequence[np.ndarray]) -> float:
    r"""Return what no unit's leverage exceeds, from what each agency knows of the units.

    Parameters
    ----------
    scores
        Units by scores at each agency, of one shape. Their sums u have
        :math:`h_i = 1/n + |u_i|^2`.

    Notes
    -----
    With :math:`(Z^T Z)^{-1} = C C^T` the scores of a unit are :math:`u_i = \sum_k C_k^T z_{ik}`,
    one term from each agency. Products of pairs under random factors (`Factor`) give shares of
    every :math:`h_i`, and products of those shares the sum of squares, which alone is shown. The
    mean leverage is :math:`(p + 1)/n`, so by the inequality of [samuelson1968]_

    .. math:: \max_i h_i \le \bar h + \sqrt{\tfrac{n - 1}{n}\left(\sum_i h_i^2 - n \bar h^2\right)},

    with equality if all units but one are alike, which is the dangerous case.

    Examples
    --------
    >>> u = np.array([[0.0], [0.5], [-0.5], [0.5], [-0.5]])
    >>> round(leverage_bound([u, np.zeros_like(u)]), 3)
    0.6
    """
    shapes = {s.shape for s in scores}
    if len(shapes) != 1 or len(scores) < 2:
        raise ParameterError("scores of two or more agencies have one shape", got=sorted(shapes))
    shares = _leverage_shares([encoded_scores(s) for s in scores])
    total = PRODUCT.zeros(1)
    for share in shares:
        total = PRODUCT.add(total, summed(share))
    n, p = scores[0].shape
    lengths, squares = LEVERAGE.decode(total)[0], SQUARE.decode(_square_sum(shares))[0]
    return bound_of(float(lengths), float(squares), n, p)


def bound_of(lengths: float, squares: float, n: int, p: int) -> float:
    """Return the bound from the sum of the units' leverages, less 1/n each, and of their squares.

    The first sum is p if the scores are exact. Where predictors are so nearly collinear that it is
    not, leverages cannot be seen, and the regression is refused.
    """
    if not abs(lengths - p) <= _INEXACT * p:
        raise RefusedError("the predictors are too nearly collinear for leverages to be seen")
    mean = (p + 1) / n
    # The lengths lack the constant 1/n, which adds 2/n times their sum, and 1/n once.
    squares += 2 * (mean - 1 / n) + 1 / n
    bound = mean + np.sqrt(max(squares - n * mean**2, 0.0) * (n - 1) / n)
    return float(min(bound, 1.0))


def summed(share: np.ndarray) -> np.ndarray:
    """Return the sum of ring elements, words by one."""
    ones = PRODUCT.zeros(share.shape[1])
    ones[0] = 1
    return ring_product(share[:, :, None], ones[:, :, None])


def encoded_scores(scores: np.ndarray) -> np.ndarray:
    """Return scores as ring elements: words by units by scores."""
    return _SCORE.encode(scores).reshape(_SCORE.words, *scores.shape)


def _leverage_shares(scores: list[np.ndarray]) -> list[np.ndarray]:
    """Return what each agency holds of the units' squared lengths; alone it is uniform."""
    held = [row_product(s, s) for s in scores]
    for k, j in combinations(range(len(scores)), 2):
        dealt = deal_rows(*scores[k].shape[1:])
        first = RowFactor(doubled(scores[k]), dealt[0])
        second = RowFactor(scores[j], dealt[1])
        held[k] = PRODUCT.add(held[k], first.first_share(second.hidden()))
        held[j] = PRODUCT.add(held[j], second.second_share(first.hidden()))
    return held


def _square_sum(shares: list[np.ndarray]) -> np.ndarray:
    """Return the sum over units of the squared sums of shares."""
    columns = [share[:, :, None] for share in shares]
    total = SQUARE.zeros(1)
    for column in columns:
        total = SQUARE.add(total, ring_product(column, column))
    for one, other in combinations(columns, 2):
        dealt = deal(one.shape[1], 1, 1)
        first, second = Factor(doubled(one), dealt[0]), Factor(other, dealt[1])
        for part in (first.first_share(second.hidden()), second.second_share(first.hidden())):
            total = SQUARE.add(total, part)
    return total


def doubled(matrix: np.ndarray) -> np.ndarray:
    """Return twice a matrix; twice a share would not be uniform in its last bit."""
    flat = matrix.reshape(2, -1)
    return PRODUCT.add(flat, flat).reshape(matrix.shape)


def deal_rows(n: int, columns: int) -> tuple[Dealt, Dealt]:
    """Draw factors and split their product of each row; the dealer sees nothing of the data."""
    seeds = secrets.token_bytes(32), secrets.token_bytes(32)
    u, v = (factors(seed, n, columns) for seed in seeds)
    first = masks.expand(secrets.token_bytes(32), PRODUCT.words, n)
    return Dealt(seeds[0], first), Dealt(seeds[1], PRODUCT.subtract(row_product(u, v), first))


@dataclass(frozen=True)
class RowFactor(Factor):
    """One side of the products of rows, hidden like the sides of a product of matrices."""

    def multiply(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the product of each row."""
        return row_product(one, other)


def row_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sum of products of each row modulo 2 to the power of 128, words by rows."""
    total = PRODUCT.zeros(a.shape[1])
    for column in range(a.shape[2]):
        total = PRODUCT.add(total, _multiplied(a[:, :, column], b[:, :, column]))
    return total


def _multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products of pairs of 128-bit numbers, two words each, modulo 2**128."""
    high = _upper(a[0], b[0]) + a[0] * b[1] + a[1] * b[0]
    return np.stack([a[0] * b[0], high])


def _upper(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the upper word of products of single words, from 32-bit halves."""
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    low, middle, cross = a0 * b0, a1 * b0, a0 * b1
    carry = ((low >> _HALF) + (middle & _LOW) + (cross & _LOW)) >> _HALF
    upper: np.ndarray = a1 * b1 + (middle >> _HALF) + (cross >> _HALF) + carry
    return upper
