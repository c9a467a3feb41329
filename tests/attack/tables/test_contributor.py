"""Contributor attacks: dominated cells tell their largest contributor; the p % rule hides them."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables


@pytest.fixture(scope="module")
def table():
    """North is dominated (90 of 91, then 99 and 1 and 1), the others are even."""
    frame = pl.DataFrame(
        {"region": list("NNNSSSSEEEEWWWW"),
         "x": [90.0, 5, 1, 20, 25, 22, 21, 30, 33, 31, 30, 20, 22, 21, 20]}
    )  # fmt: skip
    return tacit.tabulate(frame, "region", "x")


def bare(table):
    return tables.ProtectedTable(table, table.sensitive(), table.value)


def test_an_insider_gets_what_the_p_percent_rule_calls_sensitive(table):
    found = attack.ContributorAttack(p=10).run(bare(table))
    rule = np.flatnonzero(table.sensitive(tables.PPercent(p=10)).cells)
    assert found.broken.tolist() == rule.tolist()
    assert found.leaked


def test_an_outsider_needs_more_dominance(table):
    outside = attack.ContributorAttack(p=5).run(bare(table), attack.Knowledge(respondent=False))
    inside = attack.ContributorAttack(p=5).run(bare(table))
    assert (outside.n_broken, inside.n_broken) == (0, 1)  # 96/90 is off by 6.7 %, 91/90 by 1.1 %


def test_a_coalition_gets_more(table):
    """All others of a cell of four know the largest one exactly, so long as the table tells."""
    found = attack.ContributorAttack(p=1).run(bare(table), attack.Knowledge(coalition=3))
    assert found.n_broken >= 1


def test_suppressed_cells_tell_nothing(table):
    made = table.protect(tables.SuppressModular(), tables.PPercent(p=10))
    found = attack.ContributorAttack(p=10).run(made)
    assert found.success.value == 0.0
    assert not found.leaked
