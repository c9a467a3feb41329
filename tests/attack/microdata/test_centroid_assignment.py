"""Centroid assignment: blocks apart leave few candidates, one block leaves k."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

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


def expected_rate(n, k):
    """Return the chance to find somebody by two independent columns, ranked one by one.

    A value lies between two centroids, so each column leaves the 2k records of two groups, the own
    one among them, and beyond the outermost centroids (half of a group at either end: k of n
    people) the k of one. Of the s and t others that two columns leave, the number X that both do
    is hypergeometric; the person is one of 1 + X.
    """
    sizes = {k - 1: k / n, 2 * k - 1: 1 - k / n}
    both = np.arange(2 * k)
    return sum(
        p * q * np.sum(hypergeom.pmf(both, n - 1, s, t) / (1 + both))
        for s, p in sizes.items()
        for t, q in sizes.items()
    )


@pytest.mark.parametrize(("n", "k"), [(300, 10), (600, 5), (200, 20)])
def test_two_columns_ranked_one_by_one_leave_as_many_as_theory_says(n, k):
    chances = []
    for seed in range(1200 // n):
        values = np.random.default_rng(seed).random((n, 2))
        data = tacit.Microdata.of(pl.DataFrame(values, schema=["a", "b"])).with_roles(
            keys=["a", "b"]
        )
        step = mask.IndividualRanking(columns=["a", "b"], k=k, optimal=False)
        found = attack.CentroidAssignment().run(tacit.Plan([step]).apply(data, seed=1))
        assert found.leaked
        chances.append(found.success.value)
    measured = attack.Rate.of(np.repeat(chances, n))
    assert measured.low <= expected_rate(n, k) <= measured.high


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
