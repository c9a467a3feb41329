"""Group disclosure: when a margin falls on one category."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import SchemaError


def table_of(counts, **options):
    rows = [(r, c) for (r, c), n in counts.items() for _ in range(n)]
    frame = pl.DataFrame(rows, schema={"town": pl.String, "ill": pl.String}, orient="row")
    return tacit.tabulate(frame, ["town", "ill"], **options)


def found(rule, table):
    return {table.labels(i) for i in rule.sensitive(table).primary}


COUNTS = {("A", "flu"): 9, ("B", "flu"): 2, ("B", "none"): 3, ("C", "none"): 1}


def test_the_category_on_which_a_margin_falls():
    table = table_of(COUNTS)
    assert found(tables.GroupDisclosure(dimensions=["ill"]), table) == {("A", "flu"), ("C", "none")}
    assert found(tables.GroupDisclosure(dimensions=["ill"], least=2), table) == {("A", "flu")}
    assert found(tables.GroupDisclosure(dimensions=["town"]), table) == set()
    assert found(tables.GroupDisclosure(), table) == {("A", "flu"), ("C", "none")}


def test_a_share_below_the_whole():
    table = table_of(COUNTS)
    rule = tables.GroupDisclosure(dimensions=["ill"], share=60)
    assert found(rule, table) == {("A", "flu"), ("C", "none"), ("B", "none"), ("Total", "flu")}


def test_protection_reaches_down_only():
    verdict = tables.GroupDisclosure(dimensions=["ill"]).sensitive(table_of(COUNTS))
    assert verdict.below[verdict.cells].tolist() == [1.0, 1.0]
    assert verdict.above.max() == 0


def test_totals_of_one_part_say_nothing_new():
    codes = {"ill": {"Total": ["sick", "none"], "sick": ["flu"]}}
    table = table_of(COUNTS, hierarchies=codes)
    assert ("B", "flu") not in found(tables.GroupDisclosure(dimensions=["ill"]), table)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_against_brute_force(numbers):
    cells = [(t, i) for t in "AB" for i in ("flu", "cold", "none")]
    counts = dict(zip(cells, numbers, strict=True))
    hierarchies = {
        "town": {"Total": ["A", "B"]}, "ill": {"Total": ["flu", "cold", "none"]},
    }  # fmt: skip
    table = table_of(counts, hierarchies=hierarchies)
    expected = set()
    for town in ("A", "B", "Total"):
        inside = {i: sum(n for (t, j), n in counts.items() if j == i and town in (t, "Total")) for i in ("flu", "cold", "none")}  # noqa: E501  # fmt: skip
        expected |= {(town, i) for i, n in inside.items() if n == sum(inside.values()) > 0}
    assert found(tables.GroupDisclosure(dimensions=["ill"]), table) == expected


def test_an_unknown_dimension_is_named():
    with pytest.raises(SchemaError, match="no dimension 'il'; did you mean 'ill'"):
        tables.GroupDisclosure(dimensions=["il"]).sensitive(table_of(COUNTS))
