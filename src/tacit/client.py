"""Work with a tacit app from Python: projects, jobs, versions and questions over REST."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from uuid import uuid4

from tacit._connection import Connection, Unreachable, matching_error
from tacit.core.errors import ReadError, TacitError
from tacit.core.progress import track

if TYPE_CHECKING:
    from tacit.core.families import Mask
    from tacit.core.method import Method
    from tacit.core.plan import Plan
    from tacit.core.schema import Schema
    from tacit.query import Policy
    from tacit.query.answer import Answer, Refusal
    from tacit.tables import TablePlan

_OPEN = ("queued", "running")


class Client:
    """A program's access to a tacit app, in the name of the person whose key it holds.

    Parameters
    ----------
    address
        Where the app is, such as ``https://tacit.example.org``.
    key
        A key made on the page *Your account*.
    timeout
        Seconds after which a silent server counts as unreachable.
    insecure
        Whether the key may travel without encryption to another machine.

    Examples
    --------
    >>> Client("http://tacit.example.org", "tacit_x")
    Traceback (most recent call last):
    tacit.core.errors.ParameterError: the key would travel without encryption \
(got http://tacit.example.org); use https, or say insecure=True
    """

    def __init__(
        self, address: str, key: str, *, timeout: float = 60.0, insecure: bool = False
    ) -> None:
        self._connection = Connection(address, key, timeout=timeout, insecure=insecure)

    def __repr__(self) -> str:
        return f"Client({self._connection.address!r})"

    # -- projects ----------------------------------------------------------------------------------

    def projects(self) -> list[dict[str, Any]]:
        """List the projects one takes part in, and in what capacity."""
        return self._connection.ask("GET", "/projects")  # type: ignore[no-any-return]

    def create_project(self, name: str, description: str = "") -> str:
        """Create a project and return its id."""
        body = {"name": name, "description": description}
        return str(self._connection.ask("POST", "/projects", body)["id"])

    def project(self, project: str) -> dict[str, Any]:
        """Describe a project."""
        return self._connection.ask("GET", f"/projects/{_in_path(project)}")  # type: ignore[no-any-return]

    def invite(
        self, project: str, name: str, capacity: Literal["custodian", "reviewer", "analyst"]
    ) -> None:
        """Let somebody who has an account take part in a project."""
        body = {"name": name, "capacity": capacity}
        self._connection.ask("PUT", f"/projects/{_in_path(project)}/people", body)

    def history(self, project: str) -> list[dict[str, Any]]:
        """Tell who did what in a project, newest first."""
        return self._connection.ask("GET", f"/projects/{_in_path(project)}/history")  # type: ignore[no-any-return]

    def delete_project(self, project: str) -> None:
        """Delete a project with all its files."""
        self._connection.ask("DELETE", f"/projects/{_in_path(project)}")

    def upload(self, project: str, path: str | Path, *, name: str | None = None) -> str:
        """Send a file of any size, straight from the disk; return the job that reads it."""
        path = Path(path)
        target = f"/projects/{_in_path(project)}/data?name={quote(name or path.name, safe='')}"
        return str(self._connection.send(target, path, key=uuid4().hex)["job"])

    def tables(self, project: str, url: str) -> list[str]:
        """List the tables of a database that the administrator of the app allows."""
        target = f"/projects/{_in_path(project)}/data/tables"
        return self._connection.ask("POST", target, {"url": url})  # type: ignore[no-any-return]

    def take_table(self, project: str, url: str, table: str) -> str:
        """Take a table of a database as the data of a project; return the job that reads it."""
        return self._job(project, "data", {"url": url, "table": table})

    def roles(self, project: str) -> Schema:
        """Return what the columns mean."""
        from tacit.core.schema import Schema

        found = self._connection.ask("GET", f"/projects/{_in_path(project)}/roles")
        return Schema.from_toml(found["schema_toml"])

    def set_roles(self, project: str, schema: Schema, *, edition: int | None = None) -> int:
        """Set what the columns mean; an edition that is not the present one is refused."""
        body = {"schema_toml": schema.to_toml(), "edition": self._edition(project, edition)}
        found = self._connection.ask("PUT", f"/projects/{_in_path(project)}/roles", body)
        return int(found["edition"])

    def plan(self, project: str) -> Plan:
        """Return the plan being made."""
        from tacit.core.plan import Plan

        return Plan(self.project(project)["plan"])

    def set_plan(
        self,
        project: str,
        plan: Plan | Sequence[Mask | Mapping[str, Any]],
        *,
        edition: int | None = None,
    ) -> int:
        """Set the plan; an edition that is not the present one is refused."""
        from tacit.core.plan import Plan

        steps = [method.as_step() for method in (plan if isinstance(plan, Plan) else Plan(plan))]
        body = {"steps": steps, "edition": self._edition(project, edition)}
        found = self._connection.ask("PUT", f"/projects/{_in_path(project)}/plan", body)
        return int(found["edition"])

    def _edition(self, project: str, edition: int | None) -> int:
        return int(self.project(project)["edition"] if edition is None else edition)

    # -- jobs --------------------------------------------------------------------------------------

    def generate(self, project: str, name: str, *, seed: int | None = None) -> str:
        """Ask for a masked version by the present plan; return the job."""
        return self._job(project, "generate", {"name": name, "seed": seed})

    def wizard(self, project: str, target: str, **options: Any) -> str:
        """Ask for releases that meet a target such as ``k >= 5``; return the job."""
        return self._job(project, "wizard", {"target": target, **options})

    def protect_table(self, project: str, name: str, plan: TablePlan | Mapping[str, Any]) -> str:
        """Ask for a protected table; return the job."""
        plain = dict(plan) if isinstance(plan, Mapping) else plan.as_dict()
        return self._job(project, "tables", {"name": name, "plan": plain})

    def protect_log(self, project: str, name: str, **options: Any) -> str:
        """Ask for a protected query log, where the data of a project are one; return the job."""
        return self._job(project, "logs", {"name": name, **options})

    def attack(self, project: str, version: str, *, seconds: float = 60.0) -> str:
        """Ask for attacks on a masked version; return the job."""
        return self._job(project, "attack", {"version": version, "seconds": seconds})

    def attack_report(self, version: str) -> dict[str, Any] | None:
        """Return what the attacks on a version found; nothing if it was not attacked yet."""
        found = self._connection.ask("GET", f"/versions/{_in_path(version)}/attack")
        return dict(found["report"]) if found["attacked"] else None

    def _job(self, project: str, kind: str, body: Mapping[str, Any]) -> str:
        target = f"/projects/{_in_path(project)}/{kind}"
        return str(self._connection.ask("POST", target, body, key=uuid4().hex)["job"])

    def job(self, job: str) -> dict[str, Any]:
        """Return how far a job has come."""
        return self._connection.ask("GET", f"/jobs/{_in_path(job)}")  # type: ignore[no-any-return]

    def cancel(self, job: str) -> None:
        """Stop a job; nothing of it stays."""
        self._connection.ask("DELETE", f"/jobs/{_in_path(job)}")

    def wait(self, job: str, *, seconds: float | None = None, every: float = 0.5) -> dict[str, Any]:
        """Wait for a job and return its result; a server that starts again is waited for.

        Parameters
        ----------
        job
            Id of the job.
        seconds
            Longest time to wait; without one as long as it takes.
        every
            Seconds between two looks.
        """
        end = None if seconds is None else time.monotonic() + seconds
        with track("waiting for the job", 1.0) as advance:
            shown, seen = 0.0, self._look(job)
            while seen["state"] in _OPEN:
                if end is not None and time.monotonic() > end:
                    raise TacitError("the job is not done yet", got=f"{seconds:g} s waited")
                time.sleep(every)
                seen = self._look(job)
                advance(max(float(seen["progress"]) - shown, 0.0))
                shown = max(shown, float(seen["progress"]))
        return _result(seen)

    def _look(self, job: str, patience: float = 60.0) -> dict[str, Any]:
        """Return the state of a job, although the server may be away for a moment."""
        end = time.monotonic() + patience
        while True:
            try:
                return self.job(job)
            except Unreachable:
                if time.monotonic() > end:
                    raise
                time.sleep(1.0)

    # -- versions ----------------------------------------------------------------------------------

    def versions(self, project: str) -> list[dict[str, Any]]:
        """List masked versions and protected tables with their measurements."""
        return self._connection.ask("GET", f"/projects/{_in_path(project)}/versions")  # type: ignore[no-any-return]

    def decide(self, version: str, *, approve: bool, remark: str = "") -> None:
        """Approve or reject a version."""
        body = {"approve": approve, "remark": remark}
        self._connection.ask("PUT", f"/versions/{_in_path(version)}/decision", body)

    def save(self, version: str, url: str, table: str) -> str:
        """Save an approved version as a new table of a database; return the job that does it.

        Parameters
        ----------
        version
            Id of a masked version that was approved.
        url
            Address of a database that the administrator of the app allows.
        table
            Name of the table; one that exists is left alone.
        """
        target, body = f"/versions/{_in_path(version)}/table", {"url": url, "table": table}
        return str(self._connection.ask("POST", target, body, key=uuid4().hex)["job"])

    def download(
        self,
        version: str,
        folder: str | Path,
        *,
        part: Literal["public", "dossier"] = "public",
        force: bool = False,
    ) -> Path:
        """Save one part of a bundle as a folder, whole or not at all."""
        from tacit.core.atomic import new_folder

        names = self._connection.ask("GET", f"/versions/{_in_path(version)}/files")[part]
        base = f"/versions/{_in_path(version)}/files/{_in_path(part)}"
        with new_folder(Path(folder), force=force) as scratch:
            for name in names:
                self._connection.fetch(f"{base}/{_in_path(name)}", scratch / _plain(name))
        return Path(folder)

    # -- agencies ----------------------------------------------------------------------------------

    def federation(self, project: str) -> dict[str, Any]:
        """Return the state of the house as an agency, what waits for an answer, and its log."""
        return self._connection.ask("GET", _federation(project))  # type: ignore[no-any-return]

    def set_agency(self, project: str, policy: str, *, active: bool) -> None:
        """Set the rules of the agency (TOML), and whether it answers with a project's data."""
        body = {"active": active, "policy": policy}
        self._connection.ask("PUT", _federation(project), body)

    def join(self, project: str, computation: str, *, join: bool = True) -> None:
        """Say yes or no to a computation that waits for an answer."""
        body = {"computation": computation, "join": join}
        self._connection.ask("POST", f"{_federation(project)}/decisions", body)

    def ask_agencies(self, project: str, analysis: Mapping[str, Any], **options: Any) -> str:
        """Ask agencies to compute an analysis together; return the job, which has the answer."""
        return self._job(project, "federation/questions", {"analysis": dict(analysis), **options})

    # -- questions ---------------------------------------------------------------------------------

    def describe(self, project: str) -> dict[str, Any]:
        """Tell what may be asked: variables, categories, cutpoints, analyses, rules."""
        return self._connection.ask("GET", f"/projects/{_in_path(project)}/query")  # type: ignore[no-any-return]

    def open_query_server(
        self, project: str, policy: Policy | str = "strict", *, open_to_all: bool = False
    ) -> None:
        """Let others ask: analysts who are invited, or everybody with an account.

        Parameters
        ----------
        project
            Id of the project.
        policy
            What the server answers: a policy, or the name of one that comes with tacit.
        open_to_all
            Whether everybody with an account may ask.
        """
        from tacit.query import Policy

        rules = Policy.named(policy) if isinstance(policy, str) else policy
        body = {"policy": rules.to_toml(), "active": True, "open_to_all": open_to_all}
        self._connection.ask("PUT", f"/projects/{_in_path(project)}/service", body)

    def ask(self, project: str, request: Method | Mapping[str, Any]) -> Answer | Refusal:
        """Ask a query server; a refusal is an answer too, with its rule."""
        from tacit.query.answer import Answer, Refusal

        plain = dict(request) if isinstance(request, Mapping) else request.as_step()
        found = self._connection.ask("POST", f"/projects/{_in_path(project)}/query", plain)
        refused = found.pop("refused")
        return Refusal(**found) if refused else Answer(**found)


def _federation(project: str) -> str:
    return f"/projects/{_in_path(project)}/federation"


def _in_path(name: str) -> str:
    return quote(str(name), safe="")


def _plain(name: str) -> str:
    """Return the name of a file inside one folder, whatever a server says."""
    if Path(name).name != name or "\\" in name or name in ("", ".", ".."):
        raise ReadError("the server names a file that is none of the bundle", got=repr(name[:80]))
    return name


def _result(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a finished job gave, or raise why it gave nothing."""
    if seen["state"] == "done":
        return dict(seen["result"])
    kind = str(seen["result"].get("error", "TacitError"))
    raise matching_error(kind, str(seen["message"]))
