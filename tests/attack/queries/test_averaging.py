"""Averaging: bipartitions average sticky noise away, the default refuses free lists."""

from math import erf, sqrt

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
    # Each of 25 answers is a sum of two parts with variance 5, and one is a single count.
    spread = sqrt((25 * 2 * 5 + 5) / 26**2)
    expected = erf(0.5 / spread / sqrt(2))
    assert found.success.value == pytest.approx(expected, abs=3 * sqrt(expected / 4 / 36))
    assert found.leaked


def test_default_policy(data, strict):
    assert not attack.QueryAveraging(most=30).run((data, strict)).leaked
