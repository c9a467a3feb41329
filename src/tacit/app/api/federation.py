"""Federated analysis: the agency of this house, and questions to agencies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import ActorOf, ServicesOf
from tacit.app.api.projects import Key, Submitted
from tacit.app.federation import LONGEST_WAIT

router = APIRouter(prefix="/projects/{project}/federation", tags=["federation"])


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AgencyRules(_Body):
    """The rules of the agency, and whether it answers with this project's data."""

    active: bool
    policy: Annotated[str, Field(max_length=20_000)]


class Decision(_Body):
    """Yes or no to a computation that waits."""

    computation: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    join: bool


class Question(_Body):
    """An analysis that agencies compute together."""

    analysis: dict[str, Any]
    agencies: Annotated[list[str], Field(max_length=1000)] = []
    """Names of those to ask; all that may be asked if empty."""
    purpose: Annotated[str, Field(max_length=500)] = ""
    seconds: Annotated[float, Field(ge=1, le=LONGEST_WAIT)] = 300.0


@router.get("")
def state(project: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Return the agency's state, rules, log and open questions, and whom one may ask."""
    return parts.federation.state(actor, project)


@router.put("")
def set_up(project: str, body: AgencyRules, actor: ActorOf, parts: ServicesOf) -> Any:
    """Set the rules of the agency and open or close it."""
    parts.federation.set_up(actor, project, active=body.active, policy=body.policy)
    return {}


@router.post("/decisions")
def decide(project: str, body: Decision, actor: ActorOf, parts: ServicesOf) -> Any:
    """Join a computation that waits, or decline."""
    parts.federation.decide(actor, project, body.computation, join=body.join)
    return {}


@router.post("/questions", status_code=202, response_model=Submitted)
def ask(project: str, body: Question, actor: ActorOf, parts: ServicesOf, key: Key = None) -> Any:
    """Ask agencies to compute an analysis together; the job has the answer."""
    if again := parts.jobs.repeated(actor, project, "federated", key):
        return {"job": again}
    asked = parts.federation.to_ask(
        actor, project, body.analysis, body.agencies, purpose=body.purpose, seconds=body.seconds
    )
    return {"job": parts.jobs.submit(actor, project, "federated", asked, key=key)}
