"""Query servers: what may be asked, asking, and setting them up."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import ActorOf, ServicesOf

router = APIRouter(prefix="/projects/{project}", tags=["queries"])


class ServerSettings(BaseModel):
    """How a query server is set up."""

    model_config = ConfigDict(extra="forbid")
    policy: Annotated[str, Field(max_length=200_000)]
    active: bool
    open_to_all: bool = False


@router.get("/query")
def describe(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Tell what may be asked: variables, categories, cutpoints, analyses, rules."""
    return parts.queries.describe(actor, project)


@router.post("/query")
def ask(project: str, body: dict[str, Any], actor: ActorOf, parts: ServicesOf) -> Any:
    """Answer a request, or refuse it by naming the rule."""
    given = parts.queries.ask(actor, project, body)
    return {"refused": given.is_refusal, **given.as_dict()}


@router.get("/service")
def settings(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return how the query server is set up."""
    return parts.queries.settings_of(actor, project)


@router.put("/service")
def set_up(project: str, body: ServerSettings, actor: ActorOf, parts: ServicesOf) -> Any:
    """Set the policy of the query server, and who may ask it."""
    parts.queries.set_up(
        actor, project, policy=body.policy, active=body.active, open_to_all=body.open_to_all
    )
    return {}


@router.get("/service/log")
def verify_log(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Check that nothing in the log was edited, dropped or reordered."""
    return parts.queries.verify_log(actor, project)
