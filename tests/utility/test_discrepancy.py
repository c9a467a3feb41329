"""Mean square error, mean absolute error and mean variation of two arrays."""

import numpy as np
import pytest

from tacit.utility._discrepancy import Discrepancy


def test_by_hand():
    found = Discrepancy.between(np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 2.0]))
    assert found.mean_square_error == pytest.approx(5 / 3)
    assert found.mean_absolute_error == pytest.approx(1)
    assert found.mean_variation == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.components, found.zeros) == (3, 0)


def test_zero_components_have_no_variation_and_are_counted():
    found = Discrepancy.between(np.array([0.0, 2.0, 1e-15]), np.array([5.0, 3.0, 1.0]), zero=1e-12)
    assert found.mean_variation == pytest.approx(0.5)
    assert found.zeros == 2
    assert found.mean_absolute_error == pytest.approx(7 / 3)


def test_weights_and_missing_components():
    original = np.array([[1.0, 2.0], [np.nan, 4.0]])
    release = np.array([[2.0, 2.0], [1.0, 6.0]])
    found = Discrepancy.between(original, release, weights=np.array([3.0, 1.0]))
    # compared: 1 -> 2 (weight 3), 2 -> 2 and 4 -> 6 (weight 1 each)
    assert found.components == 3
    assert found.mean_absolute_error == pytest.approx((3 * 1 + 0 + 2) / 5)
    assert found.mean_variation == pytest.approx((3 * 1 + 0 + 0.5) / 5)


def test_nothing_to_compare_is_not_a_loss_of_zero():
    found = Discrepancy.between(np.array([np.nan]), np.array([1.0]))
    assert np.isnan(found.mean_square_error)
    assert np.isnan(found.mean_variation)
    assert found.components == 0
