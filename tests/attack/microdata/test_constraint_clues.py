"""Constraint clues: swapping without rules shows itself, with rules it does not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask


@pytest.fixture(scope="module")
def data():
    """Expenses never exceed income by rule; a tenth of the records will be changed."""
    rng = np.random.default_rng(2)
    income = rng.uniform(100, 200, 1000)
    frame = pl.DataFrame({"income": income, "spent": income * rng.uniform(0.95, 1.0, 1000)})
    rule = tacit.AtLeast(larger="income", smaller="spent")
    return tacit.Microdata.of(frame).with_constraints(rule)


def changed(data, keep):
    rng = np.random.default_rng(1)
    some = rng.random(1000) < 0.4
    moved = rng.permutation(data.local["spent"].to_numpy())
    if keep:
        moved = np.minimum(moved, data.local["income"].to_numpy())
    spent = np.where(some, moved, data.local["spent"].to_numpy())
    numbered = data.numbered()
    released = numbered.with_local(numbered.local.with_columns(pl.Series("spent", spent)))
    return attack.MicrodataTarget(data, released)


def test_impossible_records_were_changed(data):
    """Of the changed, about half break the rule; all others are called true."""
    found = attack.ConstraintClues().run(changed(data, keep=False))
    assert found.leaked
    assert found.success.value == pytest.approx(0.6 + 0.4 / 2, abs=0.05)


def test_records_that_keep_the_rules_give_no_clue(data):
    found = attack.ConstraintClues().run(changed(data, keep=True))
    assert not found.leaked
    assert found.details["broken"] == 0


def test_data_without_rules_are_left_alone():
    data = tacit.datasets.patients()
    release = tacit.Plan([mask.Mdav(columns=["Age"], k=2)]).apply(data, seed=1)
    report = attack.audit(release, attacks=[attack.ConstraintClues()])
    assert "no edit rules" in report.left_out["constraint-clues"]
