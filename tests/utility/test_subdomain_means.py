"""Means and totals of subdomains."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError


def frames():
    before = pl.DataFrame({"g": ["a"] * 4 + ["b"] * 4, "x": [1.0, 2, 3, 4, 10, 20, 30, 40]})
    after = before.with_columns(x=pl.Series([2.0, 3, 4, 5, 10, 20, 30, 40]))
    return before, after


def test_by_hand():
    found = utility.SubdomainMeans(columns=["x"], by=["g"], smallest=2).measure(*frames())
    assert found.value == pytest.approx((1 / 2.5 + 0) / 2)
    worst = found.details["worst"]
    assert [row["what"] for row in worst] == ["mean of x where g = a"]
    assert worst[0]["standardised"] == pytest.approx(1 / (np.std([1, 2, 3, 4], ddof=1) / 2))


def test_totals_by_hand():
    measure = utility.SubdomainMeans(columns=["x"], by=["g"], smallest=2, statistic="total")
    found = measure.measure(*frames())
    assert found.details["worst"][0]["original"] == 10.0
    assert found.details["worst"][0]["release"] == 14.0
    assert found.value == pytest.approx(0.2)


def test_weights_enter():
    before = pl.DataFrame({"g": ["a"] * 3, "x": [1.0, 2, 6], "w": [1.0, 1, 2]})
    data = tacit.Microdata.of(before).with_roles(weight="w")
    moved = tacit.Microdata.of(before.with_columns(x=pl.Series([1.0, 2, 3]))).with_roles(weight="w")
    found = utility.SubdomainMeans(columns=["x"], by=["g"], smallest=2).measure(data, moved)
    assert found.value == pytest.approx((15 / 4 - 9 / 4) / (15 / 4))


def test_a_lost_group_has_lost_all():
    before, _ = frames()
    after = before.filter(pl.col("g") == "b")
    found = utility.SubdomainMeans(columns=["x"], by=["g"], smallest=2).measure(before, after)
    assert found.details["lost_groups"] == 1
    assert found.value == pytest.approx(0.5)


def test_small_groups_are_left_out():
    with pytest.raises(DataError, match="at least 10"):
        utility.SubdomainMeans(columns=["x"], by=["g"]).measure(*frames())


def test_subdomains_move_though_the_file_does_not():
    data = tacit.datasets.census(3000).drop(["weight"])
    release = tacit.Plan([mask.RankSwap(columns=["income"], p=30)]).apply(data, seed=1)
    found = utility.SubdomainMeans(columns=["income"], by=["education"]).measure(data, release)
    mean = data.numeric(["income"]).mean()
    assert release.data.numeric(["income"]).mean() == pytest.approx(mean)
    assert found.value > 0.05
    assert "income" in found.explanation


def test_crossing_needs_enough_columns():
    with pytest.raises(DataError, match="crosses 3"):
        utility.SubdomainMeans(columns=["x"], by=["g"], order=3).measure(*frames())


def test_recoded_groups_are_left_out_or_lost():
    data = tacit.datasets.census(800)
    release = tacit.Plan([mask.Recode(column="region", level=1)]).apply(data, seed=1)
    usual = utility.SubdomainMeans().measure(data, release)
    assert usual.value == 0.0
    assert "'region'" in usual.warnings[0]
    named = utility.SubdomainMeans(by=["region"]).measure(data, release)
    assert named.value == 1.0
    assert "count as lost" in named.warnings[0]
