"""Models of class sizes: their parts."""

import numpy as np
import pytest
from scipy import special

from tacit.risk._frequency_models import (
    ClassSizes,
    _log_ratio,
    _log_rising,
    intrusion_probability,
)


def test_class_sizes_from_frequencies():
    classes = ClassSizes.of(np.array([1, 2, 2, 1, 3, 3, 3]), 0.5)
    assert classes.sizes.tolist() == [1, 2, 3]
    assert classes.counts.tolist() == [2, 1, 1]
    assert (classes.n_records, classes.n_classes, classes.n_uniques) == (7, 4, 2)
    assert classes.population == 14


@pytest.mark.parametrize("x", [2.0, 99_999.0, 100_001.0, 1e9])
@pytest.mark.parametrize("step", [-0.9, -0.1, 0.5])
def test_ratio_of_gamma_functions(x, step):
    exact = special.poch(x, step)
    assert np.exp(_log_ratio(x, step)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("x", [0.3, 5.0, 1e6, 1e14])
def test_rising_factorial(x):
    assert _log_rising(x, 20) == pytest.approx(np.sum(np.log(x + np.arange(20))), rel=1e-6)


def test_intrusion_probability():
    in_file = np.array([1] * 30 + [2] * 40 + [5] * 10)
    # 30 uniques and 20 pairs: 0.02 * 30 / (0.02 * 30 + 2 * 0.98 * 20)
    assert intrusion_probability(in_file, 0.02) == pytest.approx(0.6 / (0.6 + 39.2))
    assert intrusion_probability(np.array([2, 2]), 0.1) == 0
    assert intrusion_probability(in_file, 1.0) == 1


def test_intrusion_probability_is_right_on_average():
    rng = np.random.default_rng(2)
    sizes = rng.poisson(rng.gamma(0.8, 4.0, 20_000))
    fraction, right, unique_matches, estimates = 0.1, 0, 0, []
    for _ in range(5):
        in_sample = rng.binomial(sizes, fraction)
        alone = in_sample == 1
        # people of the population who match exactly one record, and the records that are theirs
        unique_matches += sizes[alone].sum()
        right += alone.sum()
        estimates.append(intrusion_probability(np.repeat(in_sample, in_sample), fraction))
    assert np.mean(estimates) == pytest.approx(right / unique_matches, rel=0.05)
