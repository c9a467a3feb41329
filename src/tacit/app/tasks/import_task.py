"""Read an uploaded file or a table of a database, and propose what its columns mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.app.jobs import TakenOverError, settle
from tacit.app.projects import Projects
from tacit.app.settings import Settings
from tacit.app.store.database import Store, record
from tacit.app.store.records import Job, Project, new_id
from tacit.app.tidying import tidy
from tacit.app.uploads import check_unpacked_size
from tacit.core.atomic import new_file
from tacit.core.data import Microdata
from tacit.core.digest import file_digest
from tacit.core.errors import DataError
from tacit.core.progress import track


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Store the data as Parquet with proposed roles; earlier data stay until this has worked."""
    folder = Projects(store, settings).folder(job.project_id)
    try:
        result = _taken(store, folder, job)
    except TakenOverError:  # the worker that has the job now needs the upload
        raise
    except BaseException:
        _forget_upload(folder, job.request)  # what is refused or called off is not kept
        raise
    _forget_upload(folder, job.request)
    tidy(store, settings, job.project_id)  # earlier data, which nothing refers to any more
    return result


def _taken(store: Store, folder: Path, job: Job) -> dict[str, Any]:
    with track("reading the data", 3) as advance:
        data = _read(folder, job.request)
        advance(1)
        described = _described(data)
        advance(1)
        digest = stored(described, folder / "data")
        advance(1)
    about = {
        "name": job.request["name"],
        "digest": digest,
        "records": len(described),
        "columns": described.columns,
    }
    result = {"records": about["records"], "columns": len(described.columns)}
    with store.begin() as connection:
        settle(connection, job, result)
        project = connection.get(Project, job.project_id)
        if project is None:
            raise DataError("the project was deleted")
        project.data, project.roles, project.plan = about, described.schema.to_toml(), []
        project.edition += 1
        record(
            connection, "data read", user=job.user_id, project=job.project_id,
            name=about["name"], records=about["records"],
        )  # fmt: skip
    return result


def _forget_upload(folder: Path, request: dict[str, Any]) -> None:
    if "file" in request:
        (folder / "incoming" / request["file"]).unlink(missing_ok=True)


def _read(folder: Path, request: dict[str, Any]) -> Microdata:
    from tacit.io.read import read

    if "url" in request:
        return read(request["url"], table=request["table"]).in_memory()
    path = folder / "incoming" / request["file"]
    check_unpacked_size(path)
    return read(path).in_memory()


def _described(data: Microdata) -> Microdata:
    """Propose roles; where nothing can be proposed the columns have none yet."""
    from tacit.suggest import suggest_roles

    if not len(data):
        raise DataError("the file holds no records", do="check that it is the right one")
    return suggest_roles(data).apply(data)


def stored(data: Microdata, folder: Path) -> str:
    """Write the data under the digest of their file, and return the digest."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = folder / f"{new_id()}.parquet"  # another job may be reading other data for this project
    with new_file(new) as scratch:
        data.local.write_parquet(scratch)
    digest = file_digest(new)
    new.replace(folder / f"{digest}.parquet")
    return digest
