"""What models share."""

import numpy as np
import polars as pl

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.synthesisers.model import Bounds, Target, is_shared


def column(values, name="x", **kinds):
    data = tacit.Microdata.of(pl.DataFrame({name: values}))
    if kinds:
        data = data.with_categories(**kinds)
    return Column.of(data.local[name], data.schema[name])


def test_shared_numbers_are_those_of_the_original():
    target = Target(np.array([1.0, 1.0, 1.0]), 0, shared=np.array([2.0]))
    assert is_shared(np.array([1.0, 2.0]), target, 3).tolist() == [False, True]
    assert is_shared(np.array([1.0]), Target(target.values, 0), 3).tolist() == [True]
    assert Bounds.none(2).take(np.array([0])).low.tolist() == [-np.inf]
