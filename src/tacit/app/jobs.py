"""Long work as a queue in the store: asked for once, done once, never lost."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from tacit.app.permissions import Action, Actor, ConflictError, NotFoundError
from tacit.app.projects import Projects
from tacit.app.store.database import Connection, Store, record
from tacit.app.store.records import Job, now
from tacit.core.rng import fresh_seed

if TYPE_CHECKING:
    from tacit.app.settings import Settings

_RANDOM = ("generate", "wizard", "log")
OPEN = ("queued", "running")
_SILENCES = 5


class Cancelled(BaseException):
    """The person who asked for a job does not want it any more."""


class TakenOverError(ConflictError):
    """A worker was silent for so long that another does its job now."""


class Jobs:
    """The jobs of one store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.projects = Projects(store, settings)

    # -- for people --------------------------------------------------------------------------------

    def submit(
        self,
        actor: Actor,
        project_id: str,
        kind: str,
        request: dict[str, Any],
        *,
        key: str | None = None,
    ) -> str:
        """Queue a job and return its id; the same key again returns the same job."""
        with self.store.begin() as connection:
            self.projects.open(connection, actor, project_id, Action.EDIT_PROJECT)
            found = _submitted(connection, actor, project_id, kind, key)
            if found is not None:
                return found
            job = Job(
                project_id=project_id, user_id=actor.id, kind=kind, request=_seeded(kind, request),
                submitted=_mark(actor, key),
            )  # fmt: skip
            connection.add(job)
            connection.flush()
            record(connection, "job started", user=actor.id, project=project_id, kind=kind)
            return job.id

    def repeated(self, actor: Actor, project_id: str, kind: str, key: str | None) -> str | None:
        """Return the job that was submitted with this key before, if there is one."""
        with self.store.read() as connection:
            self.projects.open(connection, actor, project_id, Action.EDIT_PROJECT)
            return _submitted(connection, actor, project_id, kind, key)

    def reads(self, job_id: str, file: str) -> bool:
        """Whether a job is to read this uploaded file."""
        with self.store.read() as connection:
            job = connection.get(Job, job_id)
            return job is not None and job.request.get("file") == file

    def show(self, actor: Actor, job_id: str) -> dict[str, Any]:
        """Return how far a job has come."""
        with self.store.read() as connection:
            job = connection.get(Job, job_id)
            if job is None:
                raise NotFoundError("there is no such job")
            self.projects.open(connection, actor, job.project_id, Action.EDIT_PROJECT)
            return described(job)

    def of_project(self, actor: Actor, project_id: str) -> list[dict[str, Any]]:
        """Return the jobs of a project, newest first."""
        with self.store.read() as connection:
            self.projects.open(connection, actor, project_id, Action.EDIT_PROJECT)
            jobs = connection.scalars(
                select(Job).where(Job.project_id == project_id).order_by(Job.created.desc())
            )
            return [described(job) for job in jobs]

    def cancel(self, actor: Actor, job_id: str) -> None:
        """Stop a job; nothing of it stays."""
        with self.store.begin() as connection:
            job = connection.get(Job, job_id)
            if job is None:
                raise NotFoundError("there is no such job")
            self.projects.open(connection, actor, job.project_id, Action.EDIT_PROJECT)
            if job.state == "queued":
                job.state, job.ended, job.message = "cancelled", now(), "cancelled"
                if "file" in job.request:  # nobody will read it any more
                    incoming = self.projects.folder(job.project_id) / "incoming"
                    (incoming / job.request["file"]).unlink(missing_ok=True)
            elif job.state == "running":
                job.cancelling = True
            record(
                connection, "job cancelled", user=actor.id, project=job.project_id, kind=job.kind
            )

    # -- for workers -------------------------------------------------------------------------------

    def claim(self, worker: str) -> Job | None:
        """Take the oldest queued job; no other worker gets it."""
        with self.store.begin() as connection:
            waiting = (
                select(Job.id).where(Job.state == "queued").order_by(Job.created).limit(1)
            ).with_for_update(skip_locked=True)
            job_id = connection.scalar(waiting)
            if job_id is None:
                return None
            job = connection.get(Job, job_id)
            if job is None or job.state != "queued":
                return None
            job.state, job.worker, job.heartbeat = "running", worker, now()
            job.attempts += 1
            return job

    def beat(self, job_id: str, worker: str, progress: float, message: str) -> bool:
        """Say that the worker is alive; return whether the job shall go on."""
        with self.store.begin() as connection:
            connection.execute(
                update(Job)
                .where(Job.id == job_id, Job.worker == worker, Job.state == "running")
                .values(heartbeat=now(), progress=progress, message=message[:2000])
            )
            job = connection.get(Job, job_id)
            return (
                job is not None
                and job.worker == worker
                and job.state == "running"
                and (not job.cancelling)
            )

    def finish(
        self, job_id: str, worker: str, state: str, message: str, result: dict[str, Any]
    ) -> None:
        """Close a job that is still this worker's; passwords in what was asked are forgotten."""
        with self.store.begin() as connection:
            job = connection.get(Job, job_id)
            if job is None or job.worker != worker or job.state != "running":
                return
            job.state, job.message, job.result, job.ended = state, message[:2000], result, now()
            job.request = _without_address(job.request)
            if state == "done":
                job.progress = 1.0

    def revive(self) -> list[str]:
        """Queue the jobs of dead workers again, or fail them after too many attempts.

        Returns the projects of these jobs.
        """
        silent = now() - timedelta(seconds=_SILENCES * self.settings.heartbeat_seconds)
        with self.store.begin() as connection:
            dead = connection.scalars(
                select(Job).where(Job.state == "running", Job.heartbeat < silent)
            ).all()
            for job in dead:
                if job.cancelling:
                    job.state, job.message, job.ended = "cancelled", "cancelled", now()
                elif job.attempts < self.settings.job_attempts:
                    job.state, job.worker, job.progress = "queued", None, 0.0
                    job.message = "its worker died; waiting for another"
                else:
                    job.state, job.ended = "failed", now()
                    job.message = "its worker died, and so did the one before; nothing was released"
            return [job.project_id for job in dead]


