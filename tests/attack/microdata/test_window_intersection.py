"""Window intersection: narrow windows of many columns hold one record, wide ones all."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask

COLUMNS = ["age", "hours", "income", "taxes"]


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(600)


def run(data, p, columns=COLUMNS):
    step = mask.RankSwap(columns=columns, p=p, keep_rules=False)
    return attack.WindowIntersection().run(tacit.Plan([step]).apply(data, seed=1))


def test_narrow_windows_give_people_away_at_the_rate_of_theory():
    """Columns without relation: beside the right one, records are in all windows by chance.

    A window of w ranks either side holds a share q of the others; of n others about m = n q^4 are
    in all four, and one of 1 + m is right: (1 - exp(-m)) / m.
    """
    values = np.random.default_rng(4).random((600, 4))
    data = tacit.Microdata.of(pl.DataFrame(values, schema=COLUMNS)).with_roles(keys=COLUMNS)
    found = run(data, 10)
    rank = np.arange(600)
    shares = [
        np.mean([np.mean(np.abs(rank - r) <= w) for r in rank])
        for w in found.details["windows"].values()
    ]
    others = 599 * np.prod(shares)
    assert 0.3 < others < 2
    assert found.success.value == pytest.approx((1 - np.exp(-others)) / others, abs=0.08)
    assert found.leaked


def test_windows_as_wide_as_the_file_are_guessing(data):
    found = run(data, 100)
    assert found.success.n == 600
    assert not found.leaked


def test_fewer_columns_find_fewer(data):
    assert run(data, 2, ["age"]).success.value < run(data, 2).success.value / 3
