"""Projects, their data, roles, plans and people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from tacit.app.api.access import ActorOf, ServicesOf
from tacit.app.databases import allowed_address
from tacit.app.permissions import Action
from tacit.app.uploads import Places, check_announced, receive, shown_name
from tacit.core.schema import Schema

router = APIRouter(prefix="/projects", tags=["projects"])
First = Annotated[int, Query(ge=0, le=10**12)]
Count = Annotated[int, Query(ge=1, le=500)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=60)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Submitted(BaseModel):
    """The job that does what was asked."""

    job: str


class Made(BaseModel):
    """What was made."""

    id: str


class Edition(BaseModel):
    """The edition of a project after a change."""

    edition: int


class NewProject(_Body):
    """A project to be made or renamed."""

    name: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=2000)] = ""


class Roles(_Body):
    """What the columns mean, as the TOML of a schema, and the edition it was made on."""

    schema_toml: Annotated[str, Field(max_length=10_000_000)]
    edition: int


class Steps(_Body):
    """The steps of a plan, and the edition they were made on."""

    steps: Annotated[list[dict[str, Any]], Field(max_length=200)]
    edition: int


class Invitation(_Body):
    """Who takes part, and how."""

    name: Annotated[str, Field(max_length=200)]
    capacity: Annotated[str, Field(max_length=20)]


class Database(_Body):
    """The user's own database."""

    url: Annotated[str, Field(max_length=2000, repr=False)]


class DatabaseTable(Database):
    """A table of the user's own database."""

    table: Annotated[str, Field(max_length=300)]


@router.get("")
def visible(actor: ActorOf, parts: ServicesOf) -> Any:
    """List the projects one takes part in."""
    return parts.projects.visible(actor)


@router.post("", status_code=201, response_model=Made)
def create(body: NewProject, actor: ActorOf, parts: ServicesOf) -> Any:
    """Create a project."""
    return {"id": parts.projects.create(actor, body.name, body.description)}


@router.get("/{project}")
def show(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Describe a project."""
    return parts.projects.show(actor, project)


@router.put("/{project}")
def rename(project: str, body: NewProject, actor: ActorOf, parts: ServicesOf) -> Any:
    """Give a project another name and description."""
    parts.projects.rename(actor, project, body.name, body.description)
    return {}


@router.delete("/{project}")
def delete(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Delete a project with all its files."""
    parts.projects.delete(actor, project)
    return {}


_FILE = {"type": "string", "format": "binary"}
_ANY_FILE = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": _FILE}}}
}


@router.put("/{project}/data", status_code=202, response_model=Submitted, openapi_extra=_ANY_FILE)
async def upload(
    project: str,
    request: Request,
    actor: ActorOf,
    parts: ServicesOf,
    name: Annotated[str, Query(max_length=500)],
    key: Key = None,
) -> Any:
    """Send a file as the body of the request, of any size; a job reads it."""
    again = await run_in_threadpool(parts.jobs.repeated, actor, project, "import", key)
    if again is not None:
        return {"job": again}
    check_announced(parts.settings, request.headers.get("Content-Length"))
    places: Places = request.app.state.uploads
    with places.one():
        folder = parts.projects.folder(project)
        path = await receive(parts.settings, folder, name, request.stream())
    asked = {"name": shown_name(name), "file": path.name}
    return {"job": await run_in_threadpool(_submitted, parts, actor, project, asked, path, key)}


def _submitted(
    parts: ServicesOf, actor: ActorOf, project: str, asked: dict[str, Any], path: Path, key: Key
) -> str:
    """Queue the reading of an upload; the file of a submission that lost a race is not kept."""
    try:
        job = parts.jobs.submit(actor, project, "import", asked, key=key)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if not parts.jobs.reads(job, path.name):
        path.unlink(missing_ok=True)
    return job


@router.post("/{project}/data", status_code=202, response_model=Submitted)
def from_database(
    project: str, body: DatabaseTable, actor: ActorOf, parts: ServicesOf, key: Key = None
) -> Any:
    """Take a table of a database; a job reads it."""
    url = allowed_address(body.url, parts.settings.databases)
    asked = {"name": body.table, "url": url, "table": body.table}
    return {"job": parts.jobs.submit(actor, project, "import", asked, key=key)}


@router.post("/{project}/data/tables", response_model=list[str])
def tables(project: str, body: Database, actor: ActorOf, parts: ServicesOf) -> Any:
    """List the tables of a database that may be taken."""
    from tacit.io.database import table_names

    with parts.store.read() as connection:
        parts.projects.open(connection, actor, project, Action.EDIT_PROJECT)
    return table_names(allowed_address(body.url, parts.settings.databases))


@router.get("/{project}/data")
def page(
    project: str, actor: ActorOf, parts: ServicesOf, first: First = 0, count: Count = 50
) -> Any:
    """Return some original records."""
    return parts.projects.page(actor, project, first, count)


@router.get("/{project}/roles")
def roles(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return what the columns mean, as the TOML of a schema."""
    with parts.store.read() as connection:
        found = parts.projects.open(connection, actor, project, Action.SEE_ORIGINAL)
        return {"schema_toml": found.roles, "edition": found.edition}


@router.put("/{project}/roles", response_model=Edition)
def set_roles(project: str, body: Roles, actor: ActorOf, parts: ServicesOf) -> Any:
    """Set what the columns mean."""
    schema = Schema.from_toml(body.schema_toml)
    return {"edition": parts.projects.set_roles(actor, project, schema, body.edition)}


@router.put("/{project}/plan", response_model=Edition)
def set_plan(project: str, body: Steps, actor: ActorOf, parts: ServicesOf) -> Any:
    """Set the steps of the plan."""
    return {"edition": parts.projects.set_plan(actor, project, body.steps, body.edition)}


@router.put("/{project}/people")
def invite(project: str, body: Invitation, actor: ActorOf, parts: ServicesOf) -> Any:
    """Let somebody take part."""
    parts.projects.invite(actor, project, body.name, body.capacity)
    return {}


@router.delete("/{project}/people/{account}")
def dismiss(project: str, account: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """End somebody's part."""
    parts.projects.dismiss(actor, project, account)
    return {}


@router.get("/{project}/history")
def history(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return who did what."""
    return parts.projects.history(actor, project)
