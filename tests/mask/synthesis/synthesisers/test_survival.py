"""Durations that may be censored."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.survival import fit_survival

from ..conftest import view

FREE, SET = Bounds.none, Settings()
RNG = np.random.default_rng


def test_durations_differ_by_event_and_predictor_as_before():
    x = RNG(1).integers(0, 2, 4000)
    time = RNG(2).exponential(np.where(x == 1, 10.0, 2.0))
    censored = RNG(3).exponential(8.0, 4000)
    ended = time <= censored
    seen_time = np.minimum(time, censored)
    seen = view(x=x.astype(str), end=["yes" if e else "no" for e in ended])
    fit = fit_survival("end")
    drawn = fit(Target(seen_time, 0), seen, SET, RNG(4)).draw(seen, FREE(4000), RNG(5))
    for part in (x == 1, x == 0):
        for end in (ended, ~ended):
            both = part & end
            assert drawn[both].mean() == pytest.approx(seen_time[both].mean(), rel=0.12)


def test_more_than_two_ends_are_refused():
    seen = view(end=["a", "b", "c"] * 5)
    with pytest.raises(DataError, match="two classes"):
        fit_survival("end")(Target(np.arange(15.0), 0), seen, SET, RNG(1))
