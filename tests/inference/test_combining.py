"""The combining rules: hand calculation, and intervals that cover."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tacit.core.errors import ParameterError
from tacit.inference import combine

_SIMULATION = Path(__file__).parents[1] / "mask" / "synthesis" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_simulation", _SIMULATION)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Q, V = [[2.0], [4.0], [3.0], [7.0]], [[0.5], [0.7], [0.6], [0.6]]
"""Mean 4, variance between 14/3, mean variance 0.6."""


@pytest.mark.parametrize(
    ("rule", "variance", "degrees"),
    [
        ("partially", 0.6 + 14 / 12, 3 * (1 + 4 * 0.6 / (14 / 3)) ** 2),
        ("fully", 1.25 * 14 / 3 - 0.6, 3 * (1 - 0.6 / (1.25 * 14 / 3)) ** 2),
        ("simple", 0.6 * (2 + 0.25), np.inf),
        ("proper", 0.6 * (2 + 0.75), np.inf),
    ],
)
def test_by_hand(rule, variance, degrees):
    found = combine(Q, V, rule=rule, size_ratio=2.0, names=["q"])
    assert found.estimates[0] == 4
    assert found.variances[0] == pytest.approx(variance)
    assert found.degrees[0] == pytest.approx(degrees)
    assert found.frame["low"][0] < 4 < found.frame["high"][0]


def test_a_negative_variance_is_replaced():
    found = combine([[1.0], [1.1]], [[5.0], [5.0]], rule="fully", size_ratio=0.5)
    assert found.variances[0] == 2.5


def test_data_sets_that_agree_need_no_more_than_their_own_variance():
    found = combine([[1.0], [1.0]], [[4.0], [4.0]], rule="partially")
    assert found.variances[0] == 4
    assert found.high[0] == pytest.approx(1 + 1.959964 * 2)


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "words"),
    [
        ([[1.0]], [[1.0]], {"rule": "partially"}, "two data sets"),
        ([[1.0], [2.0]], [[1.0]], {"rule": "simple"}, "one row per data set"),
        ([[1.0]], [[-1.0]], {"rule": "simple"}, "negative"),
        ([[1.0]], [[1.0]], {"rule": "partly"}, "partially"),
        ([[1.0]], [[1.0]], {"rule": "simple", "level": 95}, "between 0 and 1"),
        ([[1.0]], [[1.0]], {"rule": "simple", "size_ratio": 0}, "above 0"),
    ],
)
def test_nonsense_is_refused(estimates, variances, options, words):
    with pytest.raises(ParameterError, match=words):
        combine(estimates, variances, **options)


@pytest.mark.parametrize(("rule", "m"), [("simple", 2), ("proper", 2), ("partially", 4)])
def test_intervals_cover_in_a_short_simulation(coverage, rule, m):
    """With 150 repetitions 0.95 is estimated to within 0.054 (three standard errors)."""
    assert np.all(np.abs(coverage.coverage(rule, 150, m=m) - 0.95) <= 0.055)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "m"), [("simple", 3), ("proper", 3), ("partially", 5), ("fully", 25)]
)
def test_intervals_cover_at_93_to_97_percent(coverage, rule, m):
    found = coverage.coverage(rule, 1500, m=m, seed=11)
    assert np.all((found >= 0.93) & (found <= 0.97)), found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rule", ["simple", "proper", "partially", "fully"])
def test_intervals_of_releases_cover_at_93_to_97_percent(coverage, rule):
    """Means, totals, linear and logistic regressions, as users make and analyse releases."""
    found = coverage.measured_coverage(rule)
    assert np.all((found >= 0.93) & (found <= 0.97)), found
