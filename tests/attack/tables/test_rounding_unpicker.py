"""The rounding unpicker: independent rounding is cut by its margins, random rounding less so."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

import tacit
from tacit import attack, tables
from tacit.tables import ProtectedTable, Table


def test_margins_settle_rounded_cells():
    """Cells of 1 and a total of 2 n: rounded to 3 and 0, the total leaves one choice.

    Each of 20 tables: two cells of 1 rounded down to 0 by the nearest multiple, their total 2
    rounded to 3. A total of at least 2 with cells of at most 1 means 1 and 1.
    """
    n = 20
    value = np.tile([2.0, 1.0, 1.0], n)
    published = np.tile([3.0, 0.0, 0.0], n)
    rows = np.kron(np.eye(n), [[-1.0, 1.0, 1.0]])
    table = Table(value, csr_array(rows), count=value)
    made = ProtectedTable(table, table.sensitive(), published, "Conventional rounding")
    found = attack.RoundingUnpicker().run(made)
    assert (found.success.value, found.baseline.value) == (1.0, 0.0)
    assert found.leaked


def test_one_count_that_is_undone_is_a_leak_however_many_withstand():
    """One of twenty tables is settled as above; in the others the total leaves several choices."""
    n = 20
    value, published = np.tile([12.0, 6.0, 6.0], n), np.tile([12.0, 6.0, 6.0], n)
    value[:3], published[:3] = [2.0, 1.0, 1.0], [3.0, 0.0, 0.0]
    table = Table(value, csr_array(np.kron(np.eye(n), [[-1.0, 1.0, 1.0]])), count=value)
    made = ProtectedTable(table, table.sensitive(), published, "Conventional rounding")
    found = attack.RoundingUnpicker().run(made)
    assert (found.n_broken, found.details["undone"]) == (3, 3)
    assert found.leaked


@pytest.mark.parametrize("method", [tables.ControlledRounding(base=5)], ids=["controlled"])
def test_controlled_rounding_is_not_undone(method):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"a": rng.choice(list("uvwxyz"), 400), "b": rng.choice(list("pqrst"), 400)}
    )
    made = tacit.tabulate(frame, ["a", "b"]).protect(method)
    found = attack.RoundingUnpicker().run(made)
    assert found.success.n == made.original.n_cells
    assert not found.leaked


def test_tables_as_they_are_are_left_alone():
    table = tacit.tabulate(pl.DataFrame({"a": list("xxyyz")}), "a")
    report = attack.audit(tables.ProtectedTable(table, table.sensitive(), table.value))
    assert "rounded" in report.left_out["table-rounding"]
