"""The database engines that tacit reads from and writes to.

Each has four verbs: ``tables()``, ``has(table)``, ``lazy(table, order_by)`` and
``store(frame, table)``, the last one whole or not at all.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError, WriteError, optional
from tacit.io.kinds import Notation, found

_STORED_AS = {
    "Int8": "SMALLINT", "Int16": "SMALLINT", "Int32": "INTEGER", "Int64": "BIGINT",
    "UInt8": "SMALLINT", "UInt16": "INTEGER", "UInt32": "BIGINT", "UInt64": "NUMERIC(20)",
    "Float32": "REAL", "Float64": "DOUBLE PRECISION", "Boolean": "BOOLEAN", "String": "TEXT",
    "Date": "DATE", "Datetime": "TIMESTAMP", "Time": "TIME", "Decimal": "NUMERIC",
}  # fmt: skip

_NOTHING_BUT_MISSING = {"BOOL": "Boolean", "INT": "Int64", "REAL": "Float64", "DOUB": "Float64",
                        "FLOA": "Float64", "TIME": "Datetime", "DATE": "Date"}  # fmt: skip
"""Types of SQLite columns without a single value, by a word in their declaration."""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _definition(frame: Any) -> str:
    """Return the columns of a CREATE TABLE statement."""
    columns = []
    for name, dtype in frame.schema.items():
        kind = _STORED_AS.get(type(dtype).__name__)
        if kind is None:
            raise WriteError(f"column {name!r} cannot be stored in a database", got=str(dtype))
        if getattr(dtype, "time_zone", None):
            kind = "TIMESTAMPTZ"
        columns.append(f"{_quoted(name)} {kind}")
    return ", ".join(columns)


def _table_of(backend: Any, table: str, order_by: tuple[str, ...]) -> Any:
    """Return a table of an Ibis backend, its name with or without the schema."""
    known = set(backend.list_tables())
    space, _, name = table.rpartition(".")
    found = backend.table(table) if table in known else backend.table(name, database=space)
    return found.order_by(*order_by) if order_by else found


class Postgres:
    """A PostgreSQL server, reached as libpq reaches it (also PGPASSWORD, .pgpass, sockets)."""

    def __init__(self, url: str, seconds: int) -> None:
        ibis, psycopg = optional("ibis", extra="sql"), optional("psycopg", extra="sql")
        self._connection = psycopg.connect(url, autocommit=True, connect_timeout=seconds)
        self._backend = ibis.postgres.from_connection(self._connection)
        # The lazy table keeps the backend alive, and the backend the connection.
        weakref.finalize(self._backend, self._connection.close)

    def tables(self) -> list[str]:
        """Return the names of the tables on the search path."""
        return list(self._backend.list_tables())

    def has(self, table: str) -> bool:
        """Whether there is a table of this name, with or without its schema."""
        found = self._connection.execute("SELECT to_regclass(%s)", [self._name(table)])
        return found.fetchone()[0] is not None

    def lazy(self, table: str, order_by: tuple[str, ...]) -> Any:
        """Return the table as an Ibis expression."""
        return _table_of(self._backend, table, order_by)

    def store(self, frame: Any, table: str) -> None:
        """Create the table and copy the records into it, in one transaction."""
        name = self._name(table)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"CREATE TABLE {name} ({_definition(frame)})")
            with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                for part in frame.iter_slices(100_000):
                    copy.write(part.write_csv(include_header=False))

    @staticmethod
    def _name(table: str) -> str:
        return ".".join(map(_quoted, table.split(".", 1)))


class Sqlite:
    """A SQLite file, read into memory: it holds no types that an engine could rely on."""

    def __init__(self, path: Path, _writable: bool) -> None:
        self._path = path

    def tables(self) -> list[str]:
        """Return the names of the tables and views."""
        with self._session() as session:
            kinds = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            return [row[0] for row in session.execute(kinds)]

    def has(self, table: str) -> bool:
        """Whether there is a table of this name."""
        return table in self.tables()

    def lazy(self, table: str, order_by: tuple[str, ...]) -> Any:
        """Return the table as a Polars frame, with the types its columns are declared to have."""
        import polars as pl

        order = f" ORDER BY {', '.join(map(_quoted, order_by))}" if order_by else ""
        query = f"SELECT * FROM {_quoted(table)}{order}"  # noqa: S608 - the names are quoted
        with self._session() as session:
            rows = session.execute("SELECT name, type FROM pragma_table_info(?)", [table])
            declared = {name: kind.upper() for name, kind in rows}
            frame = pl.read_database(query, session, infer_schema_length=None)
        return frame.select([_as_declared(c, declared[c.name]) for c in frame.get_columns()])

    def store(self, frame: Any, table: str) -> None:
        """Create the table and insert the records, in one transaction."""
        import polars as pl
        import polars.selectors as cs

        name, definition = _quoted(table), _definition(frame)
        plain = frame.with_columns(cs.temporal().cast(pl.String), cs.decimal().cast(pl.Float64))
        places = ", ".join("?" * frame.width)
        with self._session() as session:
            session.execute("BEGIN IMMEDIATE")
            session.execute(f"DROP TABLE IF EXISTS {name}")
            session.execute(f"CREATE TABLE {name} ({definition})")
            insert = f"INSERT INTO {name} VALUES ({places})"  # noqa: S608 - the name is quoted
            session.executemany(insert, plain.iter_rows())
            session.execute("COMMIT")

    @contextmanager
    def _session(self) -> Iterator[Any]:
        import sqlite3

        with closing(sqlite3.connect(self._path, isolation_level=None)) as session:
            yield session


def _as_declared(column: Any, kind: str) -> Any:
    """Return a SQLite column in its declared type; dates are kept there as ISO text."""
    import polars as pl

    if column.dtype == pl.String and any(word in kind for word in ("DATE", "TIME")):
        return found(column, Notation())
    if "BOOL" in kind and column.dtype.is_integer():
        return column.cast(pl.Boolean)
    if column.dtype != pl.Null:
        return column
    for word, dtype in _NOTHING_BUT_MISSING.items():
        if word in kind:
            return column.cast(getattr(pl, dtype))
    return column.cast(pl.String)


class DuckDb:
    """A DuckDB file, read by DuckDB itself."""

    def __init__(self, path: Path, writable: bool) -> None:
        import duckdb

        try:
            self._connection = duckdb.connect(str(path), read_only=not writable)
        except duckdb.ConnectionException as error:
            if writable:
                raise WriteError(
                    f"{path.name} is open for reading in this program", do="write to another one"
                ) from error
            raise ReadError(f"{path.name} is open for writing in this program") from error

    def tables(self) -> list[str]:
        """Return the names of the tables on the search path."""
        return [row[0] for row in self._connection.execute("SHOW TABLES").fetchall()]

    def has(self, table: str) -> bool:
        """Whether there is a table of this name, with or without its schema."""
        import duckdb

        try:
            self._connection.table(table)
        except duckdb.CatalogException:
            return False
        return True

    def lazy(self, table: str, order_by: tuple[str, ...]) -> Any:
        """Return the table as a DuckDB relation."""
        found = self._connection.table(table)
        return found.order(", ".join(map(_quoted, order_by))) if order_by else found

    def store(self, frame: Any, table: str) -> None:
        """Create the table from the records, in one transaction."""
        name = ".".join(map(_quoted, table.split(".", 1)))
        with closing(self._connection) as session:
            session.register("records_to_store", frame.to_arrow())
            session.execute("BEGIN")
            session.execute(f"DROP TABLE IF EXISTS {name}")
            session.execute(f"CREATE TABLE {name} AS FROM records_to_store")
            session.execute("COMMIT")


class OtherDatabase:
    """Any database that Ibis can reach by URL."""

    def __init__(self, url: str) -> None:
        self._backend = optional("ibis", extra="sql").connect(url)

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        return list(self._backend.list_tables())

    def has(self, table: str) -> bool:
        """Whether there is a table of this name."""
        return table in self.tables()

    def lazy(self, table: str, order_by: tuple[str, ...]) -> Any:
        """Return the table as an Ibis expression."""
        return _table_of(self._backend, table, order_by)

    def store(self, frame: Any, table: str) -> None:
        """Create the table as Ibis does it for this database."""
        self._backend.create_table(table, frame.to_arrow(), overwrite=self.has(table))
