"""Save an approved version as a new table of a database."""

from __future__ import annotations

from typing import Any

from tacit.app.settings import Settings
from tacit.app.store.database import Store, record
from tacit.app.store.records import Job, Version
from tacit.app.versions import Versions, data_sets
from tacit.core.errors import DataError


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Write all of the masked records or none; a table that exists is left alone.

    Further data sets of a synthetic version become tables with their number behind the name.
    """
    from tacit.io.read import read
    from tacit.io.write import write

    with store.read() as connection:
        version = connection.get(Version, job.request["version"])
    if version is None or version.project_id != job.project_id or version.state != "approved":
        raise DataError("the version is not there any more, or is not approved")
    table = str(job.request["table"])
    files = data_sets(Versions(store, settings).folder(job.project_id, version.id))
    tables = [table, *(f"{table}_{number}" for number in range(2, len(files) + 1))]
    for path, name in zip(files, tables, strict=True):
        data = read(path).in_memory()
        write(data, job.request["url"], table=name)
    with store.begin() as connection:
        record(
            connection, "version saved to a table", user=job.user_id, project=job.project_id,
            name=version.name, table=", ".join(tables), records=len(data),
        )  # fmt: skip
    return {"table": table, "records": len(data)} | ({"tables": tables} if tables[1:] else {})
