"""A cell near an earlier one has the earlier one's value, whatever the universes."""

import polars as pl
import pytest

from tacit.query import CellKeyNoise, NearCells


@pytest.fixture
def flagged(people):
    few = people.filter(pl.col("region") == "W")["id"].head(2).to_list()
    rest = pl.when(pl.col("id") % 2 == 0).then(pl.lit("yes")).otherwise(pl.lit("no"))
    west = pl.when(pl.col("id").is_in(few)).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return people.with_columns(ill=pl.when(pl.col("region") == "W").then(west).otherwise(rest))


def test_near_cells_have_one_value(serve, flagged, count):
    request = {"method": "crosstab", "by": ["region"], "totals": ["income"]}
    answers = []
    for guards in ((NearCells(minimum=5), CellKeyNoise()), (CellKeyNoise(),)):
        server = serve(flagged, *guards)
        pair = [server.ask(request), server.ask({**request, "universe": {"ill": "no"}})]
        west = [(count(a, region="W"), count(a, "total income", region="W")) for a in pair]
        north = [count(a, region="N") for a in pair]
        assert north[1] < north[0] - 100
        answers.append(west)
    assert answers[0][0] == answers[0][1]
    assert answers[1][0] != answers[1][1]


def test_a_withheld_cell_stays_withheld(serve, people):
    from tacit.query import Threshold

    frame = people.with_columns(
        region=pl.when(pl.col("id") < 10).then(pl.lit("X")).otherwise(pl.col("region")),
        ill=pl.when(pl.col("id") == 0).then(pl.lit("yes")).otherwise(pl.lit("no")),
    )
    server = serve(frame, NearCells(minimum=5), Threshold(minimum=10))
    table = {"method": "crosstab", "by": ["region"]}
    first = server.ask({**table, "universe": {"ill": "no"}}).frame.filter(pl.col("region") == "X")
    second = server.ask(table).frame.filter(pl.col("region") == "X")
    assert first["count"].item() is None
    assert second["count"].item() is None


def test_weighted_and_plain_totals_are_remembered_apart(serve, people):
    """Either may be asked first; neither is answered as the other."""
    requests = [
        {"method": "crosstab", "by": ["sex"], "totals": ["income"], "weighted": weighted}
        for weighted in (False, True)
    ]
    exact = [serve(people).ask(request).columns["total income"] for request in requests]
    for order in (requests, requests[::-1]):
        server = serve(people, NearCells(minimum=5))
        given = {r["weighted"]: server.ask(r).columns["total income"] for r in order}
        assert [given[False], given[True]] == exact
