"""What dead workers leave behind, and what must stay."""

import os
import time
from datetime import timedelta

import pytest
from sqlalchemy import update

from tacit.app.jobs import Cancelled, TakenOverError, settle
from tacit.app.store.records import Job, Version, new_id, now
from tacit.app.tidying import tidy


@pytest.fixture
def leftovers(parts, project, masked):
    """Things that a worker may leave when it dies."""
    folder = parts.projects.folder(project)
    made = [
        folder / "versions" / ("0" * 32),
        folder / "versions" / ".0.tmp",
        folder / "data" / ".d",
    ]
    for path in made:
        path.mkdir()
        (path / "half").write_text("x")
    other = folder / "data" / "new.parquet"
    other.write_text("x")
    return [*made, other]


def _present(parts, project):
    folder = parts.projects.folder(project)
    return sorted(p.name for part in ("versions", "data") for p in (folder / part).iterdir())


def test_what_nothing_refers_to_goes_and_all_else_stays(parts, people, project, masked, leftovers):
    digest = parts.projects.show(people["custodian"], project)["data"]["digest"]
    tidy(parts.store, parts.settings, project)
    assert _present(parts, project) == sorted([masked, f"{digest}.parquet"])
    assert parts.versions.page(people["custodian"], masked)["total"] == 80
    assert parts.projects.page(people["custodian"], project)["total"] == 80


def test_nothing_goes_while_a_job_is_at_work(parts, people, project, masked, leftovers):
    parts.jobs.submit(people["custodian"], project, "generate", {"name": "x"})
    parts.jobs.claim("one")
    tidy(parts.store, parts.settings, project)
    assert all(path.exists() for path in leftovers)


def test_uploads_wait_for_their_job(parts, people, project, masked):
    incoming = parts.projects.folder(project) / "incoming"
    for name in ("asked.csv", "old.csv", "new.csv"):
        (incoming / name).write_text("a\n1\n")
    for name in ("asked.csv", "old.csv"):
        os.utime(incoming / name, (time.time() - 1e6,) * 2)
    asked = {"name": "a", "file": "asked.csv"}
    parts.jobs.submit(people["custodian"], project, "import", asked)
    tidy(parts.store, parts.settings, project)
    assert sorted(p.name for p in incoming.iterdir()) == ["asked.csv", "new.csv"]


def test_a_project_that_is_gone_has_nothing_to_tidy(parts):
    tidy(parts.store, parts.settings, "0" * 32)


def _version(project, people, name="late"):
    owner = people["custodian"].id
    return Version(id=new_id(), project_id=project, kind="masked", name=name, made_by=owner)


def test_a_worker_that_was_given_up_keeps_nothing(parts, people, project):
    """It comes back when another has its job: neither a version nor an end of the job."""
    job_id = parts.jobs.submit(people["custodian"], project, "generate", {"name": "x"})
    slow = parts.jobs.claim("slow")
    with parts.store.begin() as connection:
        connection.execute(update(Job).values(heartbeat=now() - timedelta(minutes=5)))
    parts.jobs.revive()
    quick = parts.jobs.claim("quick")
    with pytest.raises(TakenOverError):
        parts.versions.add(slow, [_version(project, people)], {})
    parts.versions.add(quick, [_version(project, people)], {"version": "x"})
    assert len(parts.versions.of_project(people["custodian"], project)) == 1
    shown = parts.jobs.show(people["custodian"], job_id)
    assert (shown["state"], shown["result"], shown["progress"]) == ("done", {"version": "x"}, 1.0)


def test_the_end_of_a_job_and_what_it_made_are_one(parts, people, project, masked):
    """A name that was taken meanwhile takes back the end of the job too."""
    job_id = parts.jobs.submit(people["custodian"], project, "generate", {"name": "x"})
    job = parts.jobs.claim("one")
    both = [_version(project, people), _version(project, people, "Version 1")]
    with pytest.raises(Exception, match="choose another"):
        parts.versions.add(job, both, {})
    assert parts.jobs.show(people["custodian"], job_id)["state"] == "running"
    assert len(parts.versions.of_project(people["custodian"], project)) == 1


def test_a_job_cancelled_at_the_last_moment_keeps_nothing(parts, people, project):
    job_id = parts.jobs.submit(people["custodian"], project, "generate", {"name": "x"})
    job = parts.jobs.claim("one")
    parts.jobs.cancel(people["custodian"], job_id)
    with pytest.raises(Cancelled), parts.store.begin() as connection:
        settle(connection, job, {})
    assert parts.jobs.show(people["custodian"], job_id)["state"] == "running"
