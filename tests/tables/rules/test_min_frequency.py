"""Minimum frequency: respondents or holdings, counts or totals."""

import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError

FRAME = pl.DataFrame(
    {"r": list("aaabbc"), "x": [5, 4, 3, 2, 2, 0], "u": [1, 1, 2, 3, 4, 5], "h": [1, 1, 1, 2, 3, 4]}
)


def names(table, found):
    return {table.labels(i)[0] for i in found.primary}


def test_respondents_are_records_unless_named():
    table = tacit.tabulate(FRAME, "r", "x")
    assert names(table, tables.MinFrequency(n=3).sensitive(table)) == {"b", "c"}
    table = tacit.tabulate(FRAME, "r", "x", unit="u", holding="h")
    assert names(table, tables.MinFrequency(n=3).sensitive(table)) == {"a", "b", "c"}
    assert names(table, tables.MinFrequency(n=2, level="holding").sensitive(table)) == {"a", "c"}


def test_empty_cells_and_zeros():
    table = tacit.tabulate(FRAME, "r", "x", hierarchies={"r": {"Total": ["a", "b", "c", "d"]}})
    assert "d" not in names(table, tables.MinFrequency(n=3).sensitive(table))
    assert names(table, tables.MinFrequency(n=3, zero_safe=True).sensitive(table)) == {"b"}


def test_margin_gives_the_protection_of_totals():
    table = tacit.tabulate(FRAME, "r", "x")
    found = tables.MinFrequency(n=3, margin=25).sensitive(table)
    assert found.above[table.cell(r="b")] == 1.0
    assert found.below[table.cell(r="b")] == 1.0
    assert tables.MinFrequency(n=3).sensitive(table).above.max() == 0


def test_counts_leave_room_for_another_whole_number():
    table = tacit.tabulate(FRAME, "r")
    found = tables.MinFrequency(n=3).sensitive(table)
    assert found.above[found.cells].tolist() == [1.0, 1.0]
    assert tables.MinFrequency(n=7, margin=50).sensitive(table).above[0] == 3.0


def test_ready_counts_are_their_own_frequency(small):
    counts = small.replace(variable=None)
    found = tables.MinFrequency(n=10).sensitive(counts)
    assert {counts.value[i] for i in found.primary} == {8.0}
    with pytest.raises(DataError, match="number of respondents"):
        tables.MinFrequency().sensitive(small)


def test_holdings_must_be_known():
    with pytest.raises(DataError, match="holding="):
        tables.MinFrequency(level="holding").sensitive(tacit.tabulate(FRAME, "r"))
    with pytest.raises(ParameterError, match="'n'"):
        tables.MinFrequency(n=0)


def test_short_form():
    assert tables.MinFrequency(n=5, margin=20).short() == "freq(5,20)"
