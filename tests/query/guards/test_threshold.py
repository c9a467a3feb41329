"""Cells of few units are withheld and look like empty ones."""

import numpy as np
import polars as pl

from tacit.query import Threshold


def sized():
    sizes = list(range(13))
    groups = [f"g{s:02}" for s in sizes for _ in range(s)]
    # A second variable makes room for empty cells.
    frame = pl.DataFrame({"id": np.arange(len(groups)), "group": groups, "w": 1.0})
    return frame.with_columns(half=pl.lit("x")), sizes


def test_the_limit_is_where_it_is(serve):
    frame, sizes = sized()
    answer = serve(frame, Threshold(minimum=5)).ask({"method": "crosstab", "by": ["group"]})
    shown = dict(zip(answer.columns["group"], answer.columns["count"], strict=True))
    assert shown == {f"g{s:02}": (s if s >= 5 else None) for s in sizes[1:]}


def test_units_are_counted_not_records(serve):
    frame, _ = sized()
    copied = pl.concat([frame] * 9)
    answer = serve(copied, Threshold(minimum=5)).ask({"method": "crosstab", "by": ["group"]})
    shown = dict(zip(answer.columns["group"], answer.columns["count"], strict=True))
    assert shown["g04"] is None
    assert shown["g05"] == 45


def test_the_limit_varies_upwards_only(serve):
    frame = pl.DataFrame(
        {"id": np.arange(3000), "group": [f"g{v // 6:03}" for v in range(3000)], "w": 1.0}
    )
    answer = serve(frame, Threshold(minimum=5, spread=3)).ask(
        {"method": "crosstab", "by": ["group"]}
    )
    share = np.mean([c is not None for c in answer.columns["count"]])
    # Cells of 6 pass if U, uniform on 0 to 3, is at most 1.
    assert 0.42 < share < 0.58


def test_totals_need_units_with_a_value(serve, people):
    few = people.with_columns(
        income=pl.when((pl.col("region") != "W") | (pl.col("id") < 25)).then(pl.col("income"))
    )
    request = {"method": "crosstab", "by": ["region"], "totals": ["income"]}
    table = serve(few, Threshold(minimum=10)).ask(request).frame
    west = table.filter(pl.col("region") == "W")
    assert west["count"].item() > 100
    assert west["total income"].item() is None
