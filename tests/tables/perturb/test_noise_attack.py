"""The attack itself: it finds what can be found, and never more."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError
from tacit.tables import Dimension, ProtectedTable
from tacit.tables.sensitive import Sensitive


def published(table, values):
    return ProtectedTable(
        table, Sensitive.none(table.n_cells), np.asarray(values, float), hides_changes=True
    )


def test_the_example_of_the_paper_is_broken(full_table):
    """GH section 5: largest change 2, two cells of 1 published as 3 and their total 2 as 0."""
    table = full_table([1, 1], Dimension.flat("r", ["a", "b"]))
    found = tables.noise_attack(published(table, [0, 3, 3]), 2)
    assert found.low.tolist() == [2, 1, 1]
    assert found.high.tolist() == [2, 1, 1]
    assert found.summary["small counts disclosed"] == 3


def test_linear_programming_finds_more_than_single_sums():
    """x + y = y + z = x + z = 2: each sum leaves 0 to 2, all of them together leave 1."""
    from scipy.sparse import csr_array

    relations = csr_array([[1.0, 1, 0, -1, 0, 0], [0, 1, 1, 0, -1, 0], [1, 0, 1, 0, 0, -1]])
    frozen = np.array([False] * 3 + [True] * 3)
    table = tables.Table(np.array([1.0, 1, 1, 2, 2, 2]), relations, frozen=frozen)
    protected = published(table, [1, 1, 1, 2, 2, 2])
    single = tables.noise_attack(protected, 1, cells=np.array([], int))
    assert (single.low[:3].tolist(), single.high[:3].tolist()) == ([0] * 3, [2] * 3)
    found = tables.noise_attack(protected, 1)
    assert found.low.tolist() == found.high.tolist() == [1, 1, 1, 2, 2, 2]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([3, 4, 5]))
def test_the_truth_is_always_possible(full_table, seed, largest):
    rng = np.random.default_rng(seed)
    table = full_table(
        rng.poisson(rng.choice([0.5, 3, 20], (3, 4))),
        Dimension.flat("r", list("abc")),
        Dimension.flat("c", list("wxyz")),
    )
    table = table.replace(
        count=table.value.astype(int), key_sums={"k": rng.integers(0, 2**31 - 1, table.n_cells)}
    )
    method = tables.CellKey(max_change=largest)
    found = tables.noise_attack(table.protect(method), method.noise_table)
    assert np.all(found.low <= table.value)
    assert np.all(table.value <= found.high)


def test_cells_left_out_tell_nothing_by_themselves(full_table):
    table = full_table([4, 5], Dimension.flat("r", ["a", "b"]))
    found = tables.noise_attack(published(table, [np.nan, 4, 5]), 1)
    assert (found.low[0], found.high[0]) == (7, 11)


def test_only_counts_are_attacked(full_table):
    table = full_table([4, 5], Dimension.flat("r", ["a", "b"]), variable="turnover")
    with pytest.raises(DataError, match="unweighted counts"):
        tables.noise_attack(published(table, [9, 4, 5]), 1)


def test_an_adjusted_table_can_be_attacked_by_its_largest_change(keyed):
    table = tacit.tabulate(keyed, ["sex", "marital"], weights=None, keys="rk1")
    whole = tables.restore_additivity(table.protect(tables.CellKey(max_change=3)))
    wide = tables.noise_attack(whole, whole.notes["largest deviation"])
    assert np.all((wide.low <= table.value) & (table.value <= wide.high))
    assert wide.summary["counts disclosed"] == 0
    assert replace(whole).published.sum() == whole.published.sum()