def settle(connection: Connection, job: Job, result: dict[str, Any]) -> None:
    """Close a job in the very transaction that keeps what it made.

    So there is never a result without its job being done, nor the other way round, whenever the
    worker dies. A worker that was given up, or whose job is cancelled, keeps nothing.
    """
    found = connection.get(Job, job.id, with_for_update=True, populate_existing=True)
    if found is None or found.worker != job.worker or found.state != "running":
        raise TakenOverError("another worker has this job now; this one keeps nothing")
    if found.cancelling:
        raise Cancelled
    found.state, found.message, found.result = "done", "done", result
    found.progress, found.ended = 1.0, now()
    found.request = _without_address(found.request)


def _without_address(request: dict[str, Any]) -> dict[str, Any]:
    """Forget the address of a database: it may hold a password."""
    return {name: asked for name, asked in request.items() if name != "url"}


def _mark(actor: Actor, key: str | None) -> str | None:
    """Return the key of a submission, which is one person's own."""
    return None if key is None else f"{actor.id}:{key[:60]}"


def _submitted(
    connection: Connection, actor: Actor, project_id: str, kind: str, key: str | None
) -> str | None:
    """Return the job of a key; a key that was used for something else is refused."""
    mark = _mark(actor, key)
    found = None if mark is None else connection.scalar(select(Job).where(Job.submitted == mark))
    if found is None:
        return None
    if (found.project_id, found.kind) != (project_id, kind):
        raise ConflictError("this Idempotency-Key was used for something else", do="send a new one")
    return found.id


def _seeded(kind: str, request: dict[str, Any]) -> dict[str, Any]:
    """Draw the secret seed of a job that needs one, so that a second worker uses the same."""
    if kind not in _RANDOM or request.get("seed") is not None:
        return request
    return {**request, "seed": fresh_seed()}


def described(job: Job) -> dict[str, Any]:
    """Return a job as plain data."""
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "progress": round(job.progress, 3),
        "message": job.message,
        "result": job.result,
        "created": job.created.isoformat(),
        "ended": job.ended.isoformat() if job.ended else None,
    }
