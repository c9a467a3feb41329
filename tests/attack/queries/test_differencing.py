"""Differencing: re-seeding beats Drop-q, whose own formula says otherwise; not the default."""

import numpy as np
import polars as pl
import pytest

from tacit import attack, query
from tacit.query import DropQ, Policy


@pytest.fixture(scope="module")
def kinds(town):
    rng = np.random.default_rng(9)
    return town.with_columns(ill=pl.Series(rng.choice(["k1", "k2", "k3", "k4"], len(town))))


def test_open_server(behind, kinds):
    assert (
        attack.QueryDifferencing(variants=1).run(behind(Policy(name="open"), kinds)).success.value
        == 1.0
    )


def test_formula_5_is_what_its_own_criterion_gives():
    """The paper's criterion, one 1 and zeros, simulated against Eq. (5): 0.01521 for k = 5."""
    rng = np.random.default_rng(1)
    runs = 20_000
    drops = [rng.multinomial(rng.integers(2, 6, runs), [0.25] * 4) for _ in range(2)]
    change = drops[1] - drops[0]
    change[:, 0] += 1
    right = (change == np.array([1, 0, 0, 0])).all(axis=1)
    assert right.mean() == pytest.approx(query.drop_q_disclosure([0.25] * 4, k=5), abs=0.003)


def test_reseeding_beats_drop_q(behind, kinds):
    drop = Policy(name="drop", guards=(DropQ(k=5),))
    found = attack.QueryDifferencing(variants=6, most=25).run(behind(drop, kinds))
    assert found.success.value > 0.6
    assert found.leaked


def test_default_policy(behind, strict, kinds):
    assert not attack.QueryDifferencing().run(behind(strict, kinds)).leaked
