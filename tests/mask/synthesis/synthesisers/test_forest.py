"""Forests."""

import numpy as np
import pytest

from tacit.mask.synthesis.synthesisers.forest import fit_bagging, fit_forest
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


@pytest.mark.parametrize("fit", [fit_bagging, fit_forest])
def test_relations_are_kept_and_unique_numbers_never_copied(fit):
    x = RNG(1).normal(size=600)
    seen = view(x=x)
    drawn = fit(Target(3 * x, 0), seen, SET, RNG(2)).draw(seen, FREE(600), RNG(3))
    assert np.corrcoef(x, drawn)[0, 1] > 0.9
    assert not set(drawn) & set(3 * x)
