"""Before publication: forged tables are refused, honest ones of every protection pass."""

from dataclasses import replace

import numpy as np
import polars as pl
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


def _with(made, cell, value):
    """The table with a leaf put at a value and all sums above it corrected: additive, forged."""
    from tacit.tables._free_leaves import free_leaves

    leaves = free_leaves(made.original, np.ones(made.original.n_cells, bool))
    column = int(np.flatnonzero(leaves.at == cell)[0])
    step = value - made.published[cell]
    return replace(made, published=made.published + step * leaves.sums[:, [column]].toarray()[:, 0])


@pytest.mark.parametrize(
    "method", [tables.ControlledAdjustment(), tables.M3A()], ids=lambda m: m.key
)
def test_a_moved_cell_put_back_is_found(method):
    """Also with every sum corrected, so that nothing but the cell itself gives the forger away."""
    made = business_table(top=50).protect(method, RULE)
    table = made.original
    moved = made.sensitive.cells & made.changed & ~table.is_total
    cells = np.flatnonzero(moved)
    assert len(cells)
    for cell in cells[:10]:
        forged = _with(made, cell, table.value[cell])
        found = verify(forged)
        assert not found.passed
        assert table.describe(np.array([cell])) in " ".join(found.faults)
        assert not any("not additive" in fault for fault in found.faults)


def test_an_adjusted_cell_just_inside_its_interval_is_found():
    made = business_table().protect(tables.ControlledAdjustment(), RULE)
    table, found = made.original, made.sensitive
    cell = int(np.flatnonzero(found.cells & ~table.is_total & (found.above > 0))[0])
    just = table.value[cell] + 0.99 * found.above[cell]
    assert not verify(_with(made, cell, just)).passed


def test_sums_of_an_adjusted_table_are_checked():
    made = business_table().protect(tables.ControlledAdjustment(), RULE)
    published = made.published.copy()
    published[0] += 5
    assert any("not additive" in f for f in verify(replace(made, published=published)).faults)


def test_the_example_of_the_paper_is_judged_alike():
    """Contributions of section 3: 23 900 is safe, 23 500 and 9 500 are not, 9 000 is."""
    import polars as pl

    y = [10000, 8000, 1600, 1500, 1100, 900, 800]
    frame = pl.DataFrame({"g": ["a"] * 7 + ["b"] * 4, "x": [*y, 5, 5, 5, 5]})
    table = tacit.tabulate(frame, "g", "x", top=50)
    cell = table.cell(g="a")
    chosen = tables.Sensitive.none(table.n_cells)
    cells = chosen.cells.copy()
    cells[cell] = True
    made = table.protect(tables.M3A(d=10, phi=3), replace(chosen, cells=cells))
    assert verify(made).passed
    for total, safe in ((23_900, True), (23_500, False), (9_500, False), (9_001, False)):
        assert verify(_with(made, cell, float(total))).passed is safe


def test_forced_cells_that_follow_from_others_are_said():
    """They were to be suppressed, not protected; whoever meant more is told."""
    frame = pl.DataFrame({"r": list("NNNSSSWWW"), "x": [9.0, 8, 7, 5, 5, 5, 6, 6, 7]})
    table = tacit.tabulate(frame, "r", "x").force({"r": "N"})
    checked = table.protect(tables.SuppressModular()).verify()
    assert checked.passed
    assert len(checked.cautions) == 1
    assert "1 of 1 cells" in checked.cautions[0]
    assert "(N)" in checked.cautions[0]
    two = table.force({"r": "S"}).protect(tables.SuppressModular()).verify()
    assert two.cautions == ()
    declared = table.force({"r": "N"}, flag=False).declare_unsafe({"r": "N"}, above=3.0)
    assert declared.protect(tables.SuppressModular()).verify().cautions == ()
