"""Small data and cheap measures for searches."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.tradeoff import Candidate, Varied
from tacit.tradeoff.space import Between


@pytest.fixture(scope="session")
def numbers():
    """Correlated numbers without roles."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(120, 3)) @ np.array([[1, 0.6, 0.2], [0, 1, 0.5], [0, 0, 1]])
    frame = pl.DataFrame({name: 100 + 10 * z[:, j] for j, name in enumerate("abc")})
    return tacit.Microdata.of(frame)


@pytest.fixture(scope="session")
def people():
    """Patients with roles and hierarchies."""
    return tacit.datasets.patients(300)


def moved(original, release):
    """Mean absolute change: a loss that costs nothing to compute."""
    before, after = original.numeric(["a"]), release.data.numeric(["a"])
    return float(np.abs(before - after).mean())


def near(original, release):
    """Share of values that stay within one: a risk that costs nothing to compute."""
    before, after = original.numeric(["a"]), release.data.numeric(["a"])
    return float((np.abs(before - after) < 1).mean())


def less_moved(original, release):
    return -moved(original, release)


@pytest.fixture(scope="session")
def cheap():
    """Axes of a map as functions of a user."""
    return {"risk": near, "utility": less_moved}


@pytest.fixture(scope="session")
def swaps():
    """A space too large to try it all."""
    names = ["a", "b", "c"]
    return [
        Candidate(
            [
                [
                    Varied(mask.RankSwap, columns=names, p=Between(1.0, 30.0)),
                    Varied(mask.UncorrelatedNoise, columns=names, level=Between(0.01, 0.5)),
                ],
                [None, Varied(mask.Mdav, columns=names, k=Between(2, 9))],
            ]
        )
    ]
