"""Open Parquet files that are larger than memory, through DuckDB with a bound on what it uses."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from tacit.core.data import Microdata
from tacit.core.engine import memory_in_bytes
from tacit.core.errors import ParameterError, ReadError
from tacit.core.schema import Schema
from tacit.io.files import check_readable, reading

_LEAST = 400_000_000
"""Python with its libraries alone takes about half of this."""

_PER_THREAD = 150_000_000
"""A thread that sorts wide records needs about this much, wherever the rest goes."""


def open_parquet(
    path: str | Path, *, memory: str = "2GB", schema: Schema | str | Path | None = None
) -> Microdata:
    """Open a Parquet file without reading it into memory.

    A third of the memory is for DuckDB, which puts the rest on disk (in a folder of ``TMPDIR``);
    the others are for a second DuckDB that gathers blocks, and for the blocks themselves.

    Parameters
    ----------
    path
        A Parquet file.
    memory
        Memory that DuckDB and the blocks may use, such as ``2GB``; Python with its libraries takes
        up to 300 MB besides.
    schema
        Roles, kinds, hierarchies and constraints: a `Schema` or the path of its TOML file.

    Examples
    --------
    >>> import tacit
    >>> from tacit.io.beyond_memory import open_parquet
    >>> tacit.write(tacit.datasets.census(1000), "census.parquet")  # doctest: +SKIP
    >>> open_parquet("census.parquet", memory="1GB").n_records  # doctest: +SKIP
    1000
    """
    path = Path(path)
    check_readable(path)
    connection = connected(memory)
    with reading(path, "Parquet"):
        relation = connection.read_parquet(_literal(path), hive_partitioning=False)
        data = Microdata.of(relation, source=str(path))
    if schema is None:
        return data
    return data.with_schema(schema if isinstance(schema, Schema) else Schema.load(schema))


def values_within(memory: str) -> int:
    """Return how many values may be collected inside a bound on memory: a quarter of it."""
    return memory_in_bytes(memory) // 4 // 24


def connected(memory: str) -> Any:
    """Return a DuckDB that uses a third of this memory and puts the rest on disk."""
    import duckdb

    n_bytes = memory_in_bytes(memory)
    if n_bytes < _LEAST:
        raise ParameterError(
            "this is too little memory to work in", got=memory, do="allow at least 400MB"
        )
    share = n_bytes // 3
    bound: dict[str, Any] = {
        "memory_limit": f"{share // 1_000_000}MB",
        "threads": max(min(share // _PER_THREAD, os.cpu_count() or 1), 1),
        "temp_directory": tempfile.gettempdir(),
    }
    connection = duckdb.connect(config=bound)
    connection.execute("SET enable_progress_bar = false")  # it would go to standard output
    return connection


def _literal(path: Path) -> str:
    """Return the name so that DuckDB takes it for one file, whatever it contains."""
    name = str(path)
    if any(character in name for character in "*?["):
        raise ReadError("the name of the file holds a wildcard", got=name, do="rename the file")
    return name
