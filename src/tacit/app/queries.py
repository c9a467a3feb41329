"""Query servers of projects: set up by custodians, asked by those they let in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from tacit.app.permissions import Action, Actor, ConflictError, NotFoundError
from tacit.app.projects import Projects, capacity_of
from tacit.app.store.database import Store, record
from tacit.app.store.records import Project, Service, now

if TYPE_CHECKING:
    from tacit.app.settings import Settings
    from tacit.query import Answer, Refusal, Server

POLICIES = ("strict", "mas", "blocks", "exact", "camouflage", "dp")
"""Policies that come with tacit, the default first."""


class Queries:
    """The query servers of one store; each is kept open in the process that first asked it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.projects = Projects(store, settings)
        self._servers: dict[str, tuple[str, Server]] = {}
        self._locks: dict[str, int] = {}
        self._turn = Lock()

    # -- for custodians ----------------------------------------------------------------------------

    def settings_of(self, actor: Actor, project_id: str) -> dict[str, Any]:
        """Return how a query server is set up, its policy included."""
        with self.store.read() as connection:
            self.projects.open(connection, actor, project_id, Action.SET_POLICY)
            service = connection.get(Service, project_id)
        if service is None:
            return {"active": False, "open_to_all": False, "policy": _named("strict")}
        return {
            "active": service.active,
            "open_to_all": service.open_to_all,
            "policy": service.policy,
        }

    def set_up(
        self, actor: Actor, project_id: str, *, policy: str, active: bool, open_to_all: bool
    ) -> None:
        """Set the policy of a query server, and who may ask it."""
        from tacit.query import Policy

        checked = Policy.from_toml(policy)
        with self.store.begin() as connection:
            project = self.projects.open(connection, actor, project_id, Action.SET_POLICY)
            self.projects.data_path(project)
            service = connection.get(Service, project_id) or Service(project_id=project_id)
            service.policy, service.changed = checked.to_toml(), now()
            service.active, service.open_to_all = active, open_to_all
            connection.add(service)
            record(
                connection, "query server set up", user=actor.id, project=project_id,
                policy=checked.id, active=active, open_to_all=open_to_all,
            )  # fmt: skip

    def verify_log(self, actor: Actor, project_id: str) -> dict[str, Any]:
        """Check that nothing in the log was edited, dropped or reordered."""
        with self.store.read() as connection:
            project = self.projects.open(connection, actor, project_id, Action.SET_POLICY)
            service = _active(connection.get(Service, project_id))
        checked = self._server(project, service).log.verify()
        return {"intact": checked.ok, "words": str(checked)}

    # -- for those who ask -------------------------------------------------------------------------

    def describe(self, actor: Actor, project_id: str) -> dict[str, Any]:
        """Return what may be asked, in words for those who may ask."""
        project, service = self._may_ask(actor, project_id)
        return {"project": project.name, **self._server(project, service).describe()}

    def ask(self, actor: Actor, project_id: str, request: Mapping[str, Any]) -> Answer | Refusal:
        """Answer a request, or refuse it by naming the rule."""
        server = self._server(*self._may_ask(actor, project_id))
        return server.ask(dict(request), user=actor.id)

    def _may_ask(self, actor: Actor, project_id: str) -> tuple[Project, Service]:
        """Return a project whose server is open for this person; others do not exist."""
        with self.store.read() as connection:
            project = connection.get(Project, project_id)
            service = connection.get(Service, project_id)
            capacity = None if project is None else capacity_of(connection, actor, project)
        if project is None or capacity in (None, "reviewer"):
            raise NotFoundError("there is no such query server")
        return project, _active(service)

    def _server(self, project: Project, service: Service) -> Server:
        """Return the open server; it is opened anew when its data or its policy changed."""
        with self._turn:
            kept = self._servers.get(project.id)
            if kept is not None and kept[0] == _state(project, service):
                return kept[1]
            # What the caller has seen may be older than the server that is open.
            with self.store.read() as connection:
                service = _active(connection.get(Service, project.id))
                project = connection.get_one(Project, project.id)
            if kept is not None and kept[0] == _state(project, service):
                return kept[1]
            if kept is not None:
                kept[1].close()
            server = self._opened(project, service)
            self._servers[project.id] = (_state(project, service), server)
            return server

    def _opened(self, project: Project, service: Service) -> Server:
        from tacit.query import Policy, Server

        folder = self.projects.folder(project.id) / "query" / project.data["digest"]
        self._own(project.id, folder)
        data = self.projects.microdata(project)
        return Server(data, Policy.from_toml(service.policy), folder=folder)

    def _own(self, project_id: str, folder: Path) -> None:
        """Make sure that one process alone answers: history and noise budgets are kept in it."""
        import fcntl

        if project_id in self._locks:
            return
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder.parent / "owner.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise ConflictError(
                "another process answers the queries of this project",
                do="route them to one process; see the page on production",
            ) from None
        self._locks[project_id] = handle

    def close(self) -> None:
        """Let another process take over."""
        for handle in self._locks.values():
            os.close(handle)
        self._locks.clear()
        for _, server in self._servers.values():
            server.close()
        self._servers.clear()


def _state(project: Project, service: Service) -> str:
    """Return what a server was opened with: data, roles, policy."""
    return f"{project.data.get('digest')} {project.edition} {service.changed}"


def _active(service: Service | None) -> Service:
    """Return a server that is open; another does not exist."""
    if service is None or not service.active:
        raise NotFoundError("there is no such query server")
    return service


def _named(name: str) -> str:
    from tacit.query import Policy

    return Policy.named(name).to_toml()
