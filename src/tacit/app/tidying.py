"""What a worker that died left behind is cleared away: nothing half made stays on the disk."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from tacit.app.jobs import OPEN
from tacit.app.projects import Projects
from tacit.app.store.records import Job, Project, Version

if TYPE_CHECKING:
    from tacit.app.settings import Settings
    from tacit.app.store.database import Store

_ON_THE_WAY = 24 * 3600.0
"""Seconds for which an uploaded file may wait for its job; it comes before the job does."""


def tidy(store: Store, settings: Settings, project_id: str) -> None:
    """Remove files of a project that nothing refers to, unless a job is at work on it.

    What is there is listed before the store is asked: whatever is finished in between is known to
    the store by then, and whatever is still being made belongs to a job that runs.
    """
    folder = Projects(store, settings).folder(project_id)
    parts = {name: _inside(folder / name) for name in ("versions", "data", "incoming")}
    with store.read() as connection:
        project = connection.get(Project, project_id)
        jobs = connection.scalars(
            select(Job).where(Job.project_id == project_id, Job.state.in_(OPEN))
        ).all()
        known = set(connection.scalars(select(Version.id).where(Version.project_id == project_id)))
    if any(job.state == "running" for job in jobs):
        return
    data = {f"{project.data['digest']}.parquet"} if project and project.data else set()
    asked = {str(job.request.get("file")) for job in jobs}
    late = {path.name for path in parts["incoming"] if not _is_old(path)}
    for name, wanted in (("versions", known), ("data", data), ("incoming", asked | late)):
        for path in parts[name]:
            if path.name not in wanted:
                _remove(path)


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _ON_THE_WAY
    except OSError:  # it is gone already
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
