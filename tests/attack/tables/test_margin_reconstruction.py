"""Reconstruction: a small block is rebuilt from exact margins, not from protected ones."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables


@pytest.fixture(scope="module")
def block():
    """A census block of 48 people in 320 combinations, most of them alone in theirs."""
    rng = np.random.default_rng(11)
    n = 48
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice([f"{a:02}" for a in range(16)], n),
            "origin": rng.choice(list("abcde"), n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "tenure": rng.choice(["own", "rent"], n),
        }
    )


def margins(frame):
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    names = [c for c in frame.columns if not c.startswith("rk")]
    return {
        "-".join(by): tacit.tabulate(keyed, list(by), keys="rk1") for by in combinations(names, 3)
    }


def run(frame, made):
    target = attack.TableTarget(tuple(made), tacit.Microdata.of(frame))
    return attack.MarginReconstruction(seconds=120).run(target)


def bare(made):
    return [tables.ProtectedTable(t, t.sensitive(), t.value) for t in made.values()]


def test_exact_margins_rebuild_the_block(block):
    found = run(block, bare(margins(block)))
    assert found.success.value > 0.95
    assert found.baseline.value < 0.3
    assert found.leaked


def test_cell_keys_stop_it(block):
    found = run(block, [t.protect(tables.CellKey()) for t in margins(block).values()])
    assert not found.leaked, found


def test_safe_stops_it(block):
    data = tacit.Microdata.of(block).with_roles(keys=block.columns)
    changed = (
        tables.Safe(columns=block.columns)
        .apply(data, np.random.default_rng(1))
        .local.select(block.columns)
    )
    made = bare(margins(changed))
    found = run(block, made)
    assert not found.leaked, found


def suppressed(block, rule):
    """Hide cells from outsiders; the attacker of this file is one."""
    linked = tables.link(margins(block))
    return list(linked.protect(tables.SuppressModular(singletons=False), rule).split().values())


def test_suppression_stops_it_where_zeros_are_hidden_too(block):
    found = run(block, suppressed(block, tables.MinFrequency(n=3) | tables.ZeroUnsafe(empty=True)))
    assert not found.leaked, found
    assert found.success.low <= found.baseline.value <= found.success.high


def test_zeros_that_stay_open_rebuild_records_from_suppressed_margins(block):
    """Where nobody is, is known; what is left over are the records, counts hidden or not."""
    found = run(block, suppressed(block, tables.MinFrequency(n=3)))
    assert found.success.value > 0.4
    assert found.leaked


def test_too_many_combinations_are_refused(block):
    target = attack.TableTarget(tuple(bare(margins(block))), tacit.Microdata.of(block))
    report = attack.audit(target, attacks=[attack.MarginReconstruction(most=10)])
    assert "too many" in report.left_out["table-reconstruction"]
