"""Replay of a release beyond memory: the file is opened where it lies and written as it streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.core.block_release import FILE_DIGEST, stream
from tacit.core.data import Microdata
from tacit.core.digest import file_digest
from tacit.core.errors import ReplayError, TacitError
from tacit.io.beyond_memory import connected, open_parquet


def is_streamed(manifest: Mapping[str, Any]) -> bool:
    """Whether a release was made of data beyond memory, which are known by their file."""
    digest: str = manifest["input"]["digest"]
    return digest == "" or digest.startswith(FILE_DIGEST)


def reopened(
    recorded: Mapping[str, Any], source: str | Path, schema: Path, memory: str
) -> Microdata:
    """Open the file that was protected, and check that it is the same, byte by byte."""
    if not recorded["digest"]:
        raise ReplayError(
            "the dossier holds no fingerprint of the data: they came from an engine, not a file",
            do="write them to a Parquet file and protect that, to be able to replay it",
        )
    if not isinstance(source, str | Path):
        raise ReplayError(
            "this release was made of a file beyond memory",
            got=type(source).__name__,
            do="give the path of the Parquet file",
        )
    try:
        data = open_parquet(source, memory=memory, schema=schema)
    except TacitError as error:
        raise ReplayError(f"the original data cannot be read again: {error}") from error
    if FILE_DIGEST + file_digest(Path(source)) != recorded["digest"]:
        raise ReplayError(
            "this is not the file that was protected",
            got=f"{source}, whose bytes differ",
            do="find the file as it was: one written anew does not do, even of the same records",
        )
    return data


def write_streamed(data: Microdata, path: Path, format: str) -> None:
    """Write the release as it was written then: by DuckDB, in the order of the original."""
    stream(data, path, format)


def differing_columns(before: Path, after: Path, format: str, memory: str) -> list[str] | None:
    """Return the columns whose values differ, compared as they stream; None if the columns do."""
    session = connected(memory)
    read = session.read_parquet if format == "parquet" else session.read_csv
    sides = [read(str(path)) for path in (before, after)]
    if sides[0].columns != sides[1].columns:
        return None
    for name, side in zip(("released", "again"), sides, strict=True):
        side.create_view(name)
    quoted = ['"' + name.replace('"', '""') + '"' for name in sides[0].columns]
    counts = ", ".join(f"count(*) FILTER (r.{c} IS DISTINCT FROM a.{c})" for c in quoted)
    both = session.sql(f"SELECT {counts} FROM released r POSITIONAL JOIN again a")  # noqa: S608 - quoted
    return [name for name, n in zip(sides[0].columns, both.fetchall()[0], strict=True) if n]
