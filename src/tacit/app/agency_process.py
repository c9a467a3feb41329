"""The house as an agency: a process that answers coordinators with the data of the open project."""

from __future__ import annotations

import json
import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app import logging_setup
from tacit.app.agency_desk import Desk
from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Project
from tacit.app.until_told import run_until_told
from tacit.core.atomic import write_text
from tacit.core.errors import ParameterError, TacitError

if TYPE_CHECKING:
    from tacit.federated import AgencyServer
    from tacit.federated.messages import Proposal

_PAUSE = 0.5
_SILENCE = 15.0
"""Seconds after which a process that says nothing counts as gone."""
_PATIENCE = 900.0
"""Seconds for which a person is waited for."""
log = logging.getLogger("tacit.agency")


def marker(settings: Settings) -> Path:
    """Return the file that names the project whose data the agency answers with."""
    return settings.folder / "agency.json"


def opened(settings: Settings) -> str | None:
    """Return the project that is open to the agency."""
    try:
        return str(json.loads(marker(settings).read_text(encoding="utf-8"))["project"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def told(settings: Settings) -> dict[str, Any]:
    """Return what the process last said of itself; nothing where it is silent."""
    try:
        found: dict[str, Any] = json.loads(_state(settings).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if time.time() - float(found.get("at", 0)) < _SILENCE else {}


def desk_of(settings: Settings, project_id: str) -> Desk:
    """Return the desk of a project's agency."""
    return Desk(settings.projects / project_id / "federation")


def _state(settings: Settings) -> Path:
    return settings.folder / "agency-state.json"


class AgencyProcess:
    """Listens while a project is open, with its data and rules as they are then."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, Store(settings.store_url)
        self.stopping = False
        self._present: tuple[str, ...] | None = None
        self._server: AgencyServer | None = None
        self._said: dict[str, Any] = {}

    def run(self) -> None:
        """Work until told to stop."""
        try:
            while not self.stopping:
                self.step()
                time.sleep(_PAUSE)
        finally:
            self.close()

    def step(self) -> None:
        """Begin to listen, stop, or begin anew, if something has changed; say how things are."""
        wanted = self._wanted()
        if wanted != self._present:
            self.close()
            self._present = wanted
            self._said = {} if wanted is None else self._started(wanted[0])
        write_text(_state(self.settings), json.dumps({**self._said, "at": time.time()}))

    def close(self) -> None:
        """Stop to listen; whoever waits for an answer gets none."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def _wanted(self) -> tuple[str, ...] | None:
        """Return all on which the agency depends, or nothing where no project is open."""
        project_id = opened(self.settings)
        with self.store.read() as connection:
            project = None if project_id is None else connection.get(Project, project_id)
            if project is None or not project.data:
                return None
            return project.id, project.data["digest"], project.roles, self._rules(project.id)

    def _rules(self, project_id: str) -> str:
        return desk_of(self.settings, project_id).policy_text

    def _started(self, project_id: str) -> dict[str, Any]:
        try:
            return {"project": project_id} | self._listening(project_id)
        except (TacitError, OSError) as error:
            log.error("the agency does not listen: %s", type(error).__name__)
            return {"project": project_id, "problem": str(error)}

    def _listening(self, project_id: str) -> dict[str, Any]:
        from tacit.federated import Agency, AgencyServer, Credentials
        from tacit.federated.client import address_of

        own, desk = Credentials(Path(self.settings.agency_keys)), desk_of(self.settings, project_id)
        with self.store.read() as connection:
            project = connection.get_one(Project, project_id)
        data = Projects(self.store, self.settings).microdata(project)
        desk.clear()
        gone = threading.Event()

        def decide(proposal: Proposal) -> bool:
            return desk.ask(proposal, seconds=_PATIENCE, goes_on=lambda: not gone.is_set())

        agency = Agency(own.identity(), data, own.roster(), policy=desk.policy(),
                        ledger=desk.ledger(), decide=decide)  # fmt: skip
        where = address_of(self.settings.agency_listen)
        try:
            server = AgencyServer(agency, own, where)
        except OSError as error:
            raise ParameterError(
                f"the agency cannot listen there: {error.strerror}", got=f"{where[0]}:{where[1]}"
            ) from error
        self._server = server
        threading.Thread(target=_serve, args=(server, gone), daemon=True).start()
        log.info("the agency listens on port %s", server.port)
        return {"name": agency.name, "port": server.port, "records": len(data)}


def _serve(server: AgencyServer, gone: threading.Event) -> None:
    try:
        server.serve_forever(poll_interval=0.1)
    finally:
        gone.set()


def main(settings: Settings | None = None) -> None:
    """Run the agency as a process of its own."""
    run_until_told(AgencyProcess(settings or Settings.load()))


if __name__ == "__main__":
    logging_setup.set_up()
    main()
