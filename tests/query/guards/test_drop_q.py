"""A few records are left out: the same for the same units, per block if asked."""

import numpy as np
import polars as pl
import pytest

from tacit.query import DropQ

TABLE = {"method": "crosstab", "by": ["region", "sex"], "margins": True}


@pytest.mark.parametrize("k", [2, 5, 9])
def test_two_to_k_records_go(serve, people, count, k):
    server = serve(people, DropQ(k=k))
    for universe in ({}, {"sex": "f"}, {"ill": "yes"}):
        kept = count(server.ask({**TABLE, "universe": universe}), region="total", sex="total")
        parts = [pl.col(n) == v for n, v in universe.items()]
        lost = people.filter(*parts).height - kept
        assert 2 <= lost <= k


def test_the_same_units_lose_the_same_records(serve, people):
    server = serve(people, DropQ(k=5))
    one = server.ask({**TABLE, "universe": {"sex": ["f", "m"]}})
    assert one.columns == server.ask(TABLE).columns


def test_margins_stay_additive(serve, people):
    table = serve(people, DropQ(k=9)).ask(TABLE).frame
    inner = table.filter((pl.col("region") != "total") & (pl.col("sex") != "total"))["count"].sum()
    whole = table.filter((pl.col("region") == "total") & (pl.col("sex") == "total"))["count"].item()
    assert inner == whole


def test_q_is_uniform(serve, people, count):
    frame = people.with_columns(region=pl.Series([f"g{v % 100:02}" for v in range(2000)]))
    server = serve(frame, DropQ(k=5))
    lost = [
        20
        - count(
            server.ask({**TABLE, "universe": {"region": f"g{v:02}"}}), region="total", sex="total"
        )
        for v in range(100)
    ]
    sizes = np.bincount(lost, minlength=6)
    assert sizes[:2].sum() == 0
    assert sizes[2:].min() >= 12


def test_every_block_loses_its_own(serve, people, count):
    answer = serve(people, DropQ(k=5, block="region")).ask(TABLE)
    for region in ("N", "S", "W"):
        lost = int((people["region"] == region).sum()) - count(answer, region=region, sex="total")
        assert 2 <= lost <= 5


def test_totals_lose_the_same_records(serve, people):
    request = {"method": "crosstab", "by": ["sex"], "totals": ["income"], "margins": True}
    dropped, whole = (serve(people, *g).ask(request).frame for g in ((DropQ(k=5),), ()))
    lost = whole["total income"] - dropped["total income"]
    assert 0 < lost[-1] < people["income"].sort(descending=True).head(5).sum() + 1
