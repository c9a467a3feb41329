"""A project to try the app on: a made-up census with a plan."""

from __future__ import annotations

from tacit.app.permissions import Actor
from tacit.app.services import Services
from tacit.app.settings import Settings
from tacit.app.store.records import Project

NAME = "Demo: a made-up census"
_STEPS = [
    {"method": "recode", "column": "region", "level": 2},
    {"method": "recode", "column": "age", "width": 10},
    {"method": "mdav", "columns": ["income", "taxes", "hours"], "k": 5, "within": ["employed"]},
    {"method": "new-identifiers"},
    {"method": "local-suppression", "k": 3, "missing": "strict"},
]


def create_demo(settings: Settings, actor: Actor) -> str:
    """Create the project for this person and return its id."""
    from tacit.app.tasks.import_task import stored
    from tacit.datasets import census

    parts = Services.start(settings)
    project_id = parts.projects.create(actor, NAME, "Nobody in these data exists.")
    data = census(settings.demo_records)
    digest = stored(data, parts.projects.folder(project_id) / "data")
    with parts.store.begin() as connection:
        project = connection.get_one(Project, project_id)
        project.data = {
            "name": "census.csv", "digest": digest, "records": len(data), "columns": data.columns
        }  # fmt: skip
        project.roles = data.schema.to_toml()
        project.plan = _STEPS
        project.edition = 1
    parts.store.close()
    return project_id
