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
