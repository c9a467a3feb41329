"""SPECKS against scipy."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

from tacit import utility
from tacit.utility.specks import largest_gap


def test_the_gap_is_that_of_scipy():
    rng = np.random.default_rng(1)
    a, b = np.round(rng.normal(size=200), 1), np.round(rng.normal(0.3, 1, 300), 1)
    assert largest_gap(a, b) == pytest.approx(ks_2samp(a, b).statistic)


def test_one_variable_that_moved_is_found():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=2000), rng.normal(1, 1, 2000)
    found = utility.Specks(columns=["x"]).measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": y}))
    assert found.value == pytest.approx(ks_2samp(x, y).statistic, abs=1e-3)


def test_files_that_have_nothing_in_common_are_divided():
    a, b = pl.DataFrame({"x": [0.0] * 50}), pl.DataFrame({"x": [1.0] * 50})
    assert utility.Specks(model="tree").measure(a, b).value == 1
