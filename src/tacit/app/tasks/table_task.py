"""Build a table from a project's data, protect it, attack it, and keep it as a version."""

from __future__ import annotations

from typing import Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job, Project, Version, new_id
from tacit.app.versions import DOSSIER, Versions, read_json
from tacit.core.errors import DataError
from tacit.core.progress import track


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Keep a protected table; one that does not pass its check is refused."""
    from tacit.report.table_release import TableRelease
    from tacit.tables import TablePlan

    versions = Versions(store, settings)
    name = versions.free_name(job.project_id, "table", job.request["name"])
    plan = TablePlan(**job.request["plan"])
    with store.read() as connection:
        project = connection.get(Project, job.project_id)
    if project is None:
        raise DataError("the project was deleted")
    version_id = new_id()
    folder = versions.folder(job.project_id, version_id)
    with track("protecting the table", 3) as advance:
        protected = plan.apply(Projects(store, settings).microdata(project))
        advance(1)
        checked = protected.verify()
        advance(1)
        TableRelease(plan, protected, checked, source=project.data["name"]).save(folder)
        advance(1)
    version = Version(
        id=version_id, project_id=job.project_id, kind="table", name=name,
        plan=plan.to_toml(), made_by=job.user_id,
        measurements=read_json(folder / DOSSIER / "summary.json"),
    )  # fmt: skip
    result = {"version": version_id, "name": name}
    versions.add(job, [version], result)
    return result
