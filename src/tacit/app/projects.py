"""Projects: their people, their data's roles, the plan being made."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from tacit.app.naming import checked, folded, require_free
from tacit.app.permissions import (
    CAPACITIES,
    HOUSE,
    Action,
    Actor,
    ConflictError,
    NotFoundError,
    Role,
    require_in_project,
)
from tacit.app.store.database import Connection, Store, record
from tacit.app.store.records import Event, Member, Project, Service, User
from tacit.core.errors import DataError, ParameterError
from tacit.core.plan import Plan
from tacit.core.schema import Schema

if TYPE_CHECKING:
    from tacit.app.settings import Settings
    from tacit.core.data import Microdata


MOST_CODES = 100_000
"""Values of a column that may be put into groups by hand."""


class Projects:
    """The projects of one store, as seen by the person who asks."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings

    # -- finding -----------------------------------------------------------------------------------

    def open(
        self, connection: Connection, actor: Actor, project_id: str, action: Action
    ) -> Project:
        """Return a project in which the actor may do this; another's project does not exist."""
        project = connection.get(Project, project_id)
        capacity = None if project is None else capacity_of(connection, actor, project)
        require_in_project(capacity, action)
        if project is None:
            raise NotFoundError("there is no such project")
        return project

    def visible(self, actor: Actor) -> list[dict[str, Any]]:
        """List the projects the actor may see, and the query servers they may ask."""
        with self.store.read() as connection:
            mine = select(Member.project_id).where(Member.user_id == actor.id)
            shared = select(Service.project_id).where(Service.active, Service.open_to_all)
            found = connection.scalars(
                select(Project)
                .where(
                    or_(
                        Project.owner_id == actor.id,
                        Project.id.in_(mine),
                        Project.id.in_(shared),
                    )
                )
                .order_by(Project.folded)
            )
            seen = [(project, capacity_of(connection, actor, project)) for project in found]
            return [
                {"id": project.id, "name": project.name, "capacity": capacity}
                for project, capacity in seen
                if capacity is not None
            ]

    def show(self, actor: Actor, project_id: str) -> dict[str, Any]:
        """Return what the actor may know about a project; nothing of it is a record."""
        with self.store.read() as connection:
            project = self.open(connection, actor, project_id, Action.SEE_PROJECT)
            capacity = capacity_of(connection, actor, project)
            about: dict[str, Any] = {
                "id": project.id,
                "name": project.name,
                "description": project.description,
                "owner": project.owner.name,
                "capacity": capacity,
                "created": project.created.isoformat(),
            }
            if capacity in ("owner", "custodian"):
                about |= {
                    "edition": project.edition,
                    "data": project.data,
                    "plan": project.plan,
                    "columns": _columns(project),
                    "people": _people(connection, project),
                }
            return about

    # -- making and changing -----------------------------------------------------------------------

    def create(self, actor: Actor, name: str, description: str = "") -> str:
        """Create a project and return its id."""
        actor.require(Action.CREATE_PROJECT)
        name = checked(name, "project")
        with self.store.begin() as connection:
            require_free(name, connection.scalars(select(Project.folded)), "project")
            project = Project(
                name=name, folded=folded(name), description=_described(description),
                owner_id=actor.id,
            )  # fmt: skip
            connection.add(project)
            connection.flush()
            record(connection, "project created", user=actor.id, project=project.id, name=name)
            return project.id

    def rename(self, actor: Actor, project_id: str, name: str, description: str) -> None:
        """Give a project another name and description."""
        name = checked(name, "project")
        with self.store.begin() as connection:
            project = self.open(connection, actor, project_id, Action.EDIT_PROJECT)
            others = connection.scalars(select(Project.folded).where(Project.id != project_id))
            require_free(name, others, "project")
            project.name, project.folded = name, folded(name)
            project.description = _described(description)
            record(connection, "project renamed", user=actor.id, project=project_id, name=name)

    def delete(self, actor: Actor, project_id: str) -> None:
        """Delete a project with all its files."""
        with self.store.begin() as connection:
            project = self.open(connection, actor, project_id, Action.DELETE_PROJECT)
            record(connection, "project deleted", user=actor.id, name=project.name)
            connection.delete(project)
        shutil.rmtree(self.folder(project_id), ignore_errors=True)

    def invite(self, actor: Actor, project_id: str, name: str, capacity: str) -> None:
        """Let somebody take part in a project, or change how."""
        with self.store.begin() as connection:
            project = self.open(connection, actor, project_id, Action.EDIT_PROJECT)
            user = connection.scalar(select(User).where(User.folded == folded(name), User.active))
            if user is None:
                raise NotFoundError("there is no account of this name", got=repr(name))
            if capacity not in CAPACITIES[Role(user.role)] or user.id == project.owner_id:
                raise ParameterError(
                    f"{user.name} cannot take part as {capacity!r}",
                    do=f"possible: {', '.join(sorted(CAPACITIES[Role(user.role)]))}",
                )
            member = connection.get(Member, (project_id, user.id))
            if member is None:
                connection.add(Member(project_id=project_id, user_id=user.id, capacity=capacity))
            else:
                member.capacity = capacity
            record(
                connection, "person invited", user=actor.id, project=project_id,
                name=user.name, capacity=capacity,
            )  # fmt: skip

    def dismiss(self, actor: Actor, project_id: str, user_id: str) -> None:
        """End somebody's part in a project."""
        with self.store.begin() as connection:
            self.open(connection, actor, project_id, Action.EDIT_PROJECT)
            member = connection.get(Member, (project_id, user_id))
            if member is None:
                raise NotFoundError("this person takes no part in the project")
            record(
                connection, "person dismissed", user=actor.id, project=project_id,
                name=member.user.name,
            )  # fmt: skip
            connection.delete(member)

    def set_roles(self, actor: Actor, project_id: str, schema: Schema, edition: int) -> int:
        """Set what the columns mean; return the new edition."""
        with self.store.begin() as connection:
            project = self._edited(connection, actor, project_id, edition)
            present = Schema.from_toml(project.roles)
            if schema.columns != present.columns:
                raise DataError(
                    "these are not the columns of the data", got=", ".join(schema.columns)
                )
            project.roles = schema.to_toml()
            record(
                connection, "roles set", user=actor.id, project=project_id,
                keys=schema.keys, identifiers=schema.identifiers,
            )  # fmt: skip
            return project.edition

    def set_plan(
        self, actor: Actor, project_id: str, steps: Sequence[Mapping[str, Any]], edition: int
    ) -> int:
        """Set the steps of the plan; return the new edition."""
        plan = Plan(steps)
        with self.store.begin() as connection:
            project = self._edited(connection, actor, project_id, edition)
            project.plan = [method.as_step() for method in plan]
            record(
                connection, "plan set", user=actor.id, project=project_id,
                steps=[method.key for method in plan],
            )  # fmt: skip
            return project.edition

    def _edited(
        self, connection: Connection, actor: Actor, project_id: str, edition: int
    ) -> Project:
        """Open a project to change it; an edit made on an older edition is refused."""
        project = self.open(connection, actor, project_id, Action.EDIT_PROJECT)
        if not project.data:
            raise DataError("the project has no data yet", do="upload a file first")
        if project.edition != edition:
            raise ConflictError(
                "somebody has changed this project in the meantime",
                got=f"your edition is {edition}, the present one {project.edition}",
                do="load it again and repeat your change",
            )
        project.edition += 1
        return project

    # -- data --------------------------------------------------------------------------------------

    def folder(self, project_id: str) -> Path:
        """Return the folder of a project's files."""
        return self.settings.projects / project_id

    def data_path(self, project: Project) -> Path:
        """Return the file of a project's original data."""
        if not project.data:
            raise DataError("the project has no data yet", do="upload a file first")
        return self.folder(project.id) / "data" / f"{project.data['digest']}.parquet"

    def microdata(self, project: Project) -> Microdata:
        """Return the original data with their roles; for the house only."""
        from tacit.io.read import read

        schema = Schema.from_toml(project.roles)
        data = read(self.data_path(project), schema=schema)
        return replace(data, source=str(project.data["name"]))  # reports are named by it

    def page(
        self, actor: Actor, project_id: str, first: int = 0, count: int = 50
    ) -> dict[str, Any]:
        """Return some original records, for those who may see them."""
        return page_of(self._original(actor, project_id), first, count)

    def codes(self, actor: Actor, project_id: str, column: str) -> list[str]:
        """Return the values of a column in order, for those who may see the records."""
        return _codes(self._original(actor, project_id), column)

    def whole_numbers(self, actor: Actor, project_id: str) -> list[str]:
        """Return the columns that are kept as whole numbers, for those who may see the records."""
        import polars as pl

        types = pl.read_parquet_schema(self._original(actor, project_id))
        return [name for name, dtype in types.items() if dtype.is_integer()]

    def _original(self, actor: Actor, project_id: str) -> Path:
        with self.store.read() as connection:
            project = self.open(connection, actor, project_id, Action.SEE_ORIGINAL)
            return self.data_path(project)

    def history(self, actor: Actor, project_id: str) -> list[dict[str, Any]]:
        """Return who did what in a project, newest first."""
        with self.store.read() as connection:
            self.open(connection, actor, project_id, Action.SEE_HISTORY)
            events = connection.scalars(
                select(Event).where(Event.project_id == project_id).order_by(Event.id.desc())
            )
            return [
                {
                    "at": event.at.isoformat(),
                    "who": event.user.name if event.user else None,
                    "what": event.what,
                    "about": event.about,
                }
                for event in events
            ]


