"""Find releases that meet a target and keep them as versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job, Project
from tacit.app.tasks.generate_task import written
from tacit.app.verdicts import standing
from tacit.app.versions import Versions
from tacit.core.errors import DataError, ProtectionError, TacitError
from tacit.core.plan import Plan
from tacit.core.schema import Kind

if TYPE_CHECKING:
    from tacit.core.release import Release
    from tacit.tradeoff import Target


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
        effort=effort, seed=int(job.request["seed"]), storage=journal,
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
            _blurred(choice.release, outcome.target) if job.request.get("blur") else choice.release,
        )
        for choice in outcome.choices
    }  # fmt: skip
    kept = {name: version.id for name, version in made.items()}
    result = {"versions": kept, "words": outcome.words}
    versions.add(job, list(made.values()), result)
    journal.unlink(missing_ok=True)
    return result


def _blurred(release: Release, target: Target) -> Release:
    """Return the release without exact confidential numbers, if it still meets the target.

    The target speaks of keys, so the wizard leaves other columns as they are. Means of three
    neighbours in rank move numbers little, and no amount is anybody's own any more.
    """
    from tacit.mask import IndividualRanking, Round

    exposed = [
        name for name in standing(release)["exposed"]
        if release.original.schema[name].kind == Kind.NUMERIC
    ]  # fmt: skip
    if not exposed:
        return release
    whole = [name for name in exposed if release.original.local[name].dtype.is_integer()]
    steps = [IndividualRanking(columns=exposed, k=3)]
    steps += [Round(columns=whole, base=1)] if whole else []
    try:
        changed = Plan([*release.plan, *steps]).apply(release.original, seed=release.seed)
    except TacitError:
        return release
    conditions = target.conditions(release.original)
    met = all(c.is_met(c.value(release.original, changed)) for c in conditions)
    return changed if met and not changed.newly_broken else release


def _free(versions: Versions, project_id: str, name: str) -> str:
    """Return the name, numbered if an earlier search took it."""
    from tacit.app.permissions import ConflictError

    wanted, number = name, 2
    while True:
        try:
            return versions.free_name(project_id, "masked", wanted)
        except ConflictError:
            wanted, number = f"{name} {number}", number + 1
