"""Bayesian networks: pairs that depend stay so, and rules hold."""

import numpy as np
import polars as pl

import tacit
from tacit import mask, utility


def network(data, **parameters):
    return tacit.Plan([mask.BayesianNetwork(**parameters)]).apply(data, seed=1)


def test_a_chain_is_learnt():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 3000)
    b = np.where(rng.random(3000) < 0.8, a, rng.integers(0, 3, 3000))
    c = np.where(rng.random(3000) < 0.8, b, rng.integers(0, 3, 3000))
    frame = pl.DataFrame({"a": a, "b": b, "c": c}).cast(pl.String)
    made = network(frame, parents=1).frame
    for x, y in (("a", "b"), ("b", "c"), ("a", "c")):
        agree = [(f[x] == f[y]).mean() for f in (frame, made)]
        assert abs(agree[0] - agree[1]) < 0.04, (x, y)


def test_rules_hold_and_pairs_are_better_than_independent_draws():
    data = tacit.datasets.census(2000, missing=0.05).drop(["household"])
    made = network(data)
    assert not any(made.data.broken_constraints().values())
    apart = tacit.Plan([mask.Synthesise(method="sample")]).apply(data, seed=1)
    measure = utility.ContingencyLoss()
    assert measure.measure(data, made).value < measure.measure(data, apart).value


def test_impossible_combinations_never_appear():
    data = tacit.datasets.census(400)
    zero = {"sex": "female", "employed": False}
    made = tacit.Plan([mask.BayesianNetwork(impossible=[zero])]).apply(data, seed=1).frame
    assert made.height == 400
    assert made.filter((pl.col("sex") == "female") & ~pl.col("employed")).height == 0
