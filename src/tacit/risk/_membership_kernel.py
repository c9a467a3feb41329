# mypy: ignore-errors
"""Sums over the records whose labels stand for a target's values, by sets of bits (numba)."""

import numpy as np

from tacit.core.compiled import njit

_BITS = 64


@njit(cache=True)
def fill(bits, labels, starts, values, first_row):
    """Set, for each value of one field, the bits of the records whose label stands for it.

    Parameters
    ----------
    bits
        Rows for the values of all fields, words of 64 records.
    labels
        Label of each record of this part, -1 for none.
    starts, values
        Values of each label: those of label ``b`` are ``values[starts[b]:starts[b + 1]]``.
    first_row
        Row of the first value of this field.
    """
    for r in range(len(labels)):
        if labels[r] < 0:
            continue
        one = np.uint64(1) << np.uint64(r % _BITS)
        for q in range(starts[labels[r]], starts[labels[r] + 1]):
            bits[first_row + values[q], r // _BITS] |= one


@njit(cache=True)
def add_totals(totals, bits, rows, low, high, near, others, weights, factors):
    """Add, for each target, the weights of the records that all its values stand under.

    Parameters
    ----------
    rows
        Row of each target's value of each field, -1 for a value under no label.
    low, high
        First and last record of each target's group, in this part.
    near, others
        Places of the targets and of the records on near fields.
    weights
        Weights of the records of this part.
    factors
        Agreement of two places by their distance.
    """
    for i in range(len(totals)):
        if low[i] >= high[i] or (rows[i] < 0).any():
            continue
        for w in range(low[i] // _BITS, (high[i] - 1) // _BITS + 1):
            word = bits[rows[i, 0], w]
            for c in range(1, rows.shape[1]):
                word &= bits[rows[i, c], w]
            record = w * _BITS
            while word:
                if word & np.uint64(1) and low[i] <= record < high[i]:
                    totals[i] += weights[record] * _agreement(near[i], others[record], factors)
                word >>= np.uint64(1)
                record += 1


@njit(cache=True, inline="always")
def _agreement(a, b, factors):
    product = 1.0
    for c in range(a.size):
        distance = abs(a[c] - b[c])
        if distance >= factors.size:
            return 0.0
        product *= factors[distance]
    return product
