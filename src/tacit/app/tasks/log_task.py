"""Protect a query log, which a project holds as its data, and keep it as a version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job, Project, Version, new_id
from tacit.app.versions import DOSSIER, Versions
from tacit.core.errors import DataError, ParameterError
from tacit.core.progress import track

if TYPE_CHECKING:
    from tacit.logs import Taxonomy

DEMONSTRATION = "demonstration"
_TOLD = ("measure", "title", "text", "value", "better")
"""Of a measurement, what those may know who never see a record."""


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Give users with similar interests one common log, of at least k users each."""
    from tacit import logs

    versions, asked = Versions(store, settings), job.request
    name = versions.free_name(job.project_id, "log", asked["name"])
    with store.read() as connection:
        project = connection.get(Project, job.project_id)
    if project is None:
        raise DataError("the project was deleted")
    version_id = new_id()
    folder = versions.folder(job.project_id, version_id)
    with track("protecting the log", 3) as advance:
        data = Projects(store, settings).microdata(project)
        log = logs.QueryLog.of(data, columns=asked["columns"], source=project.data["name"])
        advance(1)
        release = logs.anonymize(
            log, taxonomy_of(settings, asked.get("taxonomy", DEMONSTRATION)),
            k=int(asked["k"]), levels=int(asked["levels"]), seed=int(asked["seed"]),
        )  # fmt: skip
        advance(1)
        release.save(folder)
        advance(1)
    version = Version(
        id=version_id, project_id=job.project_id, kind="log", name=name, plan=_plan(asked),
        made_by=job.user_id, measurements={"log": _measured(folder)},
    )  # fmt: skip
    result = {"version": version_id, "name": name}
    versions.add(job, [version], result)
    return result


def taxonomies(settings: Settings) -> list[str]:
    """Return the taxonomies to choose from: one for practice, and those of the administrator."""
    folder = settings.folder / "taxonomies"
    found = sorted(p.name for p in folder.glob("*.csv*")) if folder.is_dir() else []
    return [DEMONSTRATION, *found]


def taxonomy_of(settings: Settings, name: str) -> Taxonomy:
    """Return the taxonomy of a name; nothing but the names offered is read."""
    from tacit import logs

    if name not in taxonomies(settings):
        raise ParameterError(
            "there is no such taxonomy", got=repr(name), do=", ".join(taxonomies(settings))
        )
    if name == DEMONSTRATION:
        return logs.demonstration()
    return logs.read_table(settings.folder / "taxonomies" / name)


def _plan(asked: dict[str, Any]) -> str:
    """Write what was asked, without the seed, which stays in the dossier."""
    kept = {name: asked[name] for name in ("k", "levels", "taxonomy") if name in asked}
    return "".join(f"{name} = {value!r}\n" for name, value in kept.items()).replace("'", '"')


def _measured(folder: Path) -> list[dict[str, Any]]:
    import json

    taken = json.loads((folder / DOSSIER / "measurements.json").read_text(encoding="utf-8"))
    return [{name: m[name] for name in _TOLD if name in m} for m in taken]
