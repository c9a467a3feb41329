"""The Gaussian copula: margins and rank correlations."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

import tacit
from tacit import mask


def copula(data, **parameters):
    return tacit.Plan([mask.CopulaSynthesis(**parameters)]).apply(data, seed=1)


def test_margins_and_rank_correlations_are_kept():
    rng = np.random.default_rng(1)
    x = rng.lognormal(size=4000)
    frame = pl.DataFrame(
        {"x": x, "y": -x + rng.normal(size=4000), "g": ["a", "b", "b", "c"] * 1000}
    )
    made = copula(frame).frame
    before, after = (spearmanr(f["x"], f["y"])[0] for f in (frame, made))
    assert after == pytest.approx(before, abs=0.05)
    for share in (0.1, 0.5, 0.9):
        assert made["x"].quantile(share) == pytest.approx(frame["x"].quantile(share), rel=0.1)
    shares = made["g"].value_counts(normalize=True).sort("g")["proportion"].to_list()
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_gaps_come_as_often_and_rules_hold():
    data = tacit.datasets.census(1500, missing=0.1)
    release = copula(data, m=2)
    assert len(release.data_sets) == 2
    for made in release.data_sets:
        assert not any(made.broken_constraints().values())
        assert made.frame["age"].null_count() / 1500 == pytest.approx(0.1, abs=0.03)
    assert "household" not in release.frame.columns


def test_no_original_record_when_asked():
    data = tacit.datasets.census(300).drop(["weight", "person_id", "household"])
    made = copula(data, originals="none").frame
    assert made.join(data.frame, on=made.columns, how="semi", nulls_equal=True).height == 0


def test_impossible_combinations_never_appear():
    data = tacit.datasets.census(400)
    zero = {"sex": "female", "employed": False}
    made = tacit.Plan([mask.CopulaSynthesis(impossible=[zero])]).apply(data, seed=1).frame
    assert made.height == 400
    assert made.filter((pl.col("sex") == "female") & ~pl.col("employed")).height == 0
