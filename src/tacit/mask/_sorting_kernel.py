# mypy: ignore-errors
"""Order of numbers by their bits, and runs of equal values (numba)."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

_SIGN, _INFINITY = np.uint64(1 << 63), np.uint64(0x7FF << 52)
_LAST = np.uint64(2**64 - 1)


@njit(cache=True, nogil=True)
def keys_of_floats(bits):
    """Turn the bits of floats into whole numbers in the same order; what is not a number is last.

    Floats without sign are in the order of their bits; those below zero are turned round.
    """
    keys = np.empty(bits.size, np.uint64)
    for i in range(bits.size):
        u = bits[i]
        if (u & ~_SIGN) > _INFINITY:
            keys[i] = _LAST
        elif u & _SIGN:
            keys[i] = np.uint64(~u) if u != _SIGN else _SIGN  # a zero below zero is zero
        else:
            keys[i] = u | _SIGN
    return keys


@njit(cache=True, nogil=True)
def packed(keys, n_bits):
    """Put the position of each key in the place of its last bits."""
    shift, words = np.uint64(n_bits), np.empty(keys.size, np.uint64)
    for i in range(keys.size):
        words[i] = ((keys[i] >> shift) << shift) | np.uint64(i)
    return words


@njit(cache=True, nogil=True)
def unpacked(words, keys, n_bits):
    """Return the positions in sorted words, put right by the last bits; and if keys are equal."""
    shift = np.uint64(n_bits)
    last = (np.uint64(1) << shift) - np.uint64(1)
    order, tied, start = np.empty(words.size, np.int64), False, 0
    for end in range(1, words.size + 1):
        order[end - 1] = np.int64(words[end - 1] & last)
        if end < words.size and words[end] >> shift == words[start] >> shift:
            continue
        if end - start > 1:
            tied = _run_in_order(order[start:end], keys, shift, last) or tied
        start = end
    return order, tied


@njit(cache=True, nogil=True)
def _run_in_order(positions, keys, shift, last):
    """Order positions whose keys differ in their last bits only; say whether keys are equal."""
    tied, ascends = False, True
    for i in range(1, positions.size):
        ascends = ascends and keys[positions[i - 1]] <= keys[positions[i]]
        tied = tied or keys[positions[i - 1]] == keys[positions[i]]
    if ascends:
        return tied
    words = np.empty(positions.size, np.uint64)
    for i in range(positions.size):
        words[i] = ((keys[positions[i]] & last) << shift) | np.uint64(positions[i])
    words.sort()
    tied = False
    for i in range(positions.size):
        positions[i] = np.int64(words[i] & last)
        tied = tied or (i > 0 and words[i] >> shift == words[i - 1] >> shift)
    return tied


@njit(cache=True, nogil=True)
def shuffle_ties(order, ascending, draws):
    """Put the positions of equal values in random order, in place."""
    start = 0
    for end in range(1, order.size + 1):
        if end < order.size and ascending[end] == ascending[start]:
            continue
        for i in range(end - 1, start, -1):
            j = start + int(draws[i] * (i - start + 1))
            order[i], order[j] = order[j], order[i]
        start = end


@njit(cache=True, nogil=True)
def middle_ranks(values, order):
    """Return the rank of each value, from 1, the middle one of equal values."""
    ranks = np.empty(values.size)
    start = 0
    for end in range(1, order.size + 1):
        if end < order.size and values[order[end]] == values[order[start]]:
            continue
        middle = (start + 1 + end) / 2.0
        for i in range(start, end):
            ranks[order[i]] = middle
        start = end
    return ranks
