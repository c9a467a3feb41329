"""What guards withhold or change is what an analysis can publish, and nothing else."""

import numpy as np

from tacit.query.evidence import MARGIN, Cells, Moments


def cells(**more):
    return Cells(
        by=("a",), labels=(("x", "y"),), codes=np.array([[0], [1], [MARGIN]]),
        n=np.array([4, 6, 10]), units=np.array([4, 6, 10]), keys=np.zeros((3, 2), np.int64),
        weight=np.array([8.0, 6.0, 14.0]), **more,
    )  # fmt: skip


def test_published_counts():
    table = cells(change=np.array([1, -1, 0])).withholding(np.array([False, True, False]))
    assert np.array_equal(table.count, [5, np.nan, 10], equal_nan=True)
    assert cells(weighted=True).count.tolist() == [8, 6, 14]
    assert table.is_margin.tolist() == [False, False, True]
    assert [table.label(i) for i in range(3)] == [("x",), ("y",), (None,)]
    assert table.levels == [(0,), ()]
    assert table.level_size((0,)) == 2


def test_degrees_of_freedom():
    nothing = np.zeros((2, 2))
    moments = Moments(("a", "b"), nothing, nothing[0], 0.0, n=9, units=7, weight=9.0, keys=(0, 0))
    assert moments.degrees_of_freedom == 5
    assert moments.with_(units=8).degrees_of_freedom == 6
