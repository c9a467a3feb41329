"""A universe near an earlier one is answered as the earlier one."""

import polars as pl
import pytest

from tacit.query import Differencing

BY = {"method": "crosstab", "by": ["sex", "region"]}


@pytest.fixture
def flagged(people):
    def flagged(few):
        return people.with_columns(
            ill=pl.when(pl.col("id") < few).then(pl.lit("yes")).otherwise(pl.lit("no"))
        )

    return flagged


@pytest.mark.parametrize(("few", "snapped"), [(1, True), (4, True), (5, False), (40, False)])
def test_the_distance_is_where_it_is(serve, flagged, few, snapped):
    server = serve(flagged(few), Differencing(minimum=5))
    whole = server.ask(BY).columns
    rest = server.ask({**BY, "universe": {"ill": "no"}}).columns
    assert (whole == rest) == snapped
    again = server.ask({**BY, "universe": {"ill": "no"}}).columns
    assert rest == again


def test_the_other_order_snaps_too(serve, flagged):
    server = serve(flagged(2), Differencing(minimum=5))
    rest = server.ask({**BY, "universe": {"ill": "no"}})
    assert server.ask(BY).columns == rest.columns
    assert sum(rest.columns["count"]) == 1998


def test_refusing_instead(serve, flagged):
    server = serve(flagged(2), Differencing(minimum=5, near="refuse"))
    server.ask(BY)
    assert server.ask({**BY, "universe": {"ill": "no"}}).rule == "differencing"
    assert not server.ask(BY).is_refusal
