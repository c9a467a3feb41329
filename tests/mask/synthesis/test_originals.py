"""Drawing again what equals an original record."""

import numpy as np
import polars as pl

from tacit.mask.synthesis.originals import forbidden_records, found_in, without_originals


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
    unique = forbidden_records(original, ["x", "y"], "no-uniques")
    assert found_in(original, unique).tolist() == [0]
    assert found_in(original, forbidden_records(original, ["x", "y"], "none")).tolist() == [0, 1, 2]
    assert forbidden_records(original, ["x"], "allowed") is None
