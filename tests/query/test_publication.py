"""Released digits stop where the noise begins."""

import numpy as np
import pytest

from tacit.query.publication import rounded


def test_rounded_to_a_tenth_of_the_noise():
    assert rounded(np.array([123_456.789]), np.array([250.0])).tolist() == [123_460.0]
    assert rounded(np.array([0.0, np.nan]), 1.0).tolist() == [0.0, None]
    assert rounded(np.array([-1234.5678]), np.array([0.02])).tolist() == [-1234.568]


def test_ten_digits_without_noise():
    value = 1234567.891234567
    one, two = rounded(np.array([value])), rounded(np.array([value * (1 + 1e-14)]))
    assert one.tolist() == two.tolist() == [pytest.approx(value, rel=1e-9)]
