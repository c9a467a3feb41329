"""Window intersection: narrow windows of many columns hold one record, wide ones all."""

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


def test_narrow_windows_give_people_away(data):
    found = run(data, 2)
    assert found.leaked
    assert found.success.value > 0.2


def test_windows_as_wide_as_the_file_are_guessing(data):
    found = run(data, 100)
    assert not found.leaked


def test_fewer_columns_find_fewer(data):
    assert run(data, 2, ["age"]).success.value < run(data, 2).success.value / 3
