"""Drawing again what equals an original record."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import ProtectionError
from tacit.mask.synthesis.originals import (
    check_none_came_back,
    forbidden_records,
    found_in,
    without_originals,
)


def test_units_with_a_forbidden_record_are_drawn_again():
    rng = np.random.default_rng(1)

    def draw(n):
        table = pl.DataFrame({"x": rng.integers(0, 5, 2 * n)})
        return table, np.repeat(np.arange(n), 2)

    forbidden = pl.DataFrame({"x": [3]})
    table, unit = without_originals(draw, 40, forbidden)
    assert 3 not in table["x"].to_list()
    assert np.bincount(unit).tolist() == [2] * 40


def test_gaps_equal_gaps_and_uniques_are_counted():
    original = pl.DataFrame({"x": [None, 1, 1], "y": ["a", "b", "b"]})
    data = tacit.Microdata.of(original)
    assert found_in(original, forbidden_records(data, "no-uniques")).tolist() == [0]
    assert found_in(original, forbidden_records(data, "none")).tolist() == [0, 1, 2]
    assert forbidden_records(data, "allowed") is None


def test_only_named_columns_are_compared_and_weights_never():
    frame = pl.DataFrame({"x": [1, 1, 2], "y": ["a", "b", "c"], "w": [1.0, 2.0, 3.0]})
    data = tacit.Microdata.of(frame).with_roles(weight="w")
    assert forbidden_records(data, "none").columns == ["x", "y"]
    assert forbidden_records(data, "no-uniques", ["x"]).rows() == [(2,)]


def test_records_that_are_refused_otherwise_are_drawn_again_or_nothing_is_released():
    rng = np.random.default_rng(2)

    def draw(n):
        return pl.DataFrame({"x": rng.integers(0, 4, n)}), np.arange(n)

    table, _ = without_originals(draw, 30, None, lambda t: np.flatnonzero(t["x"] == 2))
    assert (table.height, 2 in table["x"].to_list()) == (30, False)
    with pytest.raises(ProtectionError, match="impossible"):
        without_originals(draw, 30, None, lambda t: np.arange(len(t)))


def test_a_record_that_came_back_is_found_whatever_step_made_it():
    before = tacit.Microdata.of(pl.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"]}))
    after = tacit.Microdata.of(pl.DataFrame({"a": [2, 9], "b": ["y", "y"]}))
    with pytest.raises(ProtectionError, match="1 of 2"):
        check_none_came_back(before, after, "none")
    check_none_came_back(before, after, "no-uniques")
    check_none_came_back(before, after, "allowed")
    check_none_came_back(before, after.drop(["a"]), "none")
