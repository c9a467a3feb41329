"""Zeros: unsafe where somebody stands behind them."""

import polars as pl

import tacit
from tacit import tables

FRAME = pl.DataFrame({"r": list("aab"), "x": [0, 0, 7]})
CODES = {"r": {"Total": ["a", "b", "c"]}}


def test_a_zero_of_somebody_is_unsafe_and_an_empty_cell_is_not():
    table = tacit.tabulate(FRAME, "r", "x", hierarchies=CODES)
    found = tables.ZeroUnsafe(amount=10).sensitive(table)
    assert table.describe(found.primary) == "(a)"
    assert found.above[table.cell(r="a")] == 10
    assert found.below[table.cell(r="a")] == 0


def test_empty_cells_on_request():
    table = tacit.tabulate(FRAME, "r", hierarchies=CODES)
    assert len(tables.ZeroUnsafe().sensitive(table)) == 0
    found = tables.ZeroUnsafe(empty=True).sensitive(table)
    assert table.describe(found.primary) == "(c)"


def test_where_values_can_be_negative_the_interval_reaches_down_too():
    frame = pl.DataFrame({"r": list("aab"), "x": [-3, 3, 7]})
    table = tacit.tabulate(frame, "r", "x")
    found = tables.ZeroUnsafe(amount=2).sensitive(table)
    assert found.below[table.cell(r="a")] == 2


def test_short_form():
    assert tables.ZeroUnsafe(amount=10, empty=True).short() == "zero(10,empty=true)"
