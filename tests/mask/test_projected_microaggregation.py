"""Microaggregation along one direction."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.mask.projected_microaggregation import _first_direction


@pytest.mark.parametrize("direction", ["principal", "z-scores"])
def test_a_breaker_finds_no_combination_of_fewer_than_k(direction):
    data = tacit.datasets.census(600)
    columns = ["income", "taxes", "hours"]
    method = mask.ProjectedMicroaggregation(columns=columns, k=5, direction=direction)
    frame = tacit.Plan([method]).apply(data, seed=1).frame
    assert frame.group_by(columns).len()["len"].min() >= 5


def test_variables_that_move_together_keep_their_order():
    x = np.arange(12.0)
    table = pl.DataFrame({"a": x, "b": 3 * x + 1})
    frame = tacit.Plan([mask.ProjectedMicroaggregation(columns=["a", "b"], k=3)]).apply(table).frame
    assert frame["a"].to_list() == [1.0] * 3 + [4.0] * 3 + [7.0] * 3 + [10.0] * 3
    assert np.allclose(frame["b"], 3 * frame["a"] + 1)


def test_first_direction_is_that_of_widest_spread_with_a_fixed_sign():
    rng = np.random.default_rng(0)
    z = np.outer(rng.standard_normal(500), [1.0, -2.0]) + 0.01 * rng.standard_normal((500, 2))
    direction = _first_direction(z)
    assert direction == pytest.approx(np.array([-1.0, 2.0]) / np.sqrt(5), abs=0.01)


def test_constant_columns_do_not_matter():
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": [7.0] * 4})
    frame = tacit.Plan([mask.ProjectedMicroaggregation(columns=["a", "c"], k=2)]).apply(table).frame
    assert frame["a"].to_list() == [1.5, 1.5, 3.5, 3.5]
    assert frame["c"].to_list() == [7.0] * 4
