"""Rows of the store as lines of JSON, out of one database and into another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import Connection, DateTime, Integer, MetaData, Table, func, inspect, select, text

from tacit.app.store.database import Store
from tacit.app.store.records import Record
from tacit.core.errors import ReadError

_BATCH = 500


@contextmanager
def snapshot(store: Store) -> Iterator[Connection]:
    """Look at all tables as they are at one moment, while others go on writing."""
    options: dict[str, Any] = {"reading": True}
    if store.engine.dialect.name != "sqlite":  # there a transaction is a snapshot anyway
        options["isolation_level"] = "REPEATABLE READ"
    with store.engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def revision(connection: Connection) -> str:
    """Return which form the tables have; empty where there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.scalar(text("select version_num from alembic_version"))
    return "" if found is None else str(found)


def tables_of(connection: Connection) -> list[Table]:
    """Return our tables as they are in the database, those that others refer to first."""
    there = inspect(connection).get_table_names()
    found = MetaData()
    found.reflect(connection, only=[name for name in Record.metadata.tables if name in there])
    return found.sorted_tables


def is_empty(connection: Connection) -> bool:
    """Whether nothing is stored yet."""
    tables = tables_of(connection)
    return not any(connection.scalar(select(func.count()).select_from(t)) for t in tables)


def lines_of(connection: Connection, table: Table) -> Iterator[bytes]:
    """Yield the rows of a table as lines of JSON, a few at a time."""
    found = connection.execution_options(yield_per=_BATCH).execute(select(table))
    for row in found.mappings():
        plain = {name: _plain(value) for name, value in row.items()}
        yield json.dumps(plain, ensure_ascii=False, allow_nan=True).encode() + b"\n"


def load(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Put lines of JSON into a table and return how many there were."""
    number, waiting = 0, iter(lines)
    while rows := [_row(table, line) for line in islice(waiting, _BATCH)]:
        connection.execute(table.insert(), rows)
        number += len(rows)
    if number:
        _go_on_counting(connection, table)
    return number


def _plain(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    known = value if value.tzinfo else value.replace(tzinfo=UTC)
    return known.astimezone(UTC).isoformat()


def _row(table: Table, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if set(row) != set(table.columns.keys()):
            raise ValueError("other columns")
        for column in table.columns:
            if isinstance(column.type, DateTime) and row[column.name] is not None:
                row[column.name] = datetime.fromisoformat(row[column.name])
    except (ValueError, TypeError) as error:
        raise ReadError(f"a row of the table {table.name} cannot be read") from error
    return dict(row)


def _go_on_counting(connection: Connection, table: Table) -> None:
    """Let numbers that the database gives out begin after those that are there."""
    if connection.dialect.name != "postgresql":
        return
    for column in table.primary_key.columns:
        if isinstance(column.type, Integer):
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            largest = select(func.max(column)).scalar_subquery()
            connection.execute(select(func.setval(sequence, largest)))
