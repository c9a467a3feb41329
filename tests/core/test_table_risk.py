"""What an intruder knows of a table's cells: (9) of M3A, intervals, posterior probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError
from tacit.core.table_risk import (
    conditional_entropy,
    entropy_risk,
    error_risk,
    interval_entropy,
    interval_risk,
    posterior,
)


def test_the_risk_of_changes_by_hand():
    # differences 1, -1, 2, -2: mean 0, variance 10/3
    assert error_risk([[10, 20], [30, 40]], [[11, 19], [32, 38]]) == pytest.approx(100 / (10 / 3))


def test_a_table_released_as_it_is_has_an_infinite_risk():
    """Oracle: identical tables give infinite risk; so does a shift that is the same everywhere."""
    assert error_risk([[1, 2], [3, 4]], [[1, 2], [3, 4]]) == math.inf
    assert error_risk([[1, 2], [3, 4]], [[6, 7], [8, 9]]) == math.inf


@given(st.floats(0.1, 10), st.floats(1.1, 5), st.integers(0, 1000))
def test_larger_changes_have_a_smaller_risk(scale, factor, seed):
    rng = np.random.default_rng(seed)
    table, change = rng.integers(0, 99, (3, 3)), rng.normal(size=(3, 3))
    small, large = (error_risk(table, table + s * change) for s in (scale, scale * factor))
    assert large == pytest.approx(small / factor**2)


def test_intervals_by_hand():
    found = interval_risk(
        [200, 200, 200, 200], [150, 190, 196, 200], [250, 300, 204, 999], distance=0.1
    )
    # wanted 20 to either side: 50 and 10 and 4 and 0 are reached on the narrower side
    assert found.tolist() == pytest.approx([0, 0.5, 0.8, 1])


def test_a_zero_is_safe_only_inside_an_open_interval():
    assert interval_risk([0, 0], [0, -1], [5, 1], distance=0.1).tolist() == [1, 0]


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 10))
def test_a_wider_interval_is_never_riskier(below, above, more):
    narrow = interval_risk([100], [100 - below], [100 + above], distance=0.2)[0]
    wide = interval_risk([100], [100 - below - more], [100 + above + more], distance=0.2)[0]
    assert 0 <= wide <= narrow <= 1


def test_posterior_by_hand():
    """Counts 0, 1, 2 with shares 0.5, 0.3, 0.2; 1 becomes 0 or 2 with equal chance."""
    found = posterior([0.5, 0.3, 0.2], [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 1]], [0, 2])
    assert found[0].tolist() == pytest.approx([0.5 / 0.65, 0.15 / 0.65, 0])
    assert found[1].tolist() == pytest.approx([0, 0.15 / 0.35, 0.2 / 0.35])


def test_entropy_by_hand():
    bits = conditional_entropy([[0.5, 0.25, 0.25], [1, 0, 0]])
    assert bits.tolist() == pytest.approx([1.5, 0])
    assert entropy_risk(bits).tolist() == pytest.approx([1 / 1.5, math.inf])


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_nothing_is_more_uncertain_than_a_uniform_posterior(weights):
    p = np.array(weights) / np.sum(weights)
    assert 0 <= conditional_entropy(p)[0] <= math.log2(len(p)) + 1e-9


def test_intervals_as_posteriors():
    low, high = np.array([0, 3, 10]), np.array([7, 3, 13])
    uniform = [np.full(n, 1 / n) for n in (8, 1, 4)]
    expected = [float(conditional_entropy(p)[0]) for p in uniform]
    assert interval_entropy(low, high).tolist() == pytest.approx(expected)
    assert interval_entropy([0], [30], step=10).tolist() == pytest.approx([2.0])
    assert interval_entropy([0.4], [0.6]).tolist() == [0.0], "no whole number fits: nothing to hide"


def test_swapping_values_back_and_forth_hides_as_much_as_it_mixes():
    prior = [0.5, 0.5]
    for stay in (1.0, 0.9, 0.5):
        after = posterior(prior, [[stay, 1 - stay], [1 - stay, stay]], [0])
        expected = -sum(p * math.log2(p) for p in (stay, 1 - stay) if p > 0)
        assert conditional_entropy(after)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: error_risk([[1]], [[1]]), DataError, "two cells"),
        (lambda: error_risk([[1, 2]], [[1, np.nan]]), DataError, "fill_suppressed"),
        (lambda: interval_risk([5], [6], [7], distance=0.1), DataError, "hold the true value"),
        (lambda: interval_risk([5], [4], [np.nan], distance=0.1), DataError, "missing"),
        (lambda: interval_risk([5], [4], [7], distance=0), ParameterError, "above 0"),
        (lambda: interval_entropy([2], [1]), DataError, "low end"),
        (lambda: interval_entropy([1], [2], step=0), ParameterError, "step"),
        (lambda: conditional_entropy([[0.5, 0.4]]), ParameterError, "sum to 1"),
        (lambda: conditional_entropy([[1.5, -0.5]]), ParameterError, "0 or above"),
        (lambda: entropy_risk([-1]), DataError, "0 or above"),
        (lambda: posterior([1.0], [[0.5, 0.5], [1, 0]], [0]), ParameterError, "one row for each"),
        (lambda: posterior([1.0, 0], [[1, 0], [0, 1]], [1]), DataError, "could have become"),
    ],
)
def test_what_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
