"""Tables of categories."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.mask.synthesis.table_model import counted_table, drawn_cells, fitted_table


def test_fitting_meets_the_margins_and_keeps_zeros():
    start = np.array([[1.0, 1.0], [1.0, 0.0]])
    table = fitted_table(start, [((0,), np.array([6.0, 4.0])), ((1,), np.array([7.0, 3.0]))])
    assert table.sum(axis=1) == pytest.approx([6, 4], abs=1e-4)
    assert table.sum(axis=0) == pytest.approx([7, 3], abs=1e-4)
    assert table[1, 1] == 0


def test_draws_follow_the_table_and_large_tables_are_refused():
    drawn = drawn_cells(np.array([[0.0, 3.0], [1.0, 0.0]]), 4000, np.random.default_rng(1))
    assert (drawn[:, 0] == 0).mean() == pytest.approx(0.75, abs=0.03)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    with pytest.raises(DataError, match="too large"):
        counted_table(np.zeros((1, 9), dtype=int), (10,) * 9)
