"""Apply the plan of a project to its data and keep the release as a version."""

from __future__ import annotations

from typing import Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job, Project, Version, new_id
from tacit.app.verdicts import standing, verdict
from tacit.app.versions import DOSSIER, Versions, read_json
from tacit.core.errors import DataError
from tacit.core.plan import Plan
from tacit.core.progress import track
from tacit.core.release import Release


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Make a masked version of the data, by the plan the job was asked with."""
    versions = Versions(store, settings)
    name = versions.free_name(job.project_id, "masked", job.request["name"])
    with store.read() as connection:
        project = connection.get(Project, job.project_id)
    if project is None:
        raise DataError("the project was deleted")
    with track("protecting the data", 2) as advance:
        data = Projects(store, settings).microdata(project)
        release = Plan(job.request["plan"]).apply(data, seed=job.request.get("seed"))
        advance(1)
        version = written(versions, job, name, release)
        result = {"version": version.id, "name": name}
        versions.add(job, [version], result)
        advance(1)
    return result


def written(versions: Versions, job: Job, name: str, release: Release) -> Version:
    """Write the bundle, whole or not at all, and return the version that is to be remembered."""
    version_id = new_id()
    folder = versions.folder(job.project_id, version_id)
    release.save(folder, format="parquet")
    return Version(
        id=version_id, project_id=job.project_id, kind="masked", name=name,
        plan=release.plan.to_toml(), made_by=job.user_id,
        measurements=read_json(folder / DOSSIER / "measurements.json")
        | {"verdict": verdict(release, versions.settings.target), **standing(release)},
    )  # fmt: skip
