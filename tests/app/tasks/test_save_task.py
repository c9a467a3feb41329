"""Approved versions as tables of a database."""

import shutil

import duckdb
import pytest

from tacit.app.permissions import ConflictError, NotAllowedError, NotFoundError


@pytest.fixture
def address(tmp_path, parts, worker):
    """A database that the administrator allows."""
    found = f"duckdb:///{tmp_path / 'out.duckdb'}"
    for each in (parts.versions, worker):
        each.settings = each.settings.replace(databases=(found,))
    return found


def _saved(parts, people, worker, asked):
    owner = people["custodian"]
    job = parts.jobs.submit(owner, asked.pop("project"), "save", asked)
    worker.step()
    return parts.jobs.show(owner, job)


def test_an_approved_version_becomes_a_table_once(
    parts, people, project, masked, worker, address, tmp_path
):
    parts.versions.decide(people["reviewer"], masked, approve=True)
    asked = parts.versions.to_save(people["custodian"], masked, address, " people ")
    shown = _saved(parts, people, worker, dict(asked))
    assert shown["state"] == "done", shown["message"]
    with duckdb.connect(str(tmp_path / "out.duckdb")) as found:
        sizes = found.sql("select count(*) from people group by income").fetchall()
    assert sum(size for (size,) in sizes) == 80
    assert min(sizes) >= (3,)  # groups of three at least share an income
    again = _saved(parts, people, worker, dict(asked))
    assert again["state"] == "failed"
    assert "exists already" in again["message"]
    history = parts.projects.history(people["custodian"], project)
    assert "version saved to a table" in [event["what"] for event in history]


def test_every_data_set_becomes_a_table(parts, people, project, masked, worker, address, tmp_path):
    public = parts.versions.folder(project, masked) / "public"
    shutil.copy(public / "data.parquet", public / "data-2.parquet")
    parts.versions.decide(people["reviewer"], masked, approve=True)
    asked = parts.versions.to_save(people["custodian"], masked, address, "people")
    shown = _saved(parts, people, worker, dict(asked))
    assert shown["result"]["tables"] == ["people", "people_2"]
    with duckdb.connect(str(tmp_path / "out.duckdb")) as found:
        assert found.sql("select count(*) from people_2").fetchall() == [(80,)]


def test_what_is_not_approved_is_not_saved(parts, people, masked, address):
    with pytest.raises(ConflictError, match="approved"):
        parts.versions.to_save(people["custodian"], masked, address, "people")
    parts.versions.decide(people["reviewer"], masked, approve=False)
    with pytest.raises(ConflictError, match="approved"):
        parts.versions.to_save(people["custodian"], masked, address, "people")


def test_the_worker_looks_again_whether_it_is_approved(
    parts, people, project, masked, worker, address, tmp_path
):
    asked = {"project": project, "version": masked, "url": address, "table": "people"}
    assert _saved(parts, people, worker, asked)["state"] == "failed"
    assert not (tmp_path / "out.duckdb").exists()


def test_only_allowed_databases_and_only_by_those_inside(parts, people, masked, address):
    with pytest.raises(NotAllowedError):
        parts.versions.to_save(people["custodian"], masked, "postgresql://elsewhere/x", "people")
    with pytest.raises(NotAllowedError):
        parts.versions.to_save(people["reviewer"], masked, address, "people")
    with pytest.raises(NotFoundError):
        parts.versions.to_save(people["stranger"], masked, address, "people")
