"""PO50 by hand."""

import numpy as np
import polars as pl
import pytest

from tacit import utility
from tacit.utility._propensity_model import Scores
from tacit.utility.po50 import sorted_right


def test_by_hand():
    scores = Scores(np.array([0.2, 0.4, 0.7, 0.5]), np.array([0.9, 0.6, 0.1, 0.5]), ["x"], ())
    assert sorted_right(scores) == pytest.approx(((2.5 / 4) + (2.5 / 4)) / 2)


def test_files_that_have_nothing_in_common_are_sorted_right():
    a, b = pl.DataFrame({"x": [0.0] * 80}), pl.DataFrame({"x": [1.0] * 40})
    assert utility.PO50(model="tree").measure(a, b).value == 0.5
