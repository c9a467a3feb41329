"""Columns coded and decoded."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import DataError
from tacit.mask.synthesis.columns import common_classes

from .conftest import column


@pytest.mark.parametrize(
    "values",
    [
        [1, 5, None, 9], [0.25, None, 1.75, 3.0], ["b", "a", None, "ü"], [True, False, None, True],
        pl.Series([1, 2, None, 2], dtype=pl.Date),
        pl.Series([1, 2, None, 7], dtype=pl.Datetime("us")),
        pl.Series([None] * 4, dtype=pl.Float64),
    ],
)  # fmt: skip
def test_there_and_back(values):
    series = pl.Series("x", values)
    coded = column(series)
    back = coded.decoded(coded.values)
    assert back.dtype == series.dtype
    assert back.to_list() == series.to_list()


def test_ordinal_codes_follow_the_declared_order():
    coded = column(["low", "high", "mid"], x=["low", "mid", "high"])
    assert coded.values.tolist() == [0, 2, 1]
    assert coded.is_ordered


def test_numbers_are_rounded_to_their_grid():
    assert column([0.5, 1.0, 2.5]).on_grid(np.array([1.2, 1.3])).tolist() == [1.0, 1.5]
    assert column([10, 20, 40]).on_grid(np.array([14.0, 17.0])).tolist() == [10.0, 20.0]


def test_names_and_infinite_values_are_refused():
    with pytest.raises(DataError, match="copied"):
        column([f"n{i}" for i in range(50)])
    with pytest.raises(DataError, match="infinite"):
        column([1.0, float("inf")])
    with pytest.raises(DataError, match="squares"):
        column([1.0, -1e200])


def test_classes_of_few_are_told_from_common_ones():
    coded = column(["a", "a", "b", "b", "b", None])
    assert common_classes(coded, coded.values, 3).tolist() == [False, True, True]
    with pytest.raises(DataError, match="no category of 'x' is shared by 4"):
        common_classes(coded, coded.values, 4)
