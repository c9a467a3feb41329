"""Workers: what they keep, what they refuse, what survives their death."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tacit.app.jobs import Jobs
from tacit.app.running import environment
from tacit.app.store.records import Job
from tacit.app.worker import Cancelled, Heart


@pytest.fixture
def hasty(settings):
    """Settings by which a worker is given up after half a second of silence."""
    return settings.replace(heartbeat_seconds=0.1)


def test_a_version_is_made_with_its_bundle(parts, people, project, masked):
    folder = parts.versions.folder(project, masked)
    assert {p.name for p in folder.iterdir()} == {"public", "dossier"}
    assert (folder / "public" / "data.parquet").is_file()


def test_a_job_that_is_refused_fails_with_its_reason_and_keeps_nothing(
    parts, people, project, worker
):
    asked = {"name": "v", "plan": [{"method": "mdav", "columns": ["salary"]}]}
    job = parts.jobs.submit(people["custodian"], project, "generate", asked)
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "salary" in shown["message"]
    assert parts.versions.of_project(people["custodian"], project) == []
    assert not (parts.projects.folder(project) / "versions").exists()


def test_an_unforeseen_error_tells_no_value(parts, people, project, worker, monkeypatch, caplog):
    from tacit.core.plan import Plan

    def broken(*_a, **_k):
        raise RuntimeError("income of P00000001 is 14991.52")

    monkeypatch.setattr(Plan, "apply", broken)
    asked = {"name": "v", "plan": []}
    job = parts.jobs.submit(people["custodian"], project, "generate", asked)
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "14991" not in str(shown)
    assert "14991" not in caplog.text


def test_an_unknown_kind_of_job_fails(parts, people, project, worker):
    job = parts.jobs.submit(people["custodian"], project, "../os", {})
    worker.step()
    assert parts.jobs.show(people["custodian"], job)["state"] == "failed"


def test_progress_of_methods_stops_a_cancelled_job(parts, people, project, hasty):
    job_id = parts.jobs.submit(people["custodian"], project, "generate", {})
    job = parts.jobs.claim("one")
    parts.jobs.cancel(people["custodian"], job_id)

    def work():
        with heart.task("work", 6000) as advance:
            for _ in range(6000):
                advance(1)
                time.sleep(0.01)

    with Heart(Jobs(parts.store, hasty), job, "one") as heart, pytest.raises(Cancelled):
        work()


def test_progress_is_that_of_the_outer_tasks_and_words_change_slowly(parts, people, project):
    parts.jobs.submit(people["custodian"], project, "generate", {})
    heart = Heart(parts.jobs, parts.jobs.claim("one"), "one")
    assert (heart.title, heart.progress) == ("", 0.0)
    with heart.task("outer", 2) as outer:
        with heart.task("part", 4) as part, heart.task("detail", 1) as detail:
            part(1)
            detail(1)
            assert (heart.title, heart.progress) == ("part", 0.125)
        outer(1)
        assert (heart.title, heart.progress) == ("outer", 0.5)
    with heart.task("looking", None), heart.task("part", 4) as part:
        part(1)
        assert (heart.title, heart.progress) == ("looking", 0.0)


_STUCK = """
import time
from tacit.app import versions, worker
versions.Versions.add = lambda *_: time.sleep(600)
worker.main()
"""
"""A worker that stays just before the store is told of what it made."""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_kill_9_during_generate_loses_nothing_and_the_next_worker_finishes(
    parts, people, hasty, project
):
    """The worker is killed when its release is whole on the disk and not yet in the store."""
    owner = people["custodian"]
    plan = [
        {"method": "mdav", "columns": ["income", "taxes"], "k": 3},
        {"method": "local-suppression", "k": 3},
    ]
    job = parts.jobs.submit(owner, project, "generate", {"name": "v", "plan": plan, "seed": 3})

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, *arguments], env=environment(hasty), stderr=subprocess.DEVNULL
        )

    versions = parts.projects.folder(project) / "versions"
    first = start("-c", _STUCK)
    _wait(lambda: versions.is_dir() and _whole(versions))
    assert parts.jobs.show(owner, job)["state"] == "running"
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert parts.versions.of_project(owner, project) == []
    second = start("-m", "tacit.app.worker")
    try:
        _wait(lambda: parts.jobs.show(owner, job)["state"] not in ("queued", "running"))
    finally:
        second.terminate()
        second.wait(60)
    shown = parts.jobs.show(owner, job)
    assert shown["state"] == "done", shown["message"]
    (made,) = parts.versions.of_project(owner, project)
    assert [p.name for p in versions.iterdir()] == [made["id"]]
    with parts.store.read() as connection:
        assert connection.get(Job, job).attempts == 2


def _whole(versions):
    return [p.name for p in versions.iterdir() if not p.name.startswith(".")]


def _wait(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
