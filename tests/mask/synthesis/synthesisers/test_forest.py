"""Forests."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.predictors import Coding, Records
from tacit.mask.synthesis.synthesisers.forest import fit_bagging, fit_forest
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target


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


@pytest.mark.parametrize("fit", [fit_bagging, fit_forest])
def test_relations_are_kept_and_unique_numbers_never_copied(fit):
    x = RNG(1).normal(size=600)
    seen = view(x=x)
    drawn = fit(Target(3 * x, 0), seen, SET, RNG(2)).draw(seen, FREE(600), RNG(3))
    assert np.corrcoef(x, drawn)[0, 1] > 0.9
    assert not set(drawn) & set(3 * x)
