"""Find releases that meet a target and keep them as versions."""

from __future__ import annotations

from typing import Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job, Project
from tacit.app.tasks.generate_task import written
from tacit.app.versions import Versions
from tacit.core.errors import DataError, ProtectionError


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Search for up to three releases; finished evaluations survive a dead worker."""
    from tacit.tradeoff import Effort, wizard

    versions = Versions(store, settings)
    with store.read() as connection:
        project = connection.get(Project, job.project_id)
    if project is None:
        raise DataError("the project was deleted")
    effort = Effort(
        evaluations=int(job.request.get("plans", 40)),
        seconds=float(job.request.get("seconds", 45.0)),
        sample=5000,
        replicates=2,
    )
    journal = Projects(store, settings).folder(job.project_id) / "journals" / job.id
    journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    outcome = wizard(
        Projects(store, settings).microdata(project), job.request["target"],
        attacks=job.request.get("attacks", ()), blur=bool(job.request.get("blur")), effort=effort,
        seed=int(job.request["seed"]), storage=journal,
    )  # fmt: skip
    if not outcome.is_met:
        raise ProtectionError(
            "no plan that was tried meets the target, so nothing is released",
            got=None if outcome.closest is None else f"closest is {outcome.closest.label}",
            do="ask for less, declare fewer keys, or search longer",
        )
    made = {
        choice.name: written(
            versions, job, _free(versions, job.project_id, f"{job.request['name']} {choice.name}"),
            choice.release,
        )
        for choice in outcome.choices
    }  # fmt: skip
    kept = {name: version.id for name, version in made.items()}
    result = {"versions": kept, "words": outcome.words}
    versions.add(job, list(made.values()), result)
    journal.unlink(missing_ok=True)
    return result


def _free(versions: Versions, project_id: str, name: str) -> str:
    """Return the name, numbered if an earlier search took it."""
    from tacit.app.permissions import ConflictError

    wanted, number = name, 2
    while True:
        try:
            return versions.free_name(project_id, "masked", wanted)
        except ConflictError:
            wanted, number = f"{name} {number}", number + 1
