"""Tables are added up inside the database: the same as from the records in memory."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.tables import _leaves

pytestmark = pytest.mark.postgres
REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"]}
OPTIONS = {
    "plain": {},
    "counts": {"value": None},
    "weighted": {"weights": "w"},
    "units": {"unit": "unit", "holding": "holding", "request": "asks", "weights": "w"},
}  # fmt: skip


def records(n=400):
    rng = np.random.default_rng(3)
    missing = rng.random(n) < 0.1
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S"], n),
            "año": rng.choice([2019, 2020], n),
            "flag": rng.random(n) < 0.5,
            "x": rng.integers(-10, 60, n).astype(float),
            "y": rng.integers(0, 9, n),
            "w": rng.integers(2, 30, n) / 4,
            "unit": rng.choice([f"ü{i}" for i in range(n // 3)], n),
            "holding": rng.integers(0, n // 6, n),
            "asks": rng.random(n) < 0.2,
        }
    )
    return frame.with_columns(
        pl.when(~pl.Series(missing)).then(pl.col("holding")).alias("holding"),
        pl.when(~pl.Series(missing)).then(pl.col("flag")).alias("flag"),
    )


@pytest.fixture(params=["postgresql", "sqlite"])
def stored(request, tmp_path):
    """The records in a database, read back as a table that stays there."""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").url
    else:
        url = f"sqlite:///{tmp_path / 'records.db'}"
    frame = records() if request.param == "postgresql" else records().drop("flag")
    tacit.write(frame, url, table="records", force=True)
    return tacit.read(url, table="records"), frame


@pytest.mark.parametrize(
    ("options", "sieved"),
    [("plain", True), ("counts", False), ("weighted", False), ("units", False), ("units", True)],
)
def test_the_same_table_as_in_memory(stored, options, sieved, monkeypatch):
    data, frame = stored
    by = ["region", "año", *(["flag"] if "flag" in frame.columns else [])]
    arguments = {
        "by": by, "value": "x", "hierarchies": {"region": REGIONS}, "missing": "own category",
        **OPTIONS[options],
    }  # fmt: skip
    expected = tacit.tabulate(frame, **arguments)
    if sieved:
        monkeypatch.setattr(_leaves, "SIEVE_FROM", 0)
    found = tacit.tabulate(data, **arguments)
    assert found.dimensions == expected.dimensions
    np.testing.assert_allclose(found.value, expected.value)
    assert found.count.tolist() == expected.count.tolist()
    for kind in ("respondents", "holdings"):
        one, other = getattr(found, kind), getattr(expected, kind)
        assert (one is None) == (other is None)
        if other is not None:
            assert one.n_units.tolist() == other.n_units.tolist()
            np.testing.assert_allclose(one.absolute, other.absolute)
            np.testing.assert_allclose(np.abs(one.top), np.abs(other.top))
