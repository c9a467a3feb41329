"""Query logs as jobs: at least k users look alike, or nothing is kept."""

import pytest

import tacit
from tacit import logs
from tacit.app.tasks.log_task import taxonomies, taxonomy_of
from tacit.core.errors import ParameterError


@pytest.fixture
def log_project(parts, people, project, worker):
    """The project, with a made-up log as its data."""
    incoming = parts.projects.folder(project) / "incoming"
    tacit.datasets.query_log(60).local.write_csv(incoming / "log.csv")
    asked = {"name": "log.csv", "file": "log.csv"}
    parts.jobs.submit(people["custodian"], project, "import", asked)
    worker.step()
    return project


def _protected(parts, people, project, worker, **more):
    asked = {"name": "log 1", "columns": {"user": "user", "query": "query"}, "levels": 5, "k": 3}
    job = parts.jobs.submit(people["custodian"], project, "log", {**asked, **more})
    worker.step()
    return parts.jobs.show(people["custodian"], job)


def test_a_protected_log_is_kept_with_its_measurements(parts, people, log_project, worker):
    shown = _protected(parts, people, log_project, worker)
    assert shown["state"] == "done", shown["message"]
    (version,) = parts.versions.of_project(people["reviewer"], log_project)
    assert version["kind"] == "log"
    assert version["measurements"]["log"][0]["value"] >= 3
    made = parts.versions.file(people["custodian"], version["id"], "public", "log.txt")
    protected = logs.read(made).frame
    same = (
        protected.group_by("user")
        .agg("query")
        .with_columns(
            protected.group_by("user").agg("query")["query"].list.sort().list.join("|").alias("all")
        )
    )
    assert same.group_by("all").len()["len"].min() >= 3


def test_more_alike_than_there_are_users_keeps_nothing(parts, people, log_project, worker):
    shown = _protected(parts, people, log_project, worker, k=500)
    assert shown["state"] == "failed"
    assert "bug" not in shown["message"]
    assert parts.versions.of_project(people["custodian"], log_project) == []


def test_taxonomies_are_those_of_the_administrator(settings, parts):
    assert taxonomies(settings) == ["demonstration"]
    folder = settings.folder / "taxonomies"
    folder.mkdir()
    (folder / "own.csv").write_text("term,category\nbread,Home/Cooking\n")
    assert taxonomies(settings) == ["demonstration", "own.csv"]
    assert taxonomy_of(settings, "own.csv").categories_of("bread")
    for name in ("../store.sqlite", "/etc/hostname", "other.csv"):
        with pytest.raises(ParameterError, match="no such taxonomy"):
            taxonomy_of(settings, name)
