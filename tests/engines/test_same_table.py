"""Every kind of table gives the same cells, contributors and keys on every engine."""

import numpy as np
import polars as pl
import pytest
from tests.engines.everywhere import ENGINES, on_every_engine

import tacit
from tacit import tables

HIERARCHIES = {
    "region": {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2", "S3"]},
    "nace": [
        {"Total": ["A", "B"], "A": ["1", "2"], "B": ["3", "4"]},
        {"Total": ["odd", "even"], "odd": ["1", "3"], "even": ["2", "4"]},
    ],
}
UNITS = {"unit": "unit", "holding": "holding", "request": "asks"}
TABLES = {
    "counts": {"value": None},
    "weighted counts": {"value": None, "weights": "w"},
    "totals": {},
    "weighted totals": {"weights": "w", "sums": ["y"]},
    "units": UNITS,
    "all": {**UNITS, "weights": "w", "sums": ["y"], "shadow": "y", "cost": "y"},
    "keys": {"keys": ["rk1", "rk2"]},
    "missing codes": {"by": ["region", "hole"], "missing": "own category"},
}


def records(n=300):
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], n),
            "nace": rng.choice(["1", "2", "3", "4"], n),
            "hole": rng.choice(["ü", "v", None], n),
            "x": rng.integers(-20, 30, n).astype(float),
            "y": rng.integers(0, 9, n).astype(float),
            "w": rng.integers(2, 40, n) / 4,
            "unit": rng.choice([f"ü{i}" for i in range(n // 2)], n),
            "holding": rng.integers(0, n // 4, n),
            "asks": rng.random(n) < 0.2,
        }
    )
    return tables.with_record_keys(frame, "a long and secret phrase", unit="unit")


DATA = records()
FEW = ("weighted totals", "keys")
"""Tables that Spark makes in every run; the rounds of queries that units need take it long."""


def tabulated(data, kind):
    options = {"by": ["region", "nace"], "value": "x", **TABLES[kind]}
    known = {name: h for name, h in HIERARCHIES.items() if name in options["by"]}
    return tacit.tabulate(data, hierarchies=known, **options)


def check(kind, enter):
    found, expected = tabulated(enter(DATA), kind), tabulated(DATA, kind)
    assert found.dimensions == expected.dimensions
    assert found.count.tolist() == expected.count.tolist()
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    for name, sums in expected.key_sums.items():
        assert found.key_sums[name].tolist() == sums.tolist()
    for name, sums in expected.sums.items():
        np.testing.assert_allclose(found.sums[name], sums, atol=1e-9)
    for who in ("respondents", "holdings"):
        one, other = getattr(found, who), getattr(expected, who)
        assert (one is None) == (other is None)
        if other is not None:
            assert one.n_units.tolist() == other.n_units.tolist()
            np.testing.assert_allclose(one.absolute, other.absolute, atol=1e-9)
            np.testing.assert_allclose(np.abs(one.top), np.abs(other.top))


@pytest.mark.parametrize("kind", TABLES)
@on_every_engine([e for e in ENGINES if e != "spark"])
def test_every_table_on_every_engine(kind, enter):
    check(kind, enter)


@pytest.mark.parametrize(
    "kind", [pytest.param(t, marks=[] if t in FEW else pytest.mark.slow) for t in TABLES]
)
@on_every_engine(["spark"])
def test_every_table_on_spark(kind, enter):
    check(kind, enter)
