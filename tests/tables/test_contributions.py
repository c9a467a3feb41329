"""Largest contributions of cells."""

import numpy as np

from tacit.tables import Contributions


def test_taking_cells_takes_all_parts():
    top = np.array([[5.0, 1.0], [7.0, 0.0], [2.0, 2.0]])
    full = Contributions(
        top, np.array([2, 1, 3]), np.array([6.0, 7.0, 5.0]),
        unit=np.array([[0, 1], [2, -1], [3, 4]]), requested=top > 4,
    )  # fmt: skip
    part = full.take(np.array([2, 0]))
    assert part.depth == 2
    assert part.top.tolist() == [[2.0, 2.0], [5.0, 1.0]]
    assert part.n_units.tolist() == [3, 2]
    assert part.unit.tolist() == [[3, 4], [0, 1]]
    assert part.requested.tolist() == [[False, False], [True, False]]
    assert part.weight is None
