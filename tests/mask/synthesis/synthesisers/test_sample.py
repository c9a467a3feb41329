"""Draws from a variable alone."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.predictors import Coding, Records
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target
from tacit.mask.synthesis.synthesisers.sample import fit_density, fit_sample


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


def test_predictors_do_not_matter():
    x = RNG(1).normal(size=500)
    seen = view(x=x)
    for fit in (fit_sample, fit_density):
        drawn = fit(Target(x, 0), seen, SET, RNG(2)).draw(seen, FREE(500), RNG(3))
        assert abs(np.corrcoef(x, drawn)[0, 1]) < 0.15
        assert drawn.min() >= x.min()
        assert drawn.max() <= x.max()
        assert drawn.std() == pytest.approx(x.std(), rel=0.12)
