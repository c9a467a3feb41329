"""Secrets split so that some of the holders can restore them and fewer learn nothing."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from tacit.core.errors import ParameterError, ProtectionError

PRIME = (1 << 521) - 1
"""A Mersenne prime; the field is larger than any secret of 64 bytes."""
SHARE_BYTES = 66
_LARGEST_SECRET = 64


def split(secret: bytes, n_shares: int, threshold: int) -> list[bytes]:
    r"""Split a secret into shares for holders 1, 2, ..., of which `threshold` restore it.

    Notes
    -----
    Share i is :math:`f(i)` for a random polynomial of degree t - 1 over a prime field with the
    secret as f(0) [shamir1979]_. Any t - 1 shares are uniform whatever the secret is.

    Examples
    --------
    >>> shares = split(b"the seed", n_shares=5, threshold=3)
    >>> restore({1: shares[0], 4: shares[3], 5: shares[4]}, 3, 8)
    b'the seed'
    """
    if not 1 <= threshold <= n_shares or len(secret) > _LARGEST_SECRET:
        raise ParameterError(
            "a threshold is from 1 to the number of shares, a secret at most 64 bytes",
            got=f"{threshold} of {n_shares}, {len(secret)} bytes",
        )
    polynomial = [int.from_bytes(secret, "big")]
    polynomial += [secrets.randbelow(PRIME) for _ in range(threshold - 1)]
    return [_value(polynomial, i).to_bytes(SHARE_BYTES, "big") for i in range(1, n_shares + 1)]


def _value(polynomial: list[int], x: int) -> int:
    total = 0
    for coefficient in reversed(polynomial):
        total = (total * x + coefficient) % PRIME
    return total


def restore(shares: Mapping[int, bytes], threshold: int, n_bytes: int) -> bytes:
    """Restore a secret of `n_bytes` from at least `threshold` shares, given by holder."""
    if len(shares) < threshold:
        raise ProtectionError(
            "too few shares to restore a secret", got=f"{len(shares)}, {threshold} needed"
        )
    chosen = {i: int.from_bytes(shares[i], "big") for i in sorted(shares)[:threshold]}
    total = sum(share * _weight(i, chosen) for i, share in chosen.items()) % PRIME
    if total >= 1 << (8 * n_bytes):
        raise ProtectionError("the shares do not belong together", do="one of them is false")
    return total.to_bytes(n_bytes, "big")


def _weight(i: int, holders: Mapping[int, int]) -> int:
    """Return Lagrange's weight of a share at zero."""
    top = bottom = 1
    for j in holders:
        if j != i:
            top, bottom = top * -j % PRIME, bottom * (i - j) % PRIME
    return top * pow(bottom, -1, PRIME) % PRIME
