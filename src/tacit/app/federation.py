"""Federated analysis in the app: this house as an agency, and as one that asks agencies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.app.agency_process import desk_of, marker, opened, told
from tacit.app.permissions import Action, Actor, ConflictError, NotAllowedError
from tacit.app.projects import Projects
from tacit.app.store.database import Store, record
from tacit.core.atomic import write_text
from tacit.core.errors import DataError, ParameterError, TacitError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.app.settings import Settings
    from tacit.federated import Analysis

_NOT_RECORDS = frozenset({"vector"})
"""Analyses of what is not a file of records."""
LONGEST_WAIT = 3600.0


class Federation:
    """Computations among agencies, as seen by the person who asks."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.projects = Projects(store, settings)

    # -- this house as an agency -------------------------------------------------------------------

    def state(self, actor: Actor, project_id: str) -> dict[str, Any]:
        """Return the agency's state, rules, log and open questions, and whom one may ask."""
        self._require(actor, project_id)
        return {
            "agency": self._agency(project_id),
            "partners": self.partners(),
            "may_ask": bool(self.settings.coordinator_keys) and len(self.partners()) > 2,
            "analyses": [_catalogued(analysis) for analysis in analyses().values()],
        }

    def _agency(self, project_id: str) -> dict[str, Any]:
        desk, is_open = desk_of(self.settings, project_id), opened(self.settings)
        found: dict[str, Any] = {
            "set_up": bool(self.settings.agency_keys),
            "open": is_open == project_id,
            "busy": is_open not in (None, project_id),
            "listening": None,
            "policy": desk.policy_text,
            "waiting": desk.waiting() if is_open == project_id else [],
            "log": [],
            "problem": "",
        }
        says = told(self.settings)
        if says.get("project") == project_id:
            found |= {"problem": says.get("problem", ""), "name": says.get("name", "")}
            found["listening"] = says.get("port")
        try:
            found["log"] = desk.log()
        except TacitError as error:
            found["problem"] = str(error)
        return found

    def set_up(self, actor: Actor, project_id: str, *, active: bool, policy: str) -> None:
        """Set the agency's rules, and whether it answers with this project's data."""
        self._require(actor, project_id)
        if not self.settings.agency_keys:
            raise NotAllowedError(
                "this house is no agency yet", do="the administrator sets agency_keys"
            )
        other = opened(self.settings)
        if active and other not in (None, project_id):
            raise ConflictError(
                "the agency answers with the data of another project", do="close it"
            )
        with self.store.begin() as connection:
            project = self.projects.open(connection, actor, project_id, Action.SET_POLICY)
            if active and not project.data:
                raise DataError("the project has no data yet", do="upload a file first")
            desk_of(self.settings, project_id).set_policy(policy)
            if active:
                write_text(marker(self.settings), json.dumps({"project": project_id}))
            elif other == project_id:
                marker(self.settings).unlink(missing_ok=True)
            what = "agency opened" if active else "agency closed"
            record(connection, what, user=actor.id, project=project_id, policy=policy)

    def decide(self, actor: Actor, project_id: str, computation: str, *, join: bool) -> None:
        """Say yes or no to a computation that waits."""
        self._require(actor, project_id)
        with self.store.begin() as connection:
            asked = desk_of(self.settings, project_id).decide(computation, join=join)
            record(
                connection, "computation joined" if join else "computation declined",
                user=actor.id, project=project_id, computation=computation,
                analysis=asked["analysis"], coordinator=asked["coordinator"],
            )  # fmt: skip

    # -- this house as one that asks ---------------------------------------------------------------

    def partners(self) -> dict[str, str]:
        """Return the agencies that may be asked, with their addresses."""
        named = (text.partition("=") for text in self.settings.agencies)
        return {name.strip(): where.strip() for name, _, where in named}

    def to_ask(
        self,
        actor: Actor,
        project_id: str,
        analysis: Mapping[str, Any],
        agencies: Sequence[str] = (),
        *,
        purpose: str = "",
        seconds: float = 300.0,
    ) -> dict[str, Any]:
        """Return what a job needs to ask agencies; what is wrong with it is said at once."""
        from tacit.federated.analysis import analysis_from

        self._require(actor, project_id)
        if not self.settings.coordinator_keys:
            raise NotAllowedError(
                "this house may ask no agency", do="the administrator sets coordinator_keys"
            )
        known = self.partners()
        for name in agencies:
            if name not in known:
                raise ParameterError(f"there is no agency {name!r}", do=nearest(name, known))
        if not 1 <= seconds <= LONGEST_WAIT:
            raise ParameterError("one waits from 1 to 3,600 seconds", got=seconds)
        described = analysis_from(dict(analysis)).described()
        if described["analysis"] in _NOT_RECORDS:
            raise ParameterError("this analysis is not one of records", do=", ".join(analyses()))
        return {
            "analysis": described, "agencies": list(agencies) or list(known),
            "purpose": purpose[:500], "seconds": float(seconds),
        }  # fmt: skip

    def _require(self, actor: Actor, project_id: str) -> None:
        with self.store.read() as connection:
            self.projects.open(connection, actor, project_id, Action.SET_POLICY)


def analyses() -> dict[str, type[Analysis]]:
    """Return the analyses that agencies can compute of their records, by key.

    Examples
    --------
    >>> "ols" in analyses(), "vector" in analyses()
    (True, False)
    """
    import tacit.federated.analyses  # noqa: F401 - fills the list of analyses
    from tacit.federated import Analysis

    return {key: found for key, found in Analysis.known.items() if key not in _NOT_RECORDS}


def _catalogued(analysis: type[Analysis]) -> dict[str, Any]:
    schema = analysis.model_json_schema()
    return {
        "key": analysis.key,
        "summary": (analysis.__doc__ or "").strip().split("\n")[0],
        "parameters": schema.get("properties", {}),
        "required": schema.get("required", []),
    }
