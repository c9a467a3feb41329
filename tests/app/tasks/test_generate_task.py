"""Making masked versions."""

import polars as pl

import tacit
from tacit.app.projects import Projects
from tacit.app.store.records import Project


def test_the_version_is_what_the_library_gives_with_the_same_seed(parts, people, project, masked):
    with parts.store.read() as connection:
        found = connection.get(Project, project)
    data = Projects(parts.store, parts.settings).microdata(found)
    plan = tacit.Plan(found.plan)
    here = plan.apply(data, seed=1).data.local
    public = parts.versions.folder(project, masked) / "public" / "data.parquet"
    assert pl.read_parquet(public).equals(here.select(pl.read_parquet(public).columns))


def test_a_name_taken_meanwhile_is_refused_and_leaves_no_folder(
    parts, people, project, masked, worker
):
    job = parts.jobs.submit(
        people["custodian"], project, "generate", {"name": "VERSION 1", "plan": []}
    )
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "choose another" in shown["message"]
    versions = parts.projects.folder(project) / "versions"
    assert [p.name for p in versions.iterdir()] == [masked]
