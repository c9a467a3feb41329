"""Predictors as codes and as a matrix."""

import numpy as np
import pytest

from tacit.mask.synthesis.predictors import Coding, Records

from .conftest import column


def test_missing_values_have_a_code_of_their_own():
    coding = Coding.of(column([3.0, 1.0, None, 2.0]))
    assert coding.codes(np.array([1.0, np.nan, 2.0, 3.0, 99.0])).tolist() == [1, 0, 2, 3, 3]
    assert Coding.of(column(["b", None, "a"])).codes(np.array([1, -1, 0])).tolist() == [2, 0, 1]


def test_a_fine_number_has_a_limited_number_of_codes():
    coding = Coding.of(column(np.random.default_rng(1).normal(size=20_000)))
    assert 1000 < coding.n_codes < 1100


def test_the_matrix_has_a_constant_standardised_numbers_and_indicators():
    a, b = column([1.0, 3.0, 5.0], "a"), column(["u", "v", "u"], "b")
    view = Records.of({"a": a.values, "b": b.values}, 3).view([Coding.of(a), Coding.of(b)])
    assert view.matrix[:, 0].tolist() == [1, 1, 1]
    assert view.matrix[:, 1].mean() == pytest.approx(0)
    assert view.matrix[:, 2].tolist() == [0, 1, 0]
    assert view.take(np.array([2])).matrix.tolist() == view.matrix[2:].tolist()
