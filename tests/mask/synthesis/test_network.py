"""Bayesian networks."""

import numpy as np
import polars as pl

import tacit
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.network import learnt_parents


def column(values, name="x", **kinds):
    data = tacit.Microdata.of(pl.DataFrame({name: values}))
    if kinds:
        data = data.with_categories(**kinds)
    return Column.of(data.local[name], data.schema[name])


def test_parents_are_those_that_tell():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, 3000)
    noise = rng.integers(0, 4, 3000)
    columns = {"a": column(a.astype(str), "a"), "n": column(noise.astype(str), "n"),
               "b": column(((a + 1) % 4).astype(str), "b")}  # fmt: skip
    parents = dict(learnt_parents(columns, 2, rng))
    assert parents["n"] == ()
    assert {"a", "b"} == {next(k for k, v in parents.items() if v), *sum(parents.values(), ())}
