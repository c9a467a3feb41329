"""Write microdata or a release to a file or a database table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.atomic import new_file
from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, WriteError
from tacit.core.release import Release
from tacit.io.files import format_of, is_gzip, is_url


def write(
    data: Any,
    target: str | Path,
    *,
    table: str | None = None,
    format: str | None = None,
    force: bool = False,
    **options: Any,
) -> None:
    """Write records, whole or not at all.

    Parameters
    ----------
    data
        A release, microdata, or any frame. Of a release only the protected data are written.
    target
        A path, whose ending names the format, or the URL of a database.
    table
        Table of the database.
    format
        Key of the format, where the file's ending does not tell.
    force
        Replace what is there.
    options
        Parameters of the format.
    """
    released = data.data if isinstance(data, Release) else Microdata.of(data)
    if is_url(target):
        _write_table(released, str(target), table, force, format, options)
        return
    if table is not None:
        raise ParameterError("table= has no meaning for a file", do="leave it out")
    _write_file(released, Path(target), force, format, options)


def _write_table(
    data: Microdata,
    url: str,
    table: str | None,
    force: bool,
    format: str | None,
    options: dict[str, Any],
) -> None:
    from tacit.io.database import write_table

    if format is not None or options:
        raise ParameterError(
            f"{'format' if format is not None else min(options)}= has no meaning for a database",
            do="leave it out",
        )
    if not table:
        raise ParameterError("a database needs the name of a table", do="give table=")
    write_table(data, url, table, force=force)


def _write_file(
    data: Microdata, path: Path, force: bool, format: str | None, options: dict[str, Any]
) -> None:
    kind_of_file = format_of(path, format, WriteError)
    if is_gzip(path) and not getattr(kind_of_file, "reads_gzip", False):
        raise WriteError(f"{kind_of_file.title} files are written unpacked", got=path.name)
    writer = kind_of_file(**options)
    _check_free(path, force)
    with new_file(path) as scratch:
        writer.write(data, scratch)
        beside = [p for p in sorted(scratch.parent.iterdir()) if p != scratch]
        for companion in beside:
            _check_free(path.parent / companion.name, force)
        for companion in beside:
            companion.replace(path.parent / companion.name)


def _check_free(path: Path, force: bool) -> None:
    if path.is_dir():
        raise WriteError("the output path is a folder, not a file", got=str(path))
    if path.exists() and not force:
        raise WriteError(
            "the output file exists already", got=str(path), do="choose another or use force"
        )
