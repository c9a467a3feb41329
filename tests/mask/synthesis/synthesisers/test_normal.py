"""Linear regression."""

import numpy as np
import pytest

from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.normal import fit_normal, fit_normal_rank

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


def test_coefficients_and_spread_come_back():
    x = RNG(1).normal(size=4000)
    y = 1 + 2 * x + 0.5 * RNG(2).normal(size=4000)
    seen = view(x=x)
    drawn = fit_normal(Target(y, 0), seen, SET, RNG(3)).draw(seen, FREE(4000), RNG(4))
    slope, constant = np.polyfit(x, drawn, 1)
    assert (slope, constant) == pytest.approx((2, 1), abs=0.05)
    assert (drawn - constant - slope * x).std() == pytest.approx(0.5, abs=0.03)


def test_ranks_keep_a_skewed_margin_and_bounds_hold():
    x = RNG(1).normal(size=3000)
    y = np.exp(x)
    seen = view(x=x)
    model = fit_normal_rank(Target(y, 0), seen, SET, RNG(3))
    drawn = model.draw(seen, FREE(3000), RNG(4))
    assert np.median(drawn) == pytest.approx(np.median(y), rel=0.1)
    bounds = Bounds(np.full(3000, 1.0), np.full(3000, 2.0))
    inside = model.draw(seen, bounds, RNG(5))
    assert inside.min() >= 1
    assert inside.max() <= 2


def test_extreme_values_are_not_released():
    """The richest person's income must not come back to the last digit."""
    values = RNG(5).lognormal(10, 1, 500)
    model = fit_normal_rank(Target(values, 0), view(z=np.zeros(500)), SET, RNG(1))
    drawn = model.draw(view(z=np.zeros(20_000)), FREE(20_000), RNG(2))
    assert not {values.min(), values.max()} & set(drawn)
