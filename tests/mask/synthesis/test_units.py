"""Units of several records."""

import numpy as np

from tacit.mask.synthesis.units import Units, shared_columns

from .conftest import column


def test_places_relatives_and_shared_columns():
    units = Units.of(np.array([0, 0, 0, 1, 2, 2]))
    assert units.sizes.tolist() == [3, 1, 2]
    assert units.place.tolist() == [0, 1, 2, 0, 0, 1]
    values = np.array([5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    previous, first = units.relatives(values, np.arange(6))
    assert previous[[1, 2, 5]].tolist() == [5, 6, 9]
    assert first[[1, 2, 5]].tolist() == [5, 5, 9]
    assert np.isnan(previous[[0, 3, 4]]).all()
    columns = {"x": column(values), "h": column([1, 1, 1, 2, 3, 3], "h")}
    assert shared_columns(columns, units) == ["h"]


def test_resampled_units_are_whole():
    units = Units.of(np.repeat(np.arange(20), 3))
    rows = units.resampled(np.random.default_rng(1)).reshape(-1, 3)
    assert (rows[:, 0] % 3 == 0).all()
    assert (np.diff(rows, axis=1) == 1).all()


def test_what_one_unit_has_often_counts_once():
    units = Units(np.array([3, 2, 1]))
    codes = np.array([4, 4, 1, 4, 4, 1])
    assert sorted(units.once(codes)) == [1, 1, 4, 4]
    assert len(units.once(np.full(6, 2.5))) == 3
