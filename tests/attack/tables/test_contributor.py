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
    assert found.success.n > 0
    assert found.success.value == 0.0
    assert not found.leaked


def test_what_the_own_contribution_tells_is_no_leak():
    """100 and 95: the second names 104.5 without any table, 4.5 % off; 100 and 60 it cannot."""
    frame = pl.DataFrame({"region": list("NNSS"), "x": [100.0, 95, 100, 60]})
    found = attack.ContributorAttack(p=10).run(bare(tacit.tabulate(frame, "region", "x")))
    assert (found.success.value, found.baseline.value) == (1.0, 0.5)


@pytest.fixture(scope="module")
def alone():
    """Three hundred cells of one firm each, spread over a factor of about three."""
    rng = np.random.default_rng(12)
    frame = pl.DataFrame({"cell": [f"c{c:03}" for c in range(300)], "x": rng.uniform(50, 150, 300)})
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    return tacit.tabulate(keyed, "cell", "x", keys=["rk1", "rk2"])


def published(table, values):
    return tables.ProtectedTable(table, table.sensitive(), values)


def test_where_nothing_can_be_learnt_luck_is_no_leak(alone):
    """Totals of other cells: the estimate is within 10 % by luck only, and so is guessing."""
    rng = np.random.default_rng(3)
    cells = np.flatnonzero(~alone.is_total)
    values = alone.value.copy()
    values[cells] = values[rng.permutation(cells)]
    found = attack.ContributorAttack().run(published(alone, values))
    assert found.success.value > 0.1  # a baseline of zero would call this a leak
    assert found.success.low <= found.baseline.value <= found.success.high
    assert not found.leaked


def test_rounded_totals_are_near_at_the_rate_of_theory(alone):
    """Multiples of 40 are within 10 % of x from 72.7 to 88.9, 109.1 to 133.3, 145.5 to 150."""
    made = alone.protect(tables.ConventionalRounding(base=40), tables.PPercent(p=10))
    found = attack.ContributorAttack().run(made)
    expected = ((80 / 0.9 - 80 / 1.1) + (120 / 0.9 - 120 / 1.1) + (150 - 160 / 1.1)) / 100
    assert found.success.value == pytest.approx(expected, abs=0.08)
    assert found.leaked


def test_cells_at_the_edge_are_divided_back_by_who_knows_the_method(alone):
    """M3A moves a single contribution by d: as it is, a tie is safe; known, a coin is left."""
    made = alone.protect(tables.M3A(d=10), tables.PPercent(p=10))
    known = attack.ContributorAttack().run(made)
    assert known.success.value == pytest.approx(0.5)
    assert known.leaked
    plain = attack.ContributorAttack().run(made, attack.Knowledge(method=False))
    assert plain.success.value == 0.0
    assert not plain.leaked


def test_cell_keys_leave_luck(alone):
    made = alone.protect(tables.CellKeyMagnitude(), tables.PPercent(p=10))
    found = attack.ContributorAttack().run(made)
    assert found.success.low <= found.baseline.value
    assert not found.leaked
