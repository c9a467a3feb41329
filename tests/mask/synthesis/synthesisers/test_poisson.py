"""Poisson regression."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import DataError
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.predictors import Coding, Records
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.poisson import fit_poisson


def column(values, name="x", **kinds):
    data = tacit.Microdata.of(pl.DataFrame({name: values}))
    if kinds:
        data = data.with_categories(**kinds)
    return Column.of(data.local[name], data.schema[name])


def view(**columns):
    coded = [column(values, name) for name, values in columns.items()]
    n = len(coded[0].values)
    return Records.of({c.name: c.values for c in coded}, n).view([Coding.of(c) for c in coded])


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
