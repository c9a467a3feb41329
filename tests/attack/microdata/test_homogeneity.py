"""Homogeneity: classes of one value tell it; shuffled values tell nothing."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack


def file(homogeneous, n=400):
    """Return people in classes of four; illness follows the class, or nothing."""
    rng = np.random.default_rng(5)
    group = np.arange(n) // 4
    by_class = rng.choice(["a", "b"], n // 4)[group]
    ill = by_class if homogeneous else rng.choice(["a", "b"], n)
    frame = pl.DataFrame({"g": group.astype(str), "ill": ill})
    return tacit.Microdata.of(frame).with_roles(keys=["g"], confidential=["ill"])


def test_classes_of_one_value_are_all_known():
    data = file(True)
    found = attack.Homogeneity().run((data, data))
    assert (found.success.value, found.n_broken) == (1.0, 400)
    assert found.leaked


def test_random_values_are_alike_by_chance_only():
    """A class of four is homogeneous with chance 2 * 0.5 ** 4."""
    data = file(False)
    found = attack.Homogeneity().run((data, data))
    assert found.details["people_claimed"] / 400 == pytest.approx(2 * 0.5**4, abs=0.06)


def test_claims_about_exchanged_values_are_no_better_than_guesses():
    data = file(True)
    rng = np.random.default_rng(1)
    released = data.with_local(
        data.local.with_columns(
            pl.Series("ill", rng.permutation(np.repeat(["a", "b"], 50))[np.arange(400) // 4])
        )
    )
    found = attack.Homogeneity().run(attack.MicrodataTarget(data, released))
    assert not found.leaked
    assert found.success.n == 400


def test_a_missing_value_allows_no_claim():
    data = file(True)
    gaps = data.with_missing({"ill": np.arange(400) % 4 == 0})
    assert attack.Homogeneity().run(attack.MicrodataTarget(data, gaps)).success.n == 0
