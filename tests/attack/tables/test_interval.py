"""The interval attack: primary suppressions alone are worked out, a full pattern holds."""

import polars as pl
import pytest

import tacit
from tacit import attack, tables

RULE = tables.Dominance(n=1, k=80)


@pytest.fixture(scope="module")
def table():
    frame = pl.DataFrame(
        {"region": list("NNSSEEWW") * 2, "year": ["1"] * 8 + ["2"] * 8,
         "x": [90, 1, 20, 25, 30, 33, 20, 22, 40, 41, 20, 25, 31, 33, 20, 23]}
    )  # fmt: skip
    return tacit.tabulate(frame, ["region", "year"], "x")


def test_a_single_suppression_is_the_difference_of_its_row(table):
    sensitive = table.sensitive(RULE)
    bare = tables.ProtectedTable.suppressing(table, sensitive, sensitive.cells, "primary only")
    found = attack.IntervalAttack().run(bare)
    assert found.success.value == 1.0
    assert found.leaked
    assert found.details["exactly_disclosed"] == int(sensitive.cells.sum())


def test_secondary_suppressions_hold(table):
    found = attack.IntervalAttack().run(table.protect(tables.SuppressModular(), RULE))
    assert (found.success.value, found.verdict) == (0.0, attack.Verdict.NOTHING)


def test_what_is_known_beforehand_within_little_is_no_leak(table):
    """Where everybody knows each value within a tenth of a percent, the table adds nothing."""
    made = table.protect(tables.SuppressModular(), RULE)
    close = attack.IntervalAttack().run(made, attack.Knowledge(known_within=0.001))
    assert close.baseline.value == close.success.value
    assert not close.leaked
