"""What variables tell about each other."""

import numpy as np
import pytest

from tacit.mask.synthesis.dependence import best_predictors, dependence, learnt_visit

from .conftest import column


def test_copies_tell_all_and_noise_nothing():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, 2000)
    columns = {
        "a": column(a.astype(str), "a"), "b": column((a * 2).astype(float), "b"),
        "c": column(rng.normal(size=2000), "c"),
    }  # fmt: skip
    related = dependence(columns, rng)
    assert related[0, 1] == pytest.approx(1)
    assert related[0, 2] < 0.05
    names = ["a", "b", "c"]
    assert learnt_visit(names, related)[-1] == "c"
    assert best_predictors("a", ["c", "b"], names, related, 1) == ("b",)
