"""Sums from the engine are those of the records, whatever the universe."""

import numpy as np
import polars as pl
import pytest

from tacit.query.engine import exponent
from tacit.query.keys import KEYS
from tacit.query.registration import Binned, register
from tacit.query.source import Source

SECRET = b"a long and secret phrase"


@pytest.fixture(scope="module")
def engine(people):
    return register(Source(people, unit="id", weight="w"), SECRET, Binned())[1]


def test_counts_and_keys(engine, people):
    found = engine.counts(("sex",), ({"region": (0,)}, {"ill": (1,)}))
    inside = people.filter((pl.col("region") == "N") | (pl.col("ill") == "yes"))
    order = np.argsort(found["codes"][:, 0])
    assert found["n"][order].tolist() == inside.group_by("sex").len().sort("sex")["len"].to_list()
    frame = engine.frame.collect().to_native()
    assert engine.counts(())["k1"][0] == frame[KEYS[0]].sum()
    assert engine.counts((), ({"region": ()},))["n"][0] == 0


def test_totals_and_largest(engine, people):
    found = engine.totals(("region",), "income")
    by = people.group_by("region").agg(
        pl.col("income").sum(), pl.col("income").top_k(3).sort(descending=True).alias("top")
    ).sort("region")  # fmt: skip
    order, scale = np.argsort(found["codes"][:, 0]), engine.scales["income"].plain
    total = np.ldexp(found["s_y"][order].astype(float), -scale)
    assert total.tolist() == pytest.approx(by["income"].to_list())
    top = np.stack([found[f"top{r}"][order] for r in (1, 2, 3)], axis=1)
    assert np.ldexp(top.astype(float), -scale) == pytest.approx(np.array(by["top"].to_list()))


def test_picks_are_the_smallest(engine):
    frame = engine.frame.collect().to_native()
    order = (frame[KEYS[0]] * 12345 + 678) % (2**31 - 1)
    expected = frame.with_columns(o=order).sort("o", KEYS[1]).head(4).select(*KEYS).to_numpy()
    assert engine.picked(({},), 4, 12345, 678).tolist() == expected.tolist()


def test_scales_never_overflow():
    for bound in (1e-9, 1.0, 1e6, 1e15, 1e30):
        for n in (1, 10**8):
            assert bound * n * 2.0 ** exponent(bound, n) <= 2**62
    assert exponent(0.0, 5) == 0


def gaps(frame):
    """Equal values, groups of one and two units, missing groups."""
    few = pl.DataFrame({"id": [9001, 9002, 9003], "region": ["X", "Y", "Y"]})
    return pl.concat([frame, few], how="diagonal").with_columns(
        pl.when(pl.col("id") % 7 == 0).then(None).otherwise(pl.col("region")).alias("region"),
        (pl.col("income").fill_null(5.0) / 1000).round(0),
        pl.col("w").fill_null(1.0),
    )


@pytest.mark.parametrize("by", [(), ("region",), ("sex", "region")])
def test_setting_records_aside_does_not_change_the_largest(people, by, monkeypatch):
    import duckdb

    table = gaps(people).select("id", "sex", "region", "income", "w")
    stored = duckdb.connect().from_arrow(table.to_arrow())
    given = {}
    for name, data, most in (("all", table, 10**9), ("few", table, 0), ("sql", stored, 0)):
        monkeypatch.setattr("tacit.query.engine._MANY", most)
        engine = register(Source(data, unit="id", weight="w"), SECRET, Binned())[1]
        found = engine.totals(by, "income")
        order = np.lexsort(found["codes"].T) if by else [0]
        given[name] = {key: values[order].tolist() for key, values in found.items()}
    assert given["all"] == given["few"] == given["sql"]
