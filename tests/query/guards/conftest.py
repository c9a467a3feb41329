"""A table of totals of which single units make up more or less."""

import polars as pl
import pytest

VALUES = {
    "even": [10.0] * 10,
    "one": [1000.0] + [1.0] * 9,
    "two": [500.0, 450.0] + [1.0] * 8,
    "negative": [-1000.0] + [1.0] * 9,
    "nothing": [0.0] * 10,
}


@pytest.fixture
def withheld(serve):
    """Return a function that says whose totals a guard withholds, and the records."""
    values = [(g, v) for g, vs in VALUES.items() for v in vs]
    frame = pl.DataFrame(
        {"id": range(len(values)), "group": [g for g, _ in values], "y": [v for _, v in values],
         "w": 1.0}
    )  # fmt: skip

    def withheld(guard, table=frame):
        request = {"method": "crosstab", "by": ["group"], "totals": ["y"]}
        answer = serve(table, guard).ask(request).frame
        assert answer["count"].null_count() == 0
        return {r["group"] for r in answer.iter_rows(named=True) if r["total y"] is None}

    withheld.frame = frame
    return withheld
