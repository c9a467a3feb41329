"""Attack a masked version and keep what an intruder would learn."""

from __future__ import annotations

import json
from typing import Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store, record
from tacit.app.store.records import Job, Project, Version
from tacit.app.versions import DOSSIER, Versions
from tacit.core.atomic import write_text
from tacit.core.errors import DataError

_TOLD = (
    "attack",
    "title",
    "question",
    "verdict",
    "success",
    "baseline",
    "broken",
    "unit",
    "remedy",
)
"""Of a finding, what those may know who never see a record: no positions, no worst case."""


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Make the release again from its dossier and run every attack that applies."""
    from tacit.attack import audit
    from tacit.io.replay import replay

    with store.read() as connection:
        project = connection.get(Project, job.project_id)
        version = connection.get(Version, job.request["version"])
    if project is None or version is None or version.project_id != project.id:
        raise DataError("the version was deleted")
    if version.kind != "masked":
        raise DataError("a table is attacked when it is protected; see its check")
    projects = Projects(store, settings)
    folder = Versions(store, settings).folder(project.id, version.id) / DOSSIER
    release = replay(folder, data=projects.data_path(project)).release
    report = audit(release, seconds=float(job.request.get("seconds", 60.0)))
    found = report.as_dict()
    write_text(folder / "attack.json", json.dumps(found, ensure_ascii=False, indent=1))
    told = {
        "target": report.target,
        "passed": report.passed,
        "complete": report.complete,
        "findings": [{name: finding[name] for name in _TOLD} for finding in found["findings"]],
        "left_out": len(report.left_out),
    }
    _remember(store, job, version.id, told)
    return {"version": version.id, "passed": report.passed, "leaks": len(report.leaks)}


def _remember(store: Store, job: Job, version_id: str, told: dict[str, Any]) -> None:
    """Add the attacks to the measurements of the version."""
    with store.begin() as connection:
        version = connection.get(Version, version_id)
        if version is None:
            raise DataError("the version was deleted")
        version.measurements = {**version.measurements, "attack": told}
        record(
            connection, "version attacked", user=job.user_id, project=job.project_id,
            name=version.name, passed=told["passed"],
        )  # fmt: skip
