"""Read an uploaded file or a table of a database, and propose what its columns mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.app.databases import Address
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

_MEMORY = "1GB"
"""What a worker takes to look at the columns of a file, however large it is."""


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
    digest, described = _kept(folder, job.request)
    about = {
        "name": job.request["name"],
        "digest": digest,
        "records": len(described),
        "columns": described.columns,
    } | ({"database": Address.of(job.request["url"]).shown} if "url" in job.request else {})
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


def _kept(folder: Path, request: dict[str, Any]) -> tuple[str, Microdata]:
    """Keep what was asked for; return the digest of its file, and the data described."""
    new = _new_file_in(folder / "data")
    with track("taking in the data", 2) as advance, new_file(new) as scratch:
        data = _stored(folder, request, scratch)
        advance(1)
        described = _described(data)
        len(described)  # counted, and remembered, while the file has this name
        advance(1)
    return _named_by_digest(new), described


def stored(data: Microdata, folder: Path) -> str:
    """Write the data under the digest of their file, and return the digest."""
    new = _new_file_in(folder)
    with new_file(new) as scratch:
        data.local.write_parquet(scratch)
    return _named_by_digest(new)


def _new_file_in(folder: Path) -> Path:
    """Return a name of its own: another job may be reading other data for the same project."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / f"{new_id()}.parquet"


def _named_by_digest(path: Path) -> str:
    digest = file_digest(path)
    path.replace(path.with_stem(digest))
    return digest


def _stored(folder: Path, request: dict[str, Any], target: Path) -> Microdata:
    """Write the data as Parquet and return them; only formats for small files take memory."""
    from tacit.io.read import read
    from tacit.io.streamed import fetched, is_streamed, to_parquet

    if "url" in request:
        return fetched(read(request["url"], table=request["table"]), target, memory=_MEMORY)
    path = folder / "incoming" / request["file"]
    check_unpacked_size(path)
    if is_streamed(path):
        return to_parquet(path, target, memory=_MEMORY)
    data = read(path).in_memory()
    data.local.write_parquet(target)
    return data


def _described(data: Microdata) -> Microdata:
    """Propose roles; where nothing can be proposed the columns have none yet."""
    from tacit.suggest import suggest_roles

    if not len(data):
        raise DataError("the file holds no records", do="check that it is the right one")
    return suggest_roles(data).apply(data)
