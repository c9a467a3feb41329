"""Averaging: bipartitions average sticky noise away, the default refuses free lists."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack
from tacit.query import CellKeyNoise, Policy


@pytest.fixture(scope="module")
def data():
    rng, n = np.random.default_rng(5), 6000
    return tacit.Microdata.of(
        pl.DataFrame({"group": [f"g{g:02}" for g in rng.integers(0, 40, n)],
                      "level": [f"l{v}" for v in rng.integers(0, 8, n)]})
    )  # fmt: skip


def test_bipartitions_average_noise_away(data):
    noise = Policy(name="noise", guards=(CellKeyNoise(max_change=8, variance=5.0),))
    found = attack.QueryAveraging(most=36, ways=25).run((data, noise))
    assert found.success.value > 0.4
    assert found.leaked


def test_default_policy(data, strict):
    assert not attack.QueryAveraging(most=30).run((data, strict)).leaked
