"""Jobs: asked for once, done once, never lost."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from tacit.app.permissions import NotAllowedError, NotFoundError
from tacit.app.store.records import Job, now


def _submit(parts, people, project, **more):
    return parts.jobs.submit(people["custodian"], project, "generate", {"name": "x"}, **more)


def test_the_same_key_is_the_same_job_for_the_same_person_only(parts, people, project):
    first = _submit(parts, people, project, key="a")
    assert _submit(parts, people, project, key="a") == first
    assert _submit(parts, people, project, key="b") != first


def test_a_job_is_claimed_once(parts, people, project):
    job = _submit(parts, people, project)
    assert parts.jobs.claim("one").id == job
    assert parts.jobs.claim("two") is None


def test_others_neither_see_nor_cancel_nor_submit(parts, people, project):
    job = _submit(parts, people, project)
    for who, error in (("stranger", NotFoundError), ("analyst", NotFoundError),
                       ("reviewer", NotAllowedError)):  # fmt: skip
        for attempt in (parts.jobs.show, parts.jobs.cancel):
            with pytest.raises(error):
                attempt(people[who], job)
        with pytest.raises(error):
            parts.jobs.submit(people[who], project, "generate", {})


def test_a_cancelled_job_in_the_queue_is_not_done(parts, people, project):
    job = _submit(parts, people, project)
    parts.jobs.cancel(people["custodian"], job)
    assert parts.jobs.claim("one") is None
    assert parts.jobs.show(people["custodian"], job)["state"] == "cancelled"


def test_the_heart_hears_that_a_running_job_is_cancelled(parts, people, project):
    job = _submit(parts, people, project)
    parts.jobs.claim("one")
    assert parts.jobs.beat(job, "one", 0.5, "half")
    assert parts.jobs.show(people["custodian"], job)["progress"] == 0.5
    parts.jobs.cancel(people["custodian"], job)
    assert not parts.jobs.beat(job, "one", 0.6, "more")


def test_the_job_of_a_dead_worker_is_tried_again_and_then_failed(parts, people, project, settings):
    job = _submit(parts, people, project)
    for attempt in range(settings.job_attempts):
        assert parts.jobs.claim(f"worker {attempt}").attempts == attempt + 1
        assert parts.jobs.revive() == []
        with parts.store.begin() as connection:
            connection.execute(update(Job).values(heartbeat=now() - timedelta(minutes=5)))
        assert parts.jobs.revive() == [project]
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "nothing was released" in shown["message"]


def test_a_worker_that_was_given_up_cannot_finish(parts, people, project):
    job = _submit(parts, people, project)
    parts.jobs.claim("slow")
    with parts.store.begin() as connection:
        connection.execute(update(Job).values(heartbeat=now() - timedelta(minutes=5)))
    parts.jobs.revive()
    parts.jobs.claim("quick")
    parts.jobs.finish(job, "slow", "done", "done", {"version": "half"})
    assert parts.jobs.show(people["custodian"], job)["state"] == "running"
    assert not parts.jobs.beat(job, "slow", 1.0, "")


def test_addresses_with_passwords_are_forgotten_when_a_job_ends(parts, people, project):
    asked = {"name": "t", "table": "t", "url": "postgresql://me:secret@host/db"}
    job = parts.jobs.submit(people["custodian"], project, "import", asked)
    assert "secret" not in str(parts.jobs.show(people["custodian"], job))
    parts.jobs.claim("one")
    parts.jobs.finish(job, "one", "failed", "no", {})
    with parts.store.read() as connection:
        assert connection.get(Job, job).request == {"name": "t", "table": "t"}


def test_a_key_that_was_used_for_another_kind_is_refused(parts, people, project):
    from tacit.app.permissions import ConflictError

    owner, first = people["custodian"], _submit(parts, people, project, key="a")
    assert parts.jobs.repeated(owner, project, "generate", "a") == first
    assert parts.jobs.repeated(owner, project, "generate", None) is None
    assert parts.jobs.repeated(owner, project, "generate", "b") is None
    with pytest.raises(ConflictError, match="something else"):
        parts.jobs.repeated(owner, project, "table", "a")
    with pytest.raises(NotFoundError):
        parts.jobs.repeated(people["stranger"], project, "generate", "a")


def test_a_job_knows_its_file(parts, people, project):
    job = parts.jobs.submit(people["custodian"], project, "import", {"name": "x", "file": "f.csv"})
    assert parts.jobs.reads(job, "f.csv")
    assert not parts.jobs.reads(job, "g.csv")


def test_a_job_that_needs_a_seed_keeps_one_nobody_else_knows(parts, people, project):
    """A second worker must find the same seed, and no id may tell it."""
    jobs = [_submit(parts, people, project) for _ in range(2)]
    with parts.store.read() as connection:
        seeds = [connection.get(Job, job).request["seed"] for job in jobs]
    assert seeds[0] != seeds[1]
    assert all(seed.bit_length() > 64 for seed in seeds)
    assert "seed" not in str(parts.jobs.show(people["custodian"], jobs[0]))
