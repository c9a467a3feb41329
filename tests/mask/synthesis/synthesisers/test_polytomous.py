"""Logistic regression."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.polytomous import Nested, fit_logistic, fit_polytomous

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


def test_chances_follow_the_predictor():
    x = RNG(1).normal(size=3000)
    y = (RNG(2).random(3000) < 1 / (1 + np.exp(-2 * x))).astype(np.int64)
    seen = view(x=x)
    drawn = fit_logistic(Target(y, 2), seen, SET, RNG(3)).draw(seen, FREE(3000), RNG(4))
    for part in (x < -1, np.abs(x) < 1, x > 1):
        assert drawn[part].mean() == pytest.approx(y[part].mean(), abs=0.05)


def test_one_class_and_three_classes():
    seen = view(x=np.arange(30.0))
    one = fit_polytomous(Target(np.full(30, 2), 3), seen, SET, RNG(1))
    assert (one.draw(seen, FREE(30), RNG(2)) == 2).all()
    with pytest.raises(DataError, match="two classes"):
        fit_logistic(Target(np.arange(30) % 3, 3), seen, SET, RNG(1))


def test_many_classes_are_drawn_in_two_steps():
    """Classes follow the predictor, and are as frequent as they were."""
    y = RNG(1).integers(0, 300, 4000)
    seen = view(x=y % 10 + RNG(2).normal(0, 0.5, 4000))
    model = fit_polytomous(Target(y, 300), seen, SET, RNG(3))
    assert isinstance(model, Nested)
    drawn = model.draw(seen, FREE(4000), RNG(4))
    assert np.corrcoef(drawn % 10, y % 10)[0, 1] > 0.8
    shares = [np.bincount(v // 30, minlength=10) / 4000 for v in (y, drawn)]
    assert shares[1] == pytest.approx(shares[0], abs=0.02)
