"""Centroid assignment: blocks apart leave few candidates, one block leaves k."""

import pytest

import tacit
from tacit import attack, mask

COLUMNS = ["age", "hours", "income", "taxes"]


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(600)


def run(data, *steps):
    return attack.CentroidAssignment().run(tacit.Plan(steps).apply(data, seed=1))


def test_columns_averaged_one_by_one_give_people_away(data):
    found = run(data, mask.IndividualRanking(columns=COLUMNS, k=3))
    assert found.success.value > 0.4
    assert found.leaked


def test_one_block_leaves_at_most_one_in_k(data):
    found = run(data, mask.Mdav(columns=COLUMNS, k=20))
    assert 1 / 50 < found.success.value <= 1 / 20 + 1e-9


def test_groups_as_large_as_the_file_are_guessing(data):
    found = run(data, mask.Mdav(columns=COLUMNS, k=600))
    assert found.success.value == pytest.approx(found.baseline.value)
    assert not found.leaked


def test_needs_the_method(data):
    release = tacit.Plan([mask.Mdav(columns=COLUMNS, k=3)]).apply(data, seed=1)
    known, attacks = attack.Knowledge(method=False), [attack.CentroidAssignment()]
    report = attack.audit(release, known, attacks=attacks)
    assert "does not know the method" in report.left_out["centroid-assignment"]
