"""Constraints on noise: a tight bound and many sums settle counts, cell keys withstand."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

import tacit
from tacit import attack, tables
from tacit.tables import ProtectedTable, Table


def test_a_bound_and_a_margin_settle_counts():
    """Noise of at most 1: cells up by 1 and a total down by 1 can only have been one thing."""
    n = 20
    value, published = np.tile([6.0, 2, 2, 2], n), np.tile([5.0, 3, 3, 3], n)
    # Total 4 to 6, each cell 2 to 4: only 2 + 2 + 2 = 6 fits.
    rows = np.kron(np.eye(n), [[-1.0, 1, 1, 1]])
    table = Table(value, csr_array(rows), count=value)
    found = attack.CellKeyConstraints().run(ProtectedTable(table, table.sensitive(), published))
    assert (found.success.value, found.baseline.value) == (1.0, 0.0)
    assert found.leaked


def test_cell_keys_withstand():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"a": rng.choice(list("uvwxyz"), 900), "b": rng.choice(list("pqrst"), 900)}
    )
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    table = tacit.tabulate(keyed, ["a", "b"], keys="rk1")
    found = attack.CellKeyConstraints().run(table.protect(tables.CellKey()))
    assert found.success.n > 40
    assert found.success.low <= found.baseline.value <= found.success.high
    assert not found.leaked
