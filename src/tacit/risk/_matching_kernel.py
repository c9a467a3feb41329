# mypy: ignore-errors
"""Search for a released record of the same group whose numbers are near."""

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True)
def has_match(people, records, mine, theirs, tolerance):
    """Say which people have a match; records are sorted by group and by their first number."""
    n, p = mine.shape
    found = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        a = np.searchsorted(records, people[i], side="left")
        b = np.searchsorted(records, people[i], side="right")
        if p == 0:
            found[i] = b > a
            continue
        margin = tolerance * abs(mine[i, 0]) + 1e-12
        if np.isnan(margin):
            continue
        a = a + np.searchsorted(theirs[a:b, 0], mine[i, 0] - margin, side="left")
        while a < b and theirs[a, 0] <= mine[i, 0] + margin:
            near = True
            for j in range(1, p):
                gap = abs(theirs[a, j] - mine[i, j])
                if not gap <= tolerance * abs(mine[i, j]) + 1e-12:
                    near = False
                    break
            if near:
                found[i] = True
                break
            a += 1
    return found
