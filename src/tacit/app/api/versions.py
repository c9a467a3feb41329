"""Masked versions and protected tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import ActorOf, ServicesOf
from tacit.app.api.projects import Count, DatabaseTable, First, Key, Submitted

router = APIRouter(tags=["versions"])


class Decision(BaseModel):
    """What a reviewer thinks of a version."""

    model_config = ConfigDict(extra="forbid")
    approve: bool
    remark: Annotated[str, Field(max_length=2000)] = ""


@router.get("/projects/{project}/versions")
def versions(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """List the versions of a project with their measurements."""
    return parts.versions.of_project(actor, project)


@router.get("/versions/{version}")
def show(version: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Describe a version."""
    return parts.versions.show(actor, version)


@router.get("/versions/{version}/data")
def page(
    version: str,
    actor: ActorOf,
    parts: ServicesOf,
    first: First = 0,
    count: Count = 50,
    data_set: Annotated[int, Query(ge=1, le=1000)] = 1,
) -> Any:
    """Return some masked records, of one of the data sets where there are several."""
    return parts.versions.page(actor, version, first, count, data_set=data_set)


@router.put("/versions/{version}/decision")
def decide(version: str, body: Decision, actor: ActorOf, parts: ServicesOf) -> Any:
    """Approve or reject a version."""
    parts.versions.decide(actor, version, approve=body.approve, remark=body.remark)
    return {}


@router.delete("/versions/{version}")
def delete(version: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Delete a version that was not approved."""
    parts.versions.delete(actor, version)
    return {}


@router.post("/versions/{version}/table", status_code=202, response_model=Submitted)
def save(
    version: str, body: DatabaseTable, actor: ActorOf, parts: ServicesOf, key: Key = None
) -> Any:
    """Save an approved version as a new table of a database."""
    asked = parts.versions.to_save(actor, version, body.url, body.table)
    project = asked.pop("project")
    return {"job": parts.jobs.submit(actor, project, "save", asked, key=key)}


@router.get("/versions/{version}/files")
def files(version: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """List the files of the bundle."""
    return parts.versions.files(actor, version)


@router.get("/versions/{version}/files/{part}/{name}")
def file(
    version: str, part: Literal["public", "dossier"], name: str, actor: ActorOf, parts: ServicesOf
) -> FileResponse:
    """Take a file of the bundle."""
    path = parts.versions.file(actor, version, part, name)
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")
