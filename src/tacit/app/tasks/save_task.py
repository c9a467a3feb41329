"""Save an approved version as a new table of a database."""

from __future__ import annotations

from typing import Any

from tacit.app.settings import Settings
from tacit.app.store.database import Store, record
from tacit.app.store.records import Job, Version
from tacit.app.versions import DATA, PUBLIC, Versions
from tacit.core.errors import DataError


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Write all of the masked records or none; a table that exists is left alone."""
    from tacit.io.read import read
    from tacit.io.write import write

    with store.read() as connection:
        version = connection.get(Version, job.request["version"])
    if version is None or version.project_id != job.project_id or version.state != "approved":
        raise DataError("the version is not there any more, or is not approved")
    table = str(job.request["table"])
    path = Versions(store, settings).folder(job.project_id, version.id) / PUBLIC / DATA
    data = read(path).in_memory()
    write(data, job.request["url"], table=table)
    with store.begin() as connection:
        record(
            connection, "version saved to a table", user=job.user_id, project=job.project_id,
            name=version.name, table=table, records=len(data),
        )  # fmt: skip
    return {"table": table, "records": len(data)}
