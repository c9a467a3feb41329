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
def climb(values, sizes, own, mean, cov, sd, low, high, whole, which, column, kind, amount):
    """Change released values in place, one at a time, if the moments come nearer.

    Parameters
    ----------
    values
        Released values of each group of records that are equal, groups by columns.
    sizes
        Number of records of each group.
    own
        Original values of groups of one record.
    mean, cov, sd
        Moments of the original.
    low, high
        Limits of each column.
    whole
        Whether a column holds whole numbers.
    which, column, kind, amount
        Proposed changes: group, column, form, and size in standard deviations.

    Returns
    -------
    Number of changes made.
    """
    n_groups, p = values.shape
    n = 0.0
    sums = np.zeros(p)
    products = np.zeros((p, p))
    for g in range(n_groups):
        n += sizes[g]
        for j in range(p):
            sums[j] += sizes[g] * values[g, j]
            for i in range(p):
                products[j, i] += sizes[g] * values[g, j] * values[g, i]
    made = 0
    for t in range(len(which)):
        g, j = which[t], column[t]
        old = values[g, j]
        if sizes[g] > 1:
            new = old + amount[t] * sd[j]  # equal records stay equal: they move together
        elif kind[t] == MIRROR:
            new = 2 * own[g, j] - old
        else:
            away = 1.0 if old >= own[g, j] else -1.0
            new = old + away * abs(amount[t]) * sd[j]
        if whole[j]:
            new = np.round(new)
        if new < low[j] or new > high[j] or new == old:
            continue
        if sizes[g] == 1 and abs(new - own[g, j]) < abs(old - own[g, j]):
            continue
        before = _row_loss(j, sums, products, n, mean, cov, sd)
        change = new - old
        _shift(g, j, change, values, sizes, sums, products)
        if _row_loss(j, sums, products, n, mean, cov, sd) < before:
            made += 1
        else:
            _shift(g, j, -change, values, sizes, sums, products)
            values[g, j] = old
    return made


@njit(cache=True, nogil=True)
def _shift(g, j, change, values, sizes, sums, products):
    """Move one value and keep the sums in step."""
    m = sizes[g]
    sums[j] += m * change
    for i in range(values.shape[1]):
        if i != j:
            products[j, i] += m * change * values[g, i]
            products[i, j] = products[j, i]
    products[j, j] += m * (2 * values[g, j] * change + change * change)
    values[g, j] += change
