"""Masked versions and protected tables: made by workers, judged by people."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import select

from tacit.app.databases import allowed_address
from tacit.app.jobs import settle
from tacit.app.naming import checked, folded, require_free
from tacit.app.permissions import Action, Actor, ConflictError, NotAllowedError, NotFoundError
from tacit.app.projects import Projects, capacity_of, page_of
from tacit.app.store.database import Connection, Store, record
from tacit.app.store.records import Job, Project, Version, now
from tacit.core.atomic import new_file
from tacit.core.bundle import copy_of
from tacit.core.errors import ParameterError

if TYPE_CHECKING:
    from tacit.app.settings import Settings

Kind = Literal["masked", "table", "log"]
PUBLIC, DOSSIER = "public", "dossier"
DATA = "data.parquet"
_FORMULAS = r"^([=+\-@\t\r])"
"""How a cell begins that a spreadsheet would calculate."""


class Versions:
    """The versions of one store, as seen by the person who asks."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.projects = Projects(store, settings)

    def folder(self, project_id: str, version_id: str) -> Path:
        """Return the folder of a version: ``public/`` and ``dossier/``."""
        return self.projects.folder(project_id) / "versions" / version_id

    # -- for workers -------------------------------------------------------------------------------

    def free_name(self, project_id: str, kind: Kind, name: str) -> str:
        """Return a name for a new version, or refuse one that is taken."""
        name = checked(name, "version")
        with self.store.read() as connection:
            taken = connection.scalars(
                select(Version.folded).where(Version.project_id == project_id, Version.kind == kind)
            )
            require_free(name, taken, "version")
        return name

    def add(self, job: Job, versions: Sequence[Version], result: dict[str, Any]) -> None:
        """Remember what a job made, whose folders are written, and that the job is done.

        A name taken meanwhile is refused; then, and if the job is another's by now, nothing stays.
        """
        try:
            with self.store.begin() as connection:
                settle(connection, job, result)
                for version in versions:
                    self._add(connection, version)
        except BaseException:
            for version in versions:
                shutil.rmtree(self.folder(version.project_id, version.id), ignore_errors=True)
            raise

    def _add(self, connection: Connection, version: Version) -> None:
        taken = connection.scalars(
            select(Version.folded).where(
                Version.project_id == version.project_id, Version.kind == version.kind
            )
        )
        require_free(version.name, taken, "version")
        version.folded = folded(version.name)
        connection.add(version)
        record(
            connection, "version made", user=version.made_by, project=version.project_id,
            name=version.name, kind=version.kind,
        )  # fmt: skip

    # -- for people --------------------------------------------------------------------------------

    def open(
        self, connection: Connection, actor: Actor, version_id: str, action: Action
    ) -> tuple[Project, Version]:
        """Return a version with which the actor may do this."""
        version = connection.get(Version, version_id)
        if version is None:
            raise NotFoundError("there is no such version")
        try:
            project = self.projects.open(connection, actor, version.project_id, action)
        except NotFoundError:
            raise NotFoundError("there is no such version") from None
        return project, version

    def of_project(self, actor: Actor, project_id: str) -> list[dict[str, Any]]:
        """List the versions of a project with their measurements."""
        with self.store.read() as connection:
            project = self.projects.open(connection, actor, project_id, Action.SEE_MEASUREMENTS)
            inside = capacity_of(connection, actor, project) in ("owner", "custodian")
            found = connection.scalars(
                select(Version).where(Version.project_id == project_id).order_by(Version.created)
            )
            return [
                described(version, inside=inside, why_not=self._why_not(actor, version))
                for version in found
            ]

    def show(self, actor: Actor, version_id: str) -> dict[str, Any]:
        """Return a version with its measurements; parameters for those who made it."""
        with self.store.read() as connection:
            project, version = self.open(connection, actor, version_id, Action.SEE_MEASUREMENTS)
            inside = capacity_of(connection, actor, project) in ("owner", "custodian")
            return described(version, inside=inside, why_not=self._why_not(actor, version))

    def page(
        self, actor: Actor, version_id: str, first: int = 0, count: int = 50, *, data_set: int = 1
    ) -> dict[str, Any]:
        """Return some masked records, of one of the data sets where there are several."""
        with self.store.read() as connection:
            _project, version = self.open(connection, actor, version_id, Action.SEE_MASKED)
        found = data_sets(self.folder(version.project_id, version.id))
        if not 1 <= data_set <= len(found):
            raise NotFoundError("there is no such data set", got=f"{data_set} of {len(found)}")
        return page_of(found[data_set - 1], first, count)

    def n_data_sets(self, actor: Actor, version_id: str) -> int:
        """Return how many data sets a masked version has: synthetic ones come in several."""
        with self.store.read() as connection:
            _project, version = self.open(connection, actor, version_id, Action.SEE_MASKED)
        return len(data_sets(self.folder(version.project_id, version.id)))

    def decide(self, actor: Actor, version_id: str, *, approve: bool, remark: str = "") -> None:
        """Approve or reject a version; with four eyes not one's own."""
        with self.store.begin() as connection:
            project, version = self.open(connection, actor, version_id, Action.DECIDE)
            if version.state != "made":
                raise ConflictError("this version is decided already", got=version.state)
            if why_not := self._why_not(actor, version):
                raise NotAllowedError(why_not, do="ask a reviewer")
            version.state = "approved" if approve else "rejected"
            version.decided_by, version.decided = actor.id, now()
            version.remark = remark[:2000]
            record(
                connection, f"version {version.state}", user=actor.id, project=project.id,
                name=version.name, remark=version.remark,
            )  # fmt: skip

    def _why_not(self, actor: Actor, version: Version) -> str:
        """Say why somebody may not decide on a version, if so."""
        if self.settings.four_eyes and version.made_by == actor.id:
            return "nobody decides on what they made themselves"
        return ""

    def delete(self, actor: Actor, version_id: str) -> None:
        """Delete a version that was not approved."""
        with self.store.begin() as connection:
            project, version = self.open(connection, actor, version_id, Action.EDIT_PROJECT)
            if version.state == "approved":
                raise ConflictError("an approved version stays, for the record")
            record(
                connection, "version deleted", user=actor.id, project=project.id, name=version.name
            )
            connection.delete(version)
        shutil.rmtree(self.folder(project.id, version_id), ignore_errors=True)

    def file(self, actor: Actor, version_id: str, part: str, name: str) -> Path:
        """Return a file of the bundle, for the house; that it was taken is written down.

        The house sees its own versions before they are approved. Approval says that the public
        part may leave the house; a version is saved to a database only with it.
        """
        action = Action.SEE_MASKED if part == PUBLIC else Action.SEE_ORIGINAL
        with self.store.begin() as connection:
            project, version = self.open(connection, actor, version_id, action)
            known = self._known(project.id, version.id)
            if name not in known.get(part, ()):
                raise NotFoundError("there is no such file")
            record(
                connection, "file taken", user=actor.id, project=project.id,
                name=version.name, file=f"{part}/{name}",
            )  # fmt: skip
        folder = self.folder(project.id, version.id)
        path = folder / part / name
        return path if path.is_file() else as_csv(path.with_suffix(".parquet"), folder / name)

    def _known(self, project_id: str, version_id: str) -> dict[str, list[str]]:
        """Return the names of the files of a bundle; masked data are there as CSV too."""
        folder = self.folder(project_id, version_id)
        known = {
            part: sorted(p.name for p in (folder / part).iterdir()) for part in (PUBLIC, DOSSIER)
        }
        also = {path.with_suffix(".csv").name for path in data_sets(folder)}
        known[PUBLIC] = sorted({*known[PUBLIC], *also})
        return known

    def to_save(self, actor: Actor, version_id: str, url: str, table: str) -> dict[str, Any]:
        """Return what a job needs to save an approved version to a table of a database."""
        url = allowed_address(url, self.settings.databases)
        with self.store.read() as connection:
            project, version = self.open(connection, actor, version_id, Action.EDIT_PROJECT)
        if version.kind != "masked":
            raise ParameterError("only masked data are saved to a database", do="take the file")
        if version.state != "approved":
            raise ConflictError(
                "only an approved version is saved to a database", got=version.state,
                do="ask a reviewer to decide",
            )  # fmt: skip
        return {"project": project.id, "version": version.id, "url": url, "table": table.strip()}

    def files(self, actor: Actor, version_id: str) -> dict[str, list[str]]:
        """List the files of a bundle that the actor may take."""
        with self.store.read() as connection:
            project, version = self.open(connection, actor, version_id, Action.SEE_MASKED)
        return self._known(project.id, version.id)


