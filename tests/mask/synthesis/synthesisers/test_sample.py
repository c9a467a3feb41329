"""Draws from a variable alone."""

import numpy as np
import pytest

from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.sample import fit_density, fit_sample

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


def test_predictors_do_not_matter():
    x = RNG(1).normal(size=500)
    seen = view(x=x)
    for fit in (fit_sample, fit_density):
        drawn = fit(Target(x, 0), seen, SET, RNG(2)).draw(seen, FREE(500), RNG(3))
        assert abs(np.corrcoef(x, drawn)[0, 1]) < 0.15
        assert drawn.min() >= x.min()
        assert drawn.max() <= x.max()
        assert drawn.std() == pytest.approx(x.std(), rel=0.12)
