# mypy: ignore-errors
"""Hill climbing on released numbers: nearer moments, no nearer originals."""

import numpy as np

from tacit.core.compiled import njit

MIRROR, AWAY, SHIFT = 0, 1, 2


@njit(cache=True, nogil=True)
def _row_loss(j, sums, products, n, mean, cov, sd):
    """Squared, standardised error of the mean of column j and of its covariances."""
    p = len(mean)
    centre = sums[j] / n
    loss = ((centre - mean[j]) / sd[j]) ** 2
    for i in range(p):
        c = products[j, i] / n - centre * (sums[i] / n)
        error = ((c - cov[j, i]) / (sd[j] * sd[i])) ** 2
        loss += error
    return loss


@njit(cache=True, nogil=True)
def climb(
    values, starts, members, shared, own, mean, cov, sd, low, high, whole, which, column, kind,
    amount,
):  # fmt: skip
    """Change released values in place, a unit at a time, if the moments come nearer.

    Parameters
    ----------
    values
        Released values, records by columns.
    starts, members
        Records of each unit: those of unit ``u`` are ``members[starts[u]:starts[u + 1]]``.
    shared
        Whether the records of a column's units share their value, and keep sharing it.
    own
        Original values.
    mean, cov, sd
        Moments of the original.
    low, high
        Limits of each column.
    whole
        Whether a column holds whole numbers.
    which, column, kind, amount
        Proposed changes: unit, its column, form, and size in standard deviations.

    Returns
    -------
    Number of changes made.
    """
    n = len(values)
    sums, products = _moments(values)
    made = 0
    for t in range(len(which)):
        j = column[t]
        rows = members[starts[which[t]] : starts[which[t] + 1]]
        if len(rows) == 0:
            continue
        old, mine = values[rows[0], j], own[rows[0], j]
        if shared[j]:
            new = old + amount[t] * sd[j]  # equal values stay equal: they move together
        elif kind[t] == MIRROR:
            new = 2 * mine - old
        else:
            new = old + (1.0 if old >= mine else -1.0) * abs(amount[t]) * sd[j]
        if whole[j]:
            new = np.round(new)
        if new < low[j] or new > high[j] or new == old:
            continue
        if not shared[j] and abs(new - mine) < abs(old - mine):
            continue
        before = _row_loss(j, sums, products, n, mean, cov, sd)
        _shift(rows, j, new, values, sums, products)
        if _row_loss(j, sums, products, n, mean, cov, sd) < before:
            made += 1
        else:
            _shift(rows, j, old, values, sums, products)
    return made


@njit(cache=True, nogil=True)
def _moments(values):
    """Return the sums of the columns and of their products."""
    p = values.shape[1]
    sums, products = np.zeros(p), np.zeros((p, p))
    for r in range(len(values)):
        for j in range(p):
            sums[j] += values[r, j]
            for i in range(p):
                products[j, i] += values[r, j] * values[r, i]
    return sums, products


@njit(cache=True, nogil=True)
def _shift(rows, j, new, values, sums, products):
    """Give some records a value and keep the sums in step."""
    for r in rows:
        change = new - values[r, j]
        sums[j] += change
        for i in range(values.shape[1]):
            if i != j:
                products[j, i] += change * values[r, i]
                products[i, j] = products[j, i]
        products[j, j] += new * new - values[r, j] * values[r, j]
        values[r, j] = new
