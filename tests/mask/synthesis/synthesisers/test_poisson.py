"""Poisson regression."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.poisson import fit_poisson

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


def test_means_follow_the_predictor():
    x = RNG(1).normal(size=3000)
    y = RNG(2).poisson(np.exp(0.5 + 0.6 * x)).astype(float)
    seen = view(x=x)
    drawn = fit_poisson(Target(y, 0), seen, SET, RNG(3)).draw(seen, FREE(3000), RNG(4))
    for part in (x < 0, x >= 0):
        assert drawn[part].mean() == pytest.approx(y[part].mean(), rel=0.08)
    assert (drawn == np.rint(drawn)).all()


def test_zeros_alone_and_numbers_that_are_no_counts():
    seen = view(x=np.arange(10.0))
    nothing = fit_poisson(Target(np.zeros(10), 0), seen, SET, RNG(1))
    assert (nothing.draw(seen, FREE(10), RNG(1)) == 0).all()
    with pytest.raises(DataError, match="counts"):
        fit_poisson(Target(np.array([0.5, 1.0]), 0), view(x=[1.0, 2.0]), SET, RNG(1))
