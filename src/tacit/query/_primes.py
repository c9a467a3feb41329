"""Random primes of 31 bits."""

from __future__ import annotations

import numpy as np


def random_prime(rng: np.random.Generator) -> int:
    """Return a random prime between 2^30 and 2^31.

    Examples
    --------
    >>> is_prime(random_prime(np.random.default_rng(1)))
    True
    """
    while True:
        candidate = int(rng.integers(1 << 29, 1 << 30)) * 2 + 1
        if is_prime(candidate):
            return candidate


def is_prime(n: int) -> bool:
    """Say whether a number below 3 215 031 751 is prime, by Miller and Rabin's test.

    The bases 2, 3, 5 and 7 leave no exception below that limit.
    """
    if n < 2 or any(n % q == 0 for q in (2, 3, 5, 7)):
        return n in (2, 3, 5, 7)
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(n, base, odd, twos) for base in (2, 3, 5, 7))


def _passes(n: int, base: int, odd: int, twos: int) -> bool:
    x = pow(base, odd, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False
