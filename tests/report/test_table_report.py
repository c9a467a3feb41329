"""The report of a table: whole, self-contained, escaped, without the seed."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.tables.publishing import RULE, business_table, suppressed

import tacit
from tacit import tables
from tacit.report import table_report


@pytest.fixture(scope="module")
def page():
    return table_report(suppressed(), rule=RULE, plan="[table]\nby = 1")


def test_it_stands_alone(page):
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|src=|@import|url\(", page)


def test_it_says_what_was_done_and_found(page):
    for part in ("Internal: not for publication", "p(10)", "freq(3)", "passed its check",
                 "Width of the interval as a share of the value", "[table]"):  # fmt: skip
        assert part in page
    assert RULE.rules[0].summary() in page


def test_every_cell_has_the_colour_of_its_status(page):
    made = suppressed()
    for status in ("primary", "secondary", "safe"):
        n = int((made.status == status).sum())
        assert page.count(f'<td class="is-{status}"') == n


def test_codes_are_escaped():
    frame = pl.DataFrame({"r": ["<script>alert(1)</script>", "b", "b"], "x": [1, 2, 3]})
    made = tacit.tabulate(frame, "r", "x").protect(tables.RandomRounding(base=5, seed=1))
    assert "<script>" not in table_report(made)


def test_a_failed_check_is_loud():
    made = suppressed()
    forged = replace(made, published=np.where(made.sensitive.cells, np.nan, made.original.value))
    page = table_report(forged)
    assert "did NOT pass" in page
    assert "can be worked out too closely" in page


def test_changed_tables_show_changes_and_no_seed():
    made = business_table().protect(tables.RandomRounding(base=500, seed=918273645), RULE)
    page = table_report(made)
    assert "Change as a share of the original value" in page
    assert "918273645" not in page


def test_large_tables_are_cut_to_whole_levels():
    n = 4000
    frame = pl.DataFrame({"r": [f"{i % 10}{i % 400:03}" for i in range(n)], "x": range(n)})
    tree = tacit.Prefixes(length=4, keep=(1, 0))
    made = tacit.tabulate(frame, "r", "x", hierarchies={"r": tree}).protect(
        tables.RandomRounding(base=5, seed=1)
    )
    page = table_report(made)
    assert "Shown are 11 of" in page
    assert page.count("<td class=") == 11


def test_three_dimensions_and_none():
    page = table_report(suppressed(("region", "nace", "size")))
    assert "totals over size" in page
    from scipy.sparse import csr_array

    bare = tables.Table(np.array([3.0, 1, 2]), csr_array([[-1.0, 1, 1]]), variable="x")
    made = bare.protect(tables.RandomRounding(base=5, seed=1))
    assert 'id="table"' not in table_report(made)
