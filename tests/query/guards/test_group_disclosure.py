"""Lines that are nearly all in one category are withheld, their margin is not."""

import polars as pl

from tacit.query import GroupDisclosure


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
