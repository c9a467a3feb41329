"""Backup and restoring: the whole house in one file, as it was at one moment.

The file is a ZIP archive: ``store/<table>.jsonl`` holds the rows of a table, ``projects/...`` the
files, ``manifest.json`` the size and SHA-256 of each. It holds confidential data.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app.archive import Reader, Writer
from tacit.app.store.database import Store
from tacit.app.store.dump import is_empty, lines_of, load, revision, snapshot, tables_of
from tacit.app.store.records import now
from tacit.core.atomic import new_file
from tacit.core.errors import DataError, ReadError, WriteError
from tacit.core.progress import track

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tacit.app.settings import Settings

FORMAT = 1
_ATTEMPTS = 3
_LEFT_OUT = frozenset({"session"})
"""Tables whose rows are not kept: who has logged out since must not be logged in again."""
_BLOCK = 1 << 20


class _Changed(Exception):
    """Something was deleted while it was being copied."""


# -- backup ----------------------------------------------------------------------------------------


def backup(settings: Settings, target: Path) -> dict[str, Any]:
    """Write everything into one file, while the app goes on; return what is in it.

    The rows are those of one moment; files are copied after it. A file is there before a row speaks
    of it, so only what was deleted meanwhile can be missing: then the backup begins again.
    """
    if not settings.database and not (settings.folder / "store.sqlite").exists():
        raise DataError("there is nothing to back up", got=str(settings.folder))
    store = Store(settings.store_url)
    try:
        for _ in range(_ATTEMPTS):
            with suppress(_Changed), new_file(target) as scratch:
                return _written(store, settings, scratch)
    finally:
        store.close()
    raise DataError(
        "files were deleted again and again while they were copied",
        do="try again when less is going on",
    )


def _written(store: Store, settings: Settings, scratch: Path) -> dict[str, Any]:
    about: dict[str, Any] = {"format": FORMAT, "made": now().isoformat()}
    with Writer(scratch, about) as archive:
        with snapshot(store) as connection:
            about["revision"] = revision(connection)
            if not about["revision"]:
                raise DataError("there is nothing to back up", got="a store without tables")
            needed = _add_tables(archive, connection)
        _add_files(archive, settings.projects)
        if not all(_is_there(name, archive.files) for name in needed):
            raise _Changed
    files = [name for name in archive.files if name.startswith("projects/")]
    sizes = sum(entry["size"] for entry in archive.files.values())
    return {**about, "files": len(files), "bytes": sizes}


def _add_tables(archive: Writer, connection: Connection) -> list[str]:
    """Add the rows; return the files and folders that they speak of."""
    needed: list[str] = []

    def watched(name: str, lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            if name in ("project", "version"):
                needed.extend(_named_in(name, json.loads(line)))
            yield line

    for table in tables_of(connection):
        lines = iter(()) if table.name in _LEFT_OUT else lines_of(connection, table)
        archive.add(f"store/{table.name}.jsonl", watched(table.name, lines))
    return needed


def _named_in(table: str, row: dict[str, Any]) -> list[str]:
    if table == "version":
        return [f"projects/{row['project_id']}/versions/{row['id']}/"]
    digest = row["data"].get("digest")
    return [f"projects/{row['id']}/data/{digest}.parquet"] if digest else []


def _is_there(name: str, files: dict[str, Any]) -> bool:
    return name in files or (name.endswith("/") and any(f.startswith(name) for f in files))


def _add_files(archive: Writer, folder: Path) -> None:
    paths = _kept(folder)
    with track("copying files", len(paths)) as advance:
        for path in paths:
            name = f"projects/{path.relative_to(folder).as_posix()}"
            try:
                with path.open("rb") as file:
                    archive.add(name, iter(lambda f=file: f.read(_BLOCK), b""))  # type: ignore[misc]
            except FileNotFoundError:
                continue
            advance(1)


def _kept(folder: Path) -> list[Path]:
    """Return the files to keep; a log's checkpoint comes before the log, which only grows."""

    def is_kept(path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        return not hidden and path.suffix != ".lock" and path.is_file() and not path.is_symlink()

    found = [path for path in folder.rglob("*") if is_kept(path)]
    return sorted(found, key=lambda path: (path.suffix != ".head", path))


# -- restoring -------------------------------------------------------------------------------------


def restore(settings: Settings, source: Path) -> dict[str, Any]:
    """Fill an empty house with a backup, all of it or nothing."""
    with Reader(source) as archive:
        if archive.about.get("format") != FORMAT:
            raise ReadError("this backup is of another format", do="use the tacit that made it")
        _require_no_files(settings)
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = Store(settings.store_url)
        try:
            _fill(store, settings, archive)
            store.migrate()
        finally:
            store.close()
    files = sum(name.startswith("projects/") for name in archive.files)
    return {"made": archive.about["made"], "files": files}


def _fill(store: Store, settings: Settings, archive: Reader) -> None:
    with snapshot(store) as connection:
        _require_no_rows(connection)
    store.migrate(str(archive.about["revision"]))
    with tempfile.TemporaryDirectory(dir=settings.folder, prefix=".restore.") as scratch:
        _extract(archive, Path(scratch))
        found = Path(scratch) / "projects"
        try:
            with store.engine.begin() as connection:
                _require_no_rows(connection)
                _load(archive, connection)
                _require_no_files(settings)
                _move(found, settings.projects)
        except BaseException:
            if not found.exists():  # it was moved, but the rows were not taken
                settings.projects.rename(found)
            raise


def _extract(archive: Reader, scratch: Path) -> None:
    (scratch / "projects").mkdir(mode=0o700)
    names = [name for name in archive.files if name.startswith("projects/")]
    needed = sum(archive.files[name]["size"] for name in names)
    if needed > shutil.disk_usage(scratch).free:
        raise WriteError("there is not enough space", got=f"{needed:,} bytes are needed")
    with track("restoring files", len(names)) as advance:
        for name in names:
            archive.extract(name, scratch / name)
            advance(1)


def _load(archive: Reader, connection: Connection) -> None:
    tables = tables_of(connection)
    saved = {name for name in archive.files if name.startswith("store/")}
    if saved != {f"store/{table.name}.jsonl" for table in tables}:
        raise ReadError("the backup does not hold the tables of its form")
    for table in tables:
        load(connection, table, archive.lines(f"store/{table.name}.jsonl"))


def _move(found: Path, target: Path) -> None:
    """Put the folder of the projects in its place, in one step."""
    if target.exists():
        target.rmdir()
    found.rename(target)


def _require_no_files(settings: Settings) -> None:
    if settings.projects.exists() and any(settings.projects.iterdir()):
        raise DataError(
            "this house is not empty", got=str(settings.projects), do="restore into a new folder"
        )


def _require_no_rows(connection: Connection) -> None:
    if not is_empty(connection):
        raise DataError(
            "this house is not empty", got="its store has rows", do="restore into a new store"
        )
