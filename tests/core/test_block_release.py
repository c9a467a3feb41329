"""A release beyond memory: risk of all records, utility of a sample, a bundle that streams."""

import json

import duckdb
import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core import block_release, engine_keys
from tacit.core.engine import collecting_at_most
from tacit.core.errors import WriteError

DATA = tacit.datasets.census(1200, missing=0.02).with_roles(keys=["region", "sex"])
PLAN = tacit.Plan(
    [mask.LocalSuppression(k=3, missing="strict"), mask.Mdav(columns=["income", "taxes"], k=3)]
)


@pytest.fixture(scope="module")
def release():
    data = tacit.Microdata.of(duckdb.from_arrow(DATA.frame.to_arrow())).with_schema(DATA.schema)
    return PLAN.apply(data, seed=2, blocks=200)


@pytest.fixture
def beyond(monkeypatch):
    """Make a small file count as one beyond memory."""
    monkeypatch.setattr(engine_keys, "MANY_RECORDS", 10)
    monkeypatch.setattr(block_release, "_SAMPLED", 300)
    with collecting_at_most(6000):
        yield


def test_a_sample_holds_records_with_their_own_originals(release, beyond):
    part = block_release.sampled(release)
    assert 200 <= part.original.n_records <= 400
    before, after = part.original.local, part.data.local
    assert before["weight"][part.rows].equals(after["weight"])


def test_risk_is_of_all_records_and_utility_of_the_sample(release, beyond):
    card = release.measure()
    with collecting_at_most(10**9):
        whole = release.measure()
    assert card["k-anonymity"].value == whole["k-anonymity"].value >= 3
    assert card["individual-risk"].value == pytest.approx(whole["individual-risk"].value)
    assert "sample of" in card["information-loss"].warnings[-1]
    assert "all records" in card.left_out["distance-linkage"]


def test_the_bundle_streams(release, beyond, tmp_path):
    folder = release.save(tmp_path / "out", format="parquet")
    written = pl.read_parquet(folder / "public/data.parquet")
    assert written.equals(release.frame.pl())
    assert "person_id" not in written.columns
    manifest = json.loads((folder / "dossier/manifest.json").read_text())
    assert manifest["blocks"] == 200
    assert manifest["output"]["records"] == 1200
    assert (folder / "dossier/report.html").stat().st_size > 1000
    assert (folder / "dossier").stat().st_mode & 0o077 == 0


def test_other_formats_are_refused_and_nothing_is_left(release, beyond, tmp_path):
    with pytest.raises(WriteError, match="parquet"):
        release.save(tmp_path / "out", format="excel")
    assert list(tmp_path.iterdir()) == []


def test_a_small_release_in_blocks_is_replayed(tmp_path):
    release = PLAN.apply(DATA, seed=2, blocks=200)
    folder = release.save(tmp_path / "out")
    assert tacit.replay(folder, DATA).reproduced
    assert np.array_equal(release.rows, np.arange(1200))
