"""What all analyses share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, UnknownMethodError
from tacit.federated.analysis import (
    Analysis,
    analysis_from,
    complete_records,
    require_cells,
    require_varied,
    symmetric,
    triangle,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

KEYS = [
    "clusters", "components", "contingency", "count", "covariance", "histogram", "logistic",
    "mean", "ols", "poisson", "quantiles", "vector", "vertical-ols", "wls",
]  # fmt: skip


def test_all_analyses_are_known():
    analysis_from({"analysis": "count"})
    assert sorted(Analysis.known) == KEYS


def test_an_analysis_is_rebuilt_from_plain_data():
    one = analysis_from({"analysis": "ols", "y": "a", "x": ["b"], "levels": {"b": ["1", "2"]}})
    assert analysis_from(one.described()) == one
    assert one.fingerprint() == analysis_from(one.described()).fingerprint()
    assert (
        one.fingerprint() != analysis_from({"analysis": "ols", "y": "a", "x": ["c"]}).fingerprint()
    )


@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ({"analysis": "olss"}, UnknownMethodError),
        ({}, UnknownMethodError),
        ({"analysis": "ols", "y": "a", "x": []}, ParameterError),
        ({"analysis": "ols", "y": "a", "x": ["a"]}, ParameterError),
        ({"analysis": "ols", "y": "a", "x": ["b"], "code": "import os"}, ParameterError),
    ],
    ids=["unknown", "empty", "no x", "y in x", "extra"],
)
def test_bad_analyses_are_refused(given_, error):
    with pytest.raises(error):
        analysis_from(given_)


@given(st.integers(1, 6))
def test_a_triangle_holds_a_symmetric_matrix(p):
    matrix = np.arange(p * p, dtype=float).reshape(p, p)
    matrix = matrix + matrix.T
    assert np.array_equal(symmetric(triangle(matrix), p), matrix)


def test_small_cells_are_refused_and_empty_ones_are_not():
    require_cells(np.array([0.0, 3.0]), Policy(), "x")
    with pytest.raises(RefusedError, match="fewer than 3"):
        require_cells(np.array([2.0, 10.0]), Policy(), "x")


@pytest.mark.parametrize(("marked", "refused"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_mark_on_few_records_is_refused(marked, refused):
    column = np.zeros((30, 1))
    column[:marked] = 1
    if refused:
        with pytest.raises(RefusedError, match="differ from all"):
            require_varied(column, Policy())
    else:
        require_varied(column, Policy())


def test_incomplete_records_are_left_out():
    import polars as pl

    data = Microdata.of(pl.DataFrame({"a": [1.0, None, 3.0], "b": [1.0, 2.0, None]}))
    assert complete_records(data, ("a", "b"), Policy(min_records=1)).tolist() == [[1.0, 1.0]]
    with pytest.raises(RefusedError, match="fewer than 2 complete"):
        complete_records(data, ("a", "b"), Policy(min_records=2))
