"""Interval disclosure by hand; see source.md."""

import numpy as np
import polars as pl

from tacit import risk

BEFORE = pl.DataFrame({"x": np.arange(1.0, 21.0)})
AFTER = pl.DataFrame({"x": np.arange(1.0, 21.0).reshape(-1, 2)[:, ::-1].ravel()})


def test_rank_intervals():
    found = risk.IntervalDisclosure().measure(BEFORE, AFTER)
    assert found.text == "60 %"
    assert [found.details["by_width"][f"{p} %"] for p in (1, 4, 5, 9, 10)] == [0, 0, 1, 1, 1]


def test_intervals_by_standard_deviation():
    assert risk.IntervalDisclosure(interval="deviation").measure(BEFORE, AFTER).value == 0
    wide = risk.IntervalDisclosure(interval="deviation", widths=[16.8, 17])
    assert wide.measure(BEFORE, AFTER).details["by_width"] == {"16.8 %": 0.0, "17 %": 1.0}
