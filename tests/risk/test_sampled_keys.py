"""Keys with weights: where the size of the population comes from."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import Microdata
from tacit.risk._sampled_keys import sampled_keys


def data(**columns):
    roles = {"weight": "w"} if "w" in columns else {}
    return Microdata.of(pl.DataFrame(columns)).with_roles(keys=["x"], **roles)


def test_weights_say_how_large_the_population_is():
    keys = sampled_keys(data(x=["a", "a", "b"], w=[2.0, 3.0, 5.0]), None, None, None, by="m")
    in_file, in_population = keys.counts("strict")
    assert in_file.tolist() == [2, 2, 1]
    assert in_population.tolist() == [5, 5, 5]
    assert keys.fraction == pytest.approx(0.3)
    assert keys.warnings == ()


def test_a_given_fraction_takes_the_place_of_weights():
    keys = sampled_keys(data(x=["a", "a", "b"], w=[2.0, 3.0, 5.0]), None, None, 0.1, by="m")
    assert keys.counts("strict")[1].tolist() == [20, 20, 10]
    assert keys.fraction == 0.1


def test_without_either_the_file_is_the_population():
    keys = sampled_keys(data(x=["a", "a", "b"]), None, None, None, by="m")
    assert keys.fraction == 1
    assert not keys.is_sample
    assert "whole population" in " ".join(keys.warnings)


def test_weights_below_one_do_not_make_a_sample_larger_than_its_population():
    assert sampled_keys(data(x=["a"], w=[0.5]), None, None, None, by="m").fraction == 1


def test_a_release_without_weights_keeps_those_of_the_original():
    original = tacit.datasets.census(40)
    release = tacit.Plan([tacit.mask.Sample(size=10, reweight=False)]).apply(original, seed=1)
    keys = sampled_keys(original, release, ["sex"], None, by="m")
    without = sampled_keys(original, release.data.drop(["weight"]), ["sex"], None, by="m")
    np.testing.assert_array_equal(keys.weights, without.weights)
