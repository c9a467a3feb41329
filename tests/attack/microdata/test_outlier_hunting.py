"""Outlier hunting: noise hides the many and not the few; groups hide all."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

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


def expected_chances(values, hunted, sigma):
    """Return the chance that a person's own noisy value is the nearest to the true one.

    With noise e on the own value it is, unless some other y_j = x_j + e_j falls within |e| of x_i:
    the integral of phi(e) prod_j [1 - P(|x_j - x_i + e_j| <= |e|)] over e.
    """
    reach = np.linspace(0, 6, 241) * sigma
    gaps = (values[None, :] - values[hunted][:, None])[:, :, None]
    inside = norm.cdf((reach - gaps) / sigma) - norm.cdf((-reach - gaps) / sigma)
    inside[np.arange(len(hunted)), hunted] = 0.0
    free = (1.0 - inside).prod(axis=1)
    return np.trapezoid(2 * free * norm.pdf(reach, scale=sigma), reach, axis=1)


def test_who_sticks_out_is_found_as_often_as_noise_and_gaps_say():
    """Gaps between the largest incomes beside the noise: the rate follows from their ratio."""
    values = np.random.default_rng(3).lognormal(10, 1.2, 200)
    data = tacit.Microdata.of(pl.DataFrame({"x": values})).with_roles(confidential=["x"])
    hunted, level = attack.OutlierHunting(share=0.05), 0.2
    step = mask.UncorrelatedNoise(columns=["x"], level=level)
    runs = [hunted.run(tacit.Plan([step]).apply(data, seed=seed)) for seed in range(40)]
    measured = attack.Rate.of(np.repeat([r.success.value for r in runs], runs[0].success.n))
    far = np.argsort(-np.abs(values - np.median(values)))[: runs[0].success.n]
    expected = expected_chances(values, far, level * values.std(ddof=1)).mean()
    assert measured.low <= expected <= measured.high


def test_large_groups_hide_them(data):
    release = tacit.Plan([mask.Mdav(columns=NAMES, k=500)]).apply(data, seed=1)
    found = attack.OutlierHunting().run(release)
    assert found.success.value <= 1 / 500 + 1e-9
    assert not found.leaked
