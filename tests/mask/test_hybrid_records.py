"""Hybrid records: between the original and a synthetic file."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    x = rng.lognormal(size=500)
    return pl.DataFrame({"x": x, "y": x * rng.lognormal(sigma=0.3, size=500)})


def hybrid(frame, **parameters):
    return tacit.Plan([mask.HybridRecords(columns=["x", "y"], **parameters)]).apply(frame, seed=1)


@pytest.mark.parametrize("mix", ["sum", "product"])
def test_the_share_leads_from_synthetic_to_original(frame, mix):
    moved = []
    for share in (0.0, 0.5, 1.0):
        made = hybrid(frame, share=share, mix=mix).frame
        moved.append(np.abs(made["x"].to_numpy() - frame["x"].to_numpy()).mean())
    assert moved[0] > moved[1] > moved[2]
    assert moved[2] == pytest.approx(0, abs=1e-9)


def test_moments_and_correlation_stay_near(frame):
    made = hybrid(frame).frame
    assert made["x"].mean() == pytest.approx(frame["x"].mean(), rel=0.15)
    assert np.corrcoef(made["x"], made["y"])[0, 1] > 0.8


def test_products_need_positive_values(frame):
    with pytest.raises(DataError, match="positive"):
        hybrid(frame.with_columns(x=pl.col("x") - 5), mix="product")


def test_rules_hold():
    data = tacit.datasets.census(300)
    made = tacit.Plan([mask.HybridRecords(columns=["income", "taxes"])]).apply(data, seed=1)
    assert not any(made.data.broken_constraints().values())
