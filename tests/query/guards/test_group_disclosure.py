"""Lines that are nearly all in one category are withheld, their margin is not."""

import numpy as np
import polars as pl

from tacit.query import GroupDisclosure, Threshold


def test_lines_and_margins(serve, people):
    frame = people.with_columns(
        ill=pl.when(pl.col("region") == "W").then(pl.lit("no")).otherwise(pl.col("ill"))
    )
    request = {"method": "crosstab", "by": ["region", "ill"], "margins": True}
    table = serve(frame, GroupDisclosure(minimum=3)).ask(request).frame
    west = table.filter(pl.col("region") == "W")
    assert dict(zip(west["ill"], west["count"], strict=True)) == {
        "no": None, "yes": None, "total": int((people["region"] == "W").sum())
    }  # fmt: skip
    north = table.filter(pl.col("region") == "N")
    assert north["count"].null_count() == 0


def test_a_few_others_do_not_hide_it(serve, people):
    ids = people.filter(pl.col("region") == "W")["id"].head(2).to_list()
    for minimum, withheld in ((3, True), (2, False)):
        ill = pl.when(pl.col("id").is_in(ids)).then(pl.lit("yes")).otherwise(pl.lit("no"))
        frame = people.with_columns(
            ill=pl.when(pl.col("region") == "W").then(ill).otherwise(pl.col("ill"))
        )
        table = (
            serve(frame, GroupDisclosure(minimum=minimum))
            .ask({"method": "crosstab", "by": ["region", "ill"]})
            .frame
        )
        west = table.filter(pl.col("region") == "W")["count"].to_list()
        assert (west == [None, None]) == withheld


def test_with_a_spread_a_line_is_withheld_just_when_its_small_cell_is(serve, people):
    """So a withheld line is no second look at the small cell."""
    guards = (GroupDisclosure(minimum=5, spread=10), Threshold(minimum=5, spread=10))
    rng = np.random.default_rng(3)
    group = np.arange(2000) // 40
    ill = np.where(np.arange(2000) % 40 < rng.integers(4, 18, 50)[group], "yes", "no")
    frame = people.with_columns(region=pl.Series([f"r{g}" for g in group]), ill=pl.Series(ill))
    request = {"method": "crosstab", "by": ["region", "ill"]}
    table = serve(frame, *guards).ask(request).frame.pivot(on="ill", index="region", values="count")
    assert table["yes"].is_null().to_list() == table["no"].is_null().to_list()
    assert 0 < table["yes"].null_count() < 50
