"""Before publication: forged tables are refused, honest ones of every protection pass."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tables.publishing import RULE, business_table, suppressed

import tacit
from tacit import tables
from tacit.core.errors import DataError, ProtectionError
from tacit.tables.verification import verify

HONEST = [
    tables.SuppressModular(),
    tables.ControlledRounding(),
    tables.RandomRounding(seed=1),
    tables.ControlledAdjustment(),
    tables.M3A(),
]


@pytest.mark.parametrize("method", HONEST, ids=lambda m: m.key)
def test_honest_tables_pass(method):
    found = verify(business_table().protect(method, RULE))
    assert found.passed, found.summary()
    assert found.summary().startswith("Passed")
    found.require()


def test_a_sensitive_cell_put_back_is_found():
    made = suppressed()
    published = made.published.copy()
    cell = made.sensitive.primary[0]
    published[cell] = made.original.value[cell]
    forged = replace(made, published=published)
    found = verify(forged)
    assert not found.passed
    assert made.original.describe(np.array([cell])) in found.faults[0]
    with pytest.raises(ProtectionError, match="did not pass its check"):
        found.require()


def test_without_secondary_suppression_the_attack_succeeds():
    made = suppressed()
    bare = np.where(made.sensitive.cells, np.nan, made.original.value)
    found = verify(replace(made, published=bare))
    assert not found.passed
    assert "worked out too closely" in found.summary()


def test_broken_wishes_are_found():
    table = business_table().freeze({"region": "N"}).force({"region": "N1", "nace": "B"})
    made = table.protect(tables.SuppressModular(), RULE)
    assert verify(made).passed
    cell, other = table.cell(region="N"), table.cell(region="N1", nace="B")
    published = made.published.copy()
    published[cell], published[other] = np.nan, table.value[other]
    faults = verify(replace(made, published=published)).faults
    assert "must be published as they are were not: (N, Total)" in faults[0]
    assert "must be suppressed are published: (N1, B)" in faults[1]


def test_false_claims_of_rounding_and_sums_are_found():
    made = business_table().protect(tables.ControlledRounding(), RULE)
    base = made.notes["base"]
    published = made.published.copy()
    published[3] += 3 * base
    faults = verify(replace(made, published=published)).faults
    assert any("not additive" in fault for fault in faults)
    assert any("moved by more than" in fault for fault in faults)


def test_infinite_values_are_found():
    made = business_table().protect(tables.RandomRounding(base=500, seed=1), RULE)
    published = made.published.copy()
    published[2] = np.inf
    assert any("infinite" in fault for fault in verify(replace(made, published=published)).faults)


def test_a_strange_protection_that_changes_values_is_refused():
    """Nothing is known of what it promises, so nothing can be checked."""
    table = business_table()
    made = tables.ProtectedTable(table, table.sensitive(RULE), table.value + 1, "by hand")
    with pytest.raises(DataError, match="says nothing"):
        verify(made)


def test_noise_is_checked_by_its_promises_only():
    keyed = tables.with_record_keys(tacit.datasets.census(300), "a long and secret phrase")
    table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    found = verify(table.protect(tables.CellKey()))
    assert found.passed
    assert found.audit is None
