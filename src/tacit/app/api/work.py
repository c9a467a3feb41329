"""Jobs: ask for long work, see how far it has come, stop it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import ActorOf, ServicesOf
from tacit.app.api.projects import Key, Submitted
from tacit.app.permissions import Action, NotFoundError
from tacit.app.table_checks import check_plan
from tacit.core.errors import DataError
from tacit.core.plan import Plan

router = APIRouter(tags=["jobs"])
Name = Annotated[str, Field(min_length=1, max_length=100)]
Seed = Annotated[int | None, Field(ge=0, lt=2**63)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Generate(_Body):
    """A masked version by the plan of the project."""

    name: Name
    seed: Seed = None


class Wizard(_Body):
    """Releases that meet a target."""

    name: Name = "wizard"
    target: Annotated[str, Field(max_length=2000)]
    plans: Annotated[int, Field(ge=1, le=1000)] = 40
    seconds: Annotated[float, Field(ge=1, le=3600)] = 45.0
    blur: bool = True
    """Whether confidential numbers that a plan leaves alone become means of three neighbours."""
    attacks: Annotated[list[Name], Field(max_length=20)] = []
    """Attacks on records that may succeed at most 5 percentage points more often than guessing."""
    seed: Seed = None


class ProtectTable(_Body):
    """A protected table, by a table plan."""

    name: Name
    plan: dict[str, Any]


class ProtectLog(_Body):
    """A protected query log, from the data of the project."""

    name: Name
    columns: dict[Literal["user", "query", "time", "rank", "url"], str] = {}
    k: Annotated[int, Field(ge=2, le=100_000)] = 3
    levels: Annotated[int, Field(ge=1, le=20)] = 5
    taxonomy: Annotated[str, Field(max_length=200)] = "demonstration"
    seed: Seed = None


class AttackVersion(_Body):
    """Attacks on a masked version."""

    version: Name
    seconds: Annotated[float, Field(ge=1, le=3600)] = 60.0


class Attacked(BaseModel):
    """What the attacks on a version found, without records."""

    attacked: bool
    report: dict[str, Any]


class JobState(BaseModel):
    """How far a job has come."""

    id: str
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Annotated[float, Field(ge=0, le=1)]
    message: str
    result: dict[str, Any]
    created: str
    ended: str | None


@router.post("/projects/{project}/generate", status_code=202, response_model=Submitted)
def generate(
    project: str, body: Generate, actor: ActorOf, parts: ServicesOf, key: Key = None
) -> Any:
    """Apply the plan of the project; the plan is taken as it is now."""
    if again := parts.jobs.repeated(actor, project, "generate", key):
        return {"job": again}
    with parts.store.read() as connection:
        found = parts.projects.open(connection, actor, project, Action.EDIT_PROJECT)
        steps, has_data = found.plan, bool(found.data)
    if not has_data:
        raise DataError("the project has no data yet", do="upload a file first")
    asked = {"name": _free(parts, project, "masked", body.name), "plan": steps, "seed": body.seed}
    Plan(steps)
    return {"job": parts.jobs.submit(actor, project, "generate", asked, key=key)}


@router.post("/projects/{project}/wizard", status_code=202, response_model=Submitted)
def wizard(project: str, body: Wizard, actor: ActorOf, parts: ServicesOf, key: Key = None) -> Any:
    """Search for releases that meet a target."""
    from tacit.tradeoff import Target

    Target.of(body.target)
    return {"job": parts.jobs.submit(actor, project, "wizard", body.model_dump(), key=key)}


@router.post("/projects/{project}/tables", status_code=202, response_model=Submitted)
def table(
    project: str, body: ProtectTable, actor: ActorOf, parts: ServicesOf, key: Key = None
) -> Any:
    """Build and protect a table."""
    from tacit.tables import TablePlan

    if again := parts.jobs.repeated(actor, project, "table", key):
        return {"job": again}
    check_plan(TablePlan(**body.plan))
    asked = {"name": _free(parts, project, "table", body.name), "plan": body.plan}
    return {"job": parts.jobs.submit(actor, project, "table", asked, key=key)}


@router.post("/projects/{project}/logs", status_code=202, response_model=Submitted)
def log(project: str, body: ProtectLog, actor: ActorOf, parts: ServicesOf, key: Key = None) -> Any:
    """Protect a query log, which the project holds as its data."""
    if again := parts.jobs.repeated(actor, project, "log", key):
        return {"job": again}
    asked = body.model_dump() | {"name": _free(parts, project, "log", body.name)}
    return {"job": parts.jobs.submit(actor, project, "log", asked, key=key)}


@router.post("/projects/{project}/attack", status_code=202, response_model=Submitted)
def attack(
    project: str, body: AttackVersion, actor: ActorOf, parts: ServicesOf, key: Key = None
) -> Any:
    """Attack a masked version of the project; its report says what an intruder would learn."""
    if again := parts.jobs.repeated(actor, project, "attack", key):
        return {"job": again}
    if body.version not in {v["id"] for v in parts.versions.of_project(actor, project)}:
        raise NotFoundError("there is no such version in this project")
    return {"job": parts.jobs.submit(actor, project, "attack", body.model_dump(), key=key)}


@router.get("/versions/{version}/attack", response_model=Attacked)
def attack_report(version: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return what the attacks on a version found; records and worst cases stay in its dossier."""
    found = parts.versions.show(actor, version)["measurements"].get("attack")
    return {"attacked": found is not None, "report": found or {}}


def _free(parts: ServicesOf, project: str, kind: Any, name: str) -> str:
    return parts.versions.free_name(project, kind, name)


@router.get("/projects/{project}/jobs", response_model=list[JobState])
def jobs(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """List the jobs of a project, newest first."""
    return parts.jobs.of_project(actor, project)


@router.get("/jobs/{job}", response_model=JobState)
def show(job: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return how far a job has come."""
    return parts.jobs.show(actor, job)


@router.delete("/jobs/{job}")
def cancel(job: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Stop a job; nothing of it stays."""
    parts.jobs.cancel(actor, job)
    return {}