def capacity_of(connection: Connection, actor: Actor, project: Project) -> str | None:
    """Return in what capacity somebody takes part in a project, as far as their role allows.

    Who owns a project and is made an analyst or a reviewer sees no record of it any more.
    """
    if project.owner_id == actor.id and actor.role in HOUSE[Action.CREATE_PROJECT]:
        return "owner"
    member = connection.get(Member, (project.id, actor.id))
    if member is not None and member.capacity in CAPACITIES[actor.role]:
        return member.capacity
    service = connection.get(Service, project.id)
    if service is not None and service.active and service.open_to_all:
        return "analyst"
    return None


def page_of(path: Path, first: int, count: int) -> dict[str, Any]:
    """Return some rows of a Parquet file as text, without reading the others."""
    import polars as pl

    rows = pl.scan_parquet(path)
    total = int(rows.select(pl.len()).collect().item())
    shown = rows.slice(max(first, 0), min(max(count, 0), 500)).collect()
    texts = shown.with_columns(pl.all().cast(pl.String))
    real = [name for name, dtype in shown.schema.items() if dtype.is_float()]
    about = {"columns": shown.columns, "real": real, "first": first, "total": total}
    return about | {"rows": texts.rows()}


def _codes(path: Path, column: str) -> list[str]:
    import polars as pl

    rows = pl.scan_parquet(path)
    if column not in rows.collect_schema():
        raise DataError("the data have no such column", got=repr(column))
    found = rows.select(pl.col(column).unique()).collect()[column].drop_nulls().sort()
    if len(found) > MOST_CODES:
        raise DataError("the column has too many values for groups", got=f"{len(found):,}")
    return found.cast(pl.String).to_list()


def _columns(project: Project) -> list[dict[str, Any]]:
    if not project.roles:
        return []
    return [
        {"name": v.name, "kind": str(v.kind), "roles": sorted(map(str, v.roles))}
        | ({"categories": list(v.categories)} if v.categories else {})
        for v in Schema.from_toml(project.roles).variables
    ]


def _people(connection: Connection, project: Project) -> list[dict[str, Any]]:
    members = connection.scalars(select(Member).where(Member.project_id == project.id))
    return [{"id": m.user_id, "name": m.user.name, "capacity": m.capacity} for m in members]


def _described(description: str) -> str:
    if len(description) > 2000:
        raise ParameterError("a description has at most 2 000 characters", got=len(description))
    return description
