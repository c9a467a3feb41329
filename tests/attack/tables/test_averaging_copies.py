"""Averaging: fresh noise falls as theory says, sticky noise stays."""

from math import erf, sqrt

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables
from tacit.tables import ProtectedTable


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"a": rng.integers(0, 200, 6000).astype(str)})
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    return tacit.tabulate(keyed, "a", keys="rk1")


def test_fresh_noise_is_averaged_away(table):
    rng = np.random.default_rng(1)
    noisy = [
        ProtectedTable(
            table, table.sensitive(), table.value + np.round(rng.normal(0, 2, table.n_cells))
        )
        for _ in range(25)
    ]
    found = attack.AveragingCopies().run(noisy)
    sigma = sqrt((4 + 1 / 12) / 25)  # rounding adds a variance of 1/12
    assert found.success.value == pytest.approx(erf(0.5 / sigma / sqrt(2)), abs=0.08)
    assert found.leaked


def test_copies_are_found_beside_another_table(table):
    """The first table is another one: copies of the second are averaged all the same."""
    rng = np.random.default_rng(1)
    other = tacit.tabulate(pl.DataFrame({"b": list("xxyyy")}), "b")
    made = [ProtectedTable(other, other.sensitive(), other.value)] + [
        ProtectedTable(
            table, table.sensitive(), table.value + np.round(rng.normal(0, 2, table.n_cells))
        )
        for _ in range(25)
    ]
    found = attack.AveragingCopies().run(made)
    assert (found.details["copies"], found.success.n) == ([25], table.n_cells)
    assert found.leaked


def test_sticky_noise_is_not(table):
    copies = [table.protect(tables.CellKey()) for _ in range(25)]
    found = attack.AveragingCopies().run(copies)
    assert found.success.value == found.baseline.value
    assert not found.leaked
