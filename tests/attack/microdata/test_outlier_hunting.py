"""Outlier hunting: noise hides the many and not the few; groups hide all."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask

NAMES = ["income", "wealth"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    values = rng.lognormal(10, 1.2, (1000, 2))
    return tacit.Microdata.of(pl.DataFrame(values, schema=NAMES)).with_roles(confidential=NAMES)


def test_noise_does_not_hide_those_who_stick_out(data):
    release = tacit.Plan([mask.UncorrelatedNoise(columns=NAMES, level=0.3)]).apply(data, seed=1)
    hunted = attack.OutlierHunting().run(release)
    everybody = attack.OutlierHunting(share=1.0).run(release)
    assert hunted.leaked
    assert hunted.success.value > 3 * everybody.success.value


def test_large_groups_hide_them(data):
    release = tacit.Plan([mask.Mdav(columns=NAMES, k=500)]).apply(data, seed=1)
    found = attack.OutlierHunting().run(release)
    assert found.success.value <= 1 / 500 + 1e-9
    assert not found.leaked
