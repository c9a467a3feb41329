"""Totals that one or two units make up are withheld; the count is not."""

import polars as pl

from tacit.query import DominanceRule


def test_which_totals_are_withheld(withheld):
    found = withheld(DominanceRule(n=1, k=50.0))
    assert {"one", "negative"} <= found
    assert "even" not in found


def test_copies_do_not_help(withheld):
    copies = pl.concat([withheld.frame] * 4)
    assert withheld(DominanceRule(n=1, k=50.0), copies) == withheld(DominanceRule(n=1, k=50.0))


def test_tables_of_counts_are_not_concerned(serve, people):
    answer = serve(people, DominanceRule()).ask({"method": "crosstab", "by": ["sex"]})
    assert None not in answer.columns["count"]
