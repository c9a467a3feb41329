"""Numbers as integers modulo a power of two, so that a mask can hide them perfectly."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from tacit.core.errors import DataError, ParameterError
from tacit.core.value import Value

_WORD = 64
_MANTISSA = 53


class FixedPoint(Value):
    r"""Fixed-point numbers in the ring of integers modulo a power of two.

    Notes
    -----
    A number x is held as :math:`\lfloor x 2^f \rceil \bmod 2^{64 l}` in l words of 64 bits, low
    word first. Floats of ordinary size have no rounding at all with the default (256 bits, 112 of
    them for the fraction), so that a sum of K numbers is exact and decoded once. Adding a uniform
    element of the ring hides a number perfectly, which no float can do. Missing values: refused.

    Examples
    --------
    >>> import numpy as np
    >>> money = FixedPoint(words=2, fraction_bits=40)
    >>> total = money.add(money.encode([0.1, -5.0], 2), money.encode([0.2, 2.0], 2))
    >>> money.decode(total)
    array([ 0.3, -3. ])
    """

    words: Annotated[int, Ge(1), Le(4)] = 4
    """Words of 64 bits per number."""
    fraction_bits: Annotated[int, Ge(0), Le(192)] = 112
    """Bits after the point: the smallest step is 2 to the power of minus this."""

    def bound(self, n_terms: int = 1) -> float:
        """Return the largest size of a number of which `n_terms` can be added without overflow."""
        bits = _WORD * self.words - 1 - self.fraction_bits
        if bits < 1:
            raise ParameterError("no bits are left before the point", got=self.as_dict())
        return float(2.0**bits / max(n_terms, 1))

    def encode(self, values: object, n_terms: int = 1) -> np.ndarray:
        """Return the numbers as words by numbers; what could overflow in a sum is refused."""
        numbers = np.asarray(values, dtype=np.float64).ravel()
        if not np.isfinite(numbers).all():
            raise DataError("a contribution holds missing or infinite numbers")
        if len(numbers) and np.abs(numbers).max() >= self.bound(n_terms):
            raise DataError(
                "a contribution is out of range",
                got=f"a number of {self.bound(n_terms):.3g} or more in size",
                do="use more words, fewer fraction bits, or another unit",
            )
        return self._signed(*self._magnitudes(np.abs(numbers)), numbers < 0)

    def _magnitudes(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return an integer of at most 53 bits and a shift to the left for each number."""
        mantissa, exponent = np.frexp(sizes)
        shift = exponent.astype(np.int64) - _MANTISSA + self.fraction_bits
        kept = np.rint(np.ldexp(mantissa, _MANTISSA + np.minimum(shift, 0).astype(np.int32)))
        return kept.astype(np.uint64), np.maximum(shift, 0)

    def _signed(self, whole: np.ndarray, shift: np.ndarray, negative: np.ndarray) -> np.ndarray:
        words = np.zeros((self.words, len(whole)), dtype=np.uint64)
        for i in range(self.words):
            by = shift - _WORD * i
            up = whole << np.clip(by, 0, _WORD - 1).astype(np.uint64)
            down = whole >> np.clip(-by, 0, _WORD - 1).astype(np.uint64)
            words[i] = np.where(
                by >= 0, np.where(by < _WORD, up, 0), np.where(by > -_WORD, down, 0)
            )
        return np.where(negative, self.negate(words), words)

    def decode(self, words: np.ndarray) -> np.ndarray:
        """Return the numbers that ring elements stand for; the upper half is negative."""
        negative = (words[-1] >> np.uint64(_WORD - 1)).astype(bool)
        sizes = np.where(negative, self.negate(words), words)
        total = np.zeros(words.shape[1])
        for i in reversed(range(self.words)):
            total += np.ldexp(sizes[i].astype(np.float64), _WORD * i - self.fraction_bits)
        decoded: np.ndarray = np.where(negative, -total, total) + 0.0
        return decoded

    # -- arithmetic of the ring -----------------------------------------------------------------

    def zeros(self, length: int) -> np.ndarray:
        """Return the neutral element, `length` times."""
        return np.zeros((self.words, length), dtype=np.uint64)

    def add(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Add modulo the ring's size, carrying from word to word."""
        total: np.ndarray = one + other
        if self.words == 1:
            return total
        carry = total[0] < other[0]
        for i in range(1, self.words):
            overflow = total[i] < other[i]
            total[i] += carry
            carry = overflow | (carry & (total[i] == 0))
        return total

    def negate(self, words: np.ndarray) -> np.ndarray:
        """Return the element that adds up to zero with this one."""
        flipped: np.ndarray = ~words
        carry = np.ones(words.shape[1], dtype=bool)
        for i in range(self.words):
            flipped[i] += carry
            carry &= flipped[i] == 0
        return flipped

    def subtract(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Subtract modulo the ring's size."""
        return self.add(one, self.negate(other))

    def times(self, words: np.ndarray, factor: int) -> np.ndarray:
        """Multiply by a small whole number, by doubling and adding."""
        total, power = self.zeros(words.shape[1]), words
        while factor:
            if factor & 1:
                total = self.add(total, power)
            factor >>= 1
            power = self.add(power, power) if factor else power
        return total

    # -- on the wire ----------------------------------------------------------------------------

    def n_bytes(self, length: int) -> int:
        """Return the size of a vector on the wire."""
        return 8 * self.words * length

    def pack(self, words: np.ndarray) -> bytes:
        """Return ring elements as bytes, little-endian."""
        return words.astype("<u8", copy=False).tobytes()

    def unpack(self, data: bytes, length: int) -> np.ndarray:
        """Return ring elements from bytes that must be `length` numbers."""
        if len(data) != self.n_bytes(length):
            raise DataError(
                "a vector has the wrong shape",
                got=f"{len(data):,} bytes",
                do=f"send {length:,} numbers of {8 * self.words} bytes",
            )
        return np.frombuffer(data, dtype="<u8").reshape(self.words, length).astype(np.uint64)


COUNTS = FixedPoint(words=1, fraction_bits=0)
"""Whole numbers in one word: the cheapest encoding, for counts."""
