"""Intervals hold the truth, and the truth is nowhere in the server."""

import numpy as np
import polars as pl

from tacit.query.camouflaged import CamouflageRule, camouflaged
from tacit.query.source import Source


def test_intervals_hold_the_truth(serve, people):
    server = serve(people, policy="camouflage")
    for universe in ({}, {"sex": "f"}, {"region": "W", "ill": "yes"}):
        request = {"method": "crosstab", "by": ["sex"], "totals": ["income"], "universe": universe}
        table = server.ask(request).frame
        inside = people.filter(*(pl.col(n) == v for n, v in universe.items()))
        for row in table.iter_rows(named=True):
            true = inside.filter(pl.col("sex") == row["sex"])["income"].sum()
            if row["total income from"] is not None:
                assert row["total income from"] <= true <= row["total income to"]
    means = server.ask({"method": "summary", "numbers": ["income"], "weighted": True}).frame
    true = np.average(people["income"], weights=people["w"])
    assert means["mean from"].item() <= true <= means["mean to"].item()


def test_the_truth_is_gone(people):
    source, vectors = camouflaged(
        Source(people, unit="id", weight="w"), CamouflageRule(), np.random.default_rng(1)
    )
    assert "income" not in source.microdata.columns
    assert set(vectors) == {"age", "income"}
    strata = [source.microdata.local.select(names).to_numpy() for names in vectors["income"]]
    assert len(strata) == 4
    width = sum(hidden.max(axis=1) - hidden.min(axis=1) for hidden in strata)
    assert (width >= 0.2 * people["income"].to_numpy() * (1 - 1e-9)).all()


def test_conditions_on_hidden_numbers_are_refused(serve, people):
    server = serve(people, policy="camouflage")
    request = {"method": "crosstab", "by": ["sex"], "universe": {"income": [{"to": 1000}]}}
    assert server.ask(request).rule == "request"
    assert server.ask({"method": "crosstab", "by": ["income"]}).rule == "request"
