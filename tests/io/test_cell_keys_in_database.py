"""Cell keys are added up inside the database and give what they give in memory."""

import numpy as np
import pytest

import tacit
from tacit import tables

pytestmark = pytest.mark.postgres


def test_postgresql_publishes_what_polars_and_duckdb_do(postgres, tmp_path):
    keyed = tables.with_record_keys(
        tacit.datasets.census(2000, seed=3), "a long and secret phrase", unit="person_id"
    ).local
    postgres.run("DROP TABLE IF EXISTS people")
    tacit.write(keyed, postgres.url, table="people")
    path = tmp_path / "people.parquet"
    keyed.write_parquet(path)
    import duckdb

    engines = {
        "polars": keyed,
        "duckdb": duckdb.read_parquet(str(path)),
        "postgresql": tacit.read(postgres.url, table="people"),
    }
    options = {"by": ["region", "education", "sex"], "weights": None, "keys": ["rk1", "rk2"]}
    found = {name: tacit.tabulate(frame, **options) for name, frame in engines.items()}
    sums = [table.key_sums["rk1"].tolist() for table in found.values()]
    assert sums[0] == sums[1] == sums[2]
    counts = [t.protect(tables.CellKey()).published.tolist() for t in found.values()]
    assert counts[0] == counts[1] == counts[2]
    totals = [
        tacit.tabulate(frame, value="income", **options)
        .protect(tables.CellKeyMagnitude())
        .published
        for frame in engines.values()
    ]
    for other in totals[1:]:
        np.testing.assert_allclose(other, totals[0], rtol=1e-12)
