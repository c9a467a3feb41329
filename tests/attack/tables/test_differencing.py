"""Differencing of tables: slivers of exact tables are counted, those of noisy ones are not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables


@pytest.fixture(scope="module")
def frame():
    """Areas are towns, but one to three people of each town belong to the next area."""
    rng = np.random.default_rng(4)
    town = np.repeat(np.arange(60), 20)
    area = town.copy()
    moved = np.isin(np.arange(1200) % 20, [0, 1, 2]) & (
        np.arange(1200) % 20 < 1 + rng.integers(0, 3, 60)[town]
    )
    even = (town % 2 == 0) & moved
    area[even] = town[even] + 1
    return pl.DataFrame({"town": [f"t{t:02}" for t in town], "area": [f"a{a:02}" for a in area]})


def target(frame, protect):
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    made = [protect(tacit.tabulate(keyed, name, keys="rk1")) for name in ("town", "area")]
    return attack.TableTarget(tuple(made), tacit.Microdata.of(frame))


def test_exact_tables_give_every_sliver(frame):
    bare = target(frame, lambda t: tables.ProtectedTable(t, t.sensitive(), t.value))
    found = attack.TableDifferencing().run(bare)
    assert found.success.value == 1.0
    assert found.success.n >= 60  # thirty towns lose people, thirty areas gain them
    assert found.leaked


def test_one_sliver_of_one_person_is_a_leak():
    """Everybody of the town is in the area, and one other person: told for certain."""
    frame = pl.DataFrame({"town": list("aaaabbbb"), "area": list("xxxxxyyy")})
    bare = target(frame, lambda t: tables.ProtectedTable(t, t.sensitive(), t.value))
    found = attack.TableDifferencing().run(bare)
    assert found.n_broken == 2
    assert found.leaked


def test_slivers_of_hidden_counts_are_not_told(frame):
    def hidden(table):
        return tables.ProtectedTable.suppressing(
            table, table.sensitive(), ~table.is_total, "all but the total"
        )

    found = attack.TableDifferencing().run(target(frame, hidden))
    assert found.success.n == 0
    assert not found.leaked


def test_cell_keys_hide_them(frame):
    found = attack.TableDifferencing().run(target(frame, lambda t: t.protect(tables.CellKey())))
    assert found.success.n >= 60
    assert found.success.low <= found.baseline.high
    assert not found.leaked


def test_needs_the_data(frame):
    made = target(frame, lambda t: t.protect(tables.CellKey())).tables
    report = attack.audit(made, attacks=[attack.TableDifferencing()])
    assert "without the data" in report.left_out["table-differencing"]