def data_sets(folder: Path) -> list[Path]:
    """Return the files of a masked version's data sets, in their order."""
    found = [folder / PUBLIC / DATA]
    if not found[0].is_file():
        return []
    while (more := copy_of(found[0], len(found) + 1)).is_file():
        found.append(more)
    return found


def described(version: Version, *, inside: bool, why_not: str = "") -> dict[str, Any]:
    """Return a version as plain data; the plan and its parameters stay with those inside.

    `why_not` says why the person who looks may not decide on it.
    """
    about: dict[str, Any] = {
        "id": version.id,
        "kind": version.kind,
        "name": version.name,
        "state": version.state,
        "remark": version.remark,
        "created": version.created.isoformat(),
        "why_not_decide": why_not,
        "measurements": version.measurements,
    }
    return about | {"plan": version.plan} if inside else about


def as_csv(source: Path, path: Path) -> Path:
    """Write Parquet as CSV once; text that a spreadsheet would calculate gets an apostrophe."""
    import polars as pl

    if not path.is_file():
        whole = [pl.col(name).cast(pl.Int64) for name in _whole(source)]
        text = pl.selectors.string() | pl.selectors.categorical() | pl.selectors.enum()
        harmless = text.cast(pl.String).str.replace(_FORMULAS, "'${1}")
        with new_file(path) as scratch:
            pl.scan_parquet(source).with_columns(harmless, *whole).sink_csv(scratch)
    return path


def _whole(source: Path) -> list[str]:
    """Return the columns of real numbers that are all whole: written as 34, not as 34.0."""
    import polars as pl

    real = pl.selectors.float()
    is_whole = (real == real.round(0)) & (real.abs() < 2**53)
    found = pl.scan_parquet(source).select(is_whole.all() & real.is_not_null().any()).collect()
    return [name for name in found.columns if found[name].item()]


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON file of a bundle."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
