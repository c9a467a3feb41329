"""Noise for counts beside Table 1 of Giessing and Höhne (2011), as the docs print it.

    python benchmarks/bench_transitions.py

The right-hand figures are read from the paper; ours are computed. V = 2.002, no 1 and no 2.
"""

from __future__ import annotations

import numpy as np
from measuring import markdown

from tacit import tables

COLUMNS = (0, *range(3, 14))
"""New counts of the paper's table."""
PAPER = {
    3: """
        0.667 0.332 0.001
        0.334 0.666
        0.125 0.687 0.063 0.063 0.063
        0.000 0.601 0.099 0.100 0.100 0.100
        0.000 0.167 0.167 0.416 0.083 0.083 0.083
        0.000 0.072 0.072 0.072 0.571 0.072 0.072 0.072""",
    4: """
        0.667 0.333
        0.334 0.666
        0.120 0.700 0.082 0.045 0.027 0.026
        0.064 0.076 0.700 0.068 0.037 0.029 0.026
        0.000 0.143 0.143 0.542 0.043 0.043 0.043 0.043
        0.000 0.063 0.063 0.063 0.662 0.038 0.038 0.038 0.038
        0.000 0.032 0.033 0.034 0.050 0.700 0.050 0.034 0.033 0.032""",
    5: """
        0.667 0.333
        0.334 0.666
        0.119 0.700 0.082 0.050 0.028 0.014 0.007
        0.062 0.076 0.704 0.075 0.037 0.020 0.014 0.012
        0.025 0.068 0.068 0.700 0.059 0.027 0.019 0.018 0.017
        0.000 0.057 0.057 0.057 0.700 0.041 0.023 0.021 0.021 0.021
        0.000 0.025 0.035 0.035 0.062 0.700 0.060 0.028 0.020 0.018 0.018
        0.000 0.015 0.016 0.019 0.032 0.068 0.700 0.068 0.032 0.019 0.016 0.015""",
}


def published(max_change: int) -> np.ndarray:
    """Return the block of the paper's table, counts 1, 2, ... by the columns."""
    lines = PAPER[max_change].strip().splitlines()
    block = np.zeros((len(lines), len(COLUMNS)))
    for i, line in enumerate(lines):
        entries = [float(word) for word in line.split()]
        block[i, : len(entries)] = entries
    return block


def ours(max_change: int) -> np.ndarray:
    """Return the same block as tacit designs it."""
    matrix = tables.transition_matrix(max_change, 2.002, no_small_cells=True)
    wide = np.zeros((len(matrix), COLUMNS[-1] + 1))
    wide[:, : matrix.shape[1]] = matrix
    return wide[1 : len(published(max_change)) + 1, COLUMNS]


def block(max_change: int) -> str:
    """Return one block, ours / theirs, and where they differ most."""
    left, right = ours(max_change), published(max_change)
    last = int(np.flatnonzero((left + right).max(axis=0) >= 5e-4)[-1])
    rows = [
        [
            i,
            *(
                f"{a:.3f} / {b:.3f}" if max(a, b) >= 5e-4 else ""
                for a, b in zip(*pair, strict=True)
            ),
        ]
        for i, pair in enumerate(zip(left[:, : last + 1], right[:, : last + 1], strict=True), 1)
    ]
    gap = np.abs(left - right)
    at = np.unravel_index(int(gap.argmax()), gap.shape)
    where = f"largest difference {gap.max():.3f}, of {at[0] + 1} to {COLUMNS[at[1]]}"
    return f"D = {max_change}: {where}.\n\n" + markdown(["", *COLUMNS[: last + 1]], rows)


if __name__ == "__main__":
    print("\n\n".join(block(d) for d in PAPER))
