"""Variables one after another."""

import numpy as np
import polars as pl
import pytest

from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.sequential import Design, fitted
from tacit.mask.synthesis.synthesisers.model import Settings

from .conftest import column


def fitted_model(**columns):
    coded = {name: column(values, name) for name, values in columns.items()}
    names = tuple(coded)
    design = Design(
        names, {n: names[:i] for i, n in enumerate(names)}, dict.fromkeys(names, "cart"), {}
    )
    return fitted(coded, design, Edits(coded), Settings(), np.random.default_rng(1))


def test_zeros_and_gaps_are_states_of_their_own():
    rng = np.random.default_rng(2)
    x = np.where(rng.random(1000) < 0.4, 0.0, 10 + rng.random(1000))
    x[:100] = np.nan
    model = fitted_model(x=pl.Series(x, nan_to_null=True))
    drawn = model.draw({}, 5000, rng)["x"]
    assert np.isnan(drawn).mean() == pytest.approx(0.1, abs=0.03)
    assert np.nanmin(drawn[drawn > 0]) >= 10
    assert (drawn == 0).mean() == pytest.approx(0.36, abs=0.05)


def test_given_values_stay():
    x = np.arange(100.0)
    model = fitted_model(x=x, y=2 * x)
    steps = type(model)(model.steps[1:], model.edits)
    drawn = steps.draw({"x": np.full(50, 80.0)}, 50, np.random.default_rng(3))
    assert (drawn["x"] == 80).all()
    assert drawn["y"].min() > 100
