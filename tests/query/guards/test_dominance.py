"""Totals that one or two units make up are withheld; the count is not."""

import polars as pl
import pytest

from tacit.query import DominanceRule

VALUES = {
    "even": [10.0] * 10,
    "one": [1000.0] + [1.0] * 9,
    "two": [500.0, 450.0] + [1.0] * 8,
    "negative": [-1000.0] + [1.0] * 9,
    "nothing": [0.0] * 10,
}


@pytest.fixture
def shown(serve):
    values = [(g, v) for g, vs in VALUES.items() for v in vs]
    frame = pl.DataFrame(
        {"id": range(len(values)), "group": [g for g, _ in values], "y": [v for _, v in values],
         "w": 1.0}
    )  # fmt: skip

    def shown(guard, table=frame):
        request = {"method": "crosstab", "by": ["group"], "totals": ["y"]}
        answer = serve(table, guard).ask(request).frame
        assert answer["count"].null_count() == 0
        return {r["group"] for r in answer.iter_rows(named=True) if r["total y"] is None}

    shown.frame = frame
    return shown


def test_which_totals_are_withheld(shown):
    withheld = shown(DominanceRule(n=1, k=50.0))
    assert {"one", "negative"} <= withheld
    assert "even" not in withheld


def test_copies_do_not_help(shown):
    copies = pl.concat([shown.frame] * 4)
    assert shown(DominanceRule(n=1, k=50.0), copies) == shown(DominanceRule(n=1, k=50.0))


def test_tables_of_counts_are_not_concerned(serve, people):
    answer = serve(people, DominanceRule()).ask({"method": "crosstab", "by": ["sex"]})
    assert None not in answer.columns["count"]
