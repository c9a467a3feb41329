"""Bayesian networks."""

import numpy as np

from tacit.mask.synthesis.network import learnt_parents

from .conftest import column


def test_parents_are_those_that_tell():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, 3000)
    noise = rng.integers(0, 4, 3000)
    columns = {"a": column(a.astype(str), "a"), "n": column(noise.astype(str), "n"),
               "b": column(((a + 1) % 4).astype(str), "b")}  # fmt: skip
    parents = dict(learnt_parents(columns, 2, rng))
    assert parents["n"] == ()
    assert {"a", "b"} == {next(k for k, v in parents.items() if v), *sum(parents.values(), ())}
