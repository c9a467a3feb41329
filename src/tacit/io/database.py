"""Database tables: read lazily through Ibis, written whole in one transaction.

PostgreSQL, SQLite and DuckDB are known here; every other URL is handed to Ibis as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from pydantic import BeforeValidator

from tacit.core.data import Microdata
from tacit.core.errors import ReadError, TacitError, WriteError, nearest
from tacit.core.value import Value
from tacit.io.files import first_line, is_failure, records

_SECONDS_TO_CONNECT = 10
_NOT_DATABASES = ("http", "https", "ftp", "s3", "gs", "gcs", "az", "abfs", "file")


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


class DatabaseTable(Value):
    """How a table is read."""

    key: ClassVar[str] = "database"

    order_by: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    """Columns that sort the records. A table has no order of its own; sorted by a unique column,
    the same records come in the same order and a release can be replayed."""


def without_password(url: str) -> str:
    """Return a URL that may be stored and shown.

    Examples
    --------
    >>> without_password("postgresql://me:secret@host/db?sslmode=require")
    'postgresql://me@host/db?sslmode=require'
    """
    scheme, rest = url.split("://", 1)
    parts = urlsplit(f"//{rest}")
    user, at, host = parts.netloc.rpartition("@")
    query = [(k, v) for k, v in parse_qsl(parts.query) if "password" not in k.lower()]
    place = f"{user.split(':')[0]}{at}{host}{parts.path}"
    return f"{scheme}://{place}" + (f"?{urlencode(query)}" if query else "")


def read_table(url: str, table: str | None, asked: DatabaseTable) -> Any:
    """Return a table as a lazy frame; no record is fetched yet."""
    with _talking(url, ReadError, "could not read from"):
        database = _open(url, ReadError)
        known = database.tables()
        if table is None:
            raise ReadError(
                "a database needs the name of a table", do=f"give table=; {_some(known)}"
            )
        name = next((n for n in known if n == table), None)
        if name is None and not ("." in table and database.has(table)):
            raise ReadError(f"the database has no table {table!r}", do=nearest(table, known))
        return database.lazy(table, asked.order_by)


def table_names(url: str) -> list[str]:
    """Return the names of the tables of a database, sorted."""
    with _talking(url, ReadError, "could not read from"):
        return sorted(map(str, _open(url, ReadError).tables()))


def write_table(data: Microdata, url: str, table: str, *, force: bool = False) -> None:
    """Write the records to a new table, all of them or none."""
    with _talking(url, WriteError, "could not write to"):
        database = _open(url, WriteError, writable=True)
        if not force and database.has(table):
            raise WriteError(
                "the table exists already", got=table, do="choose another name or use force"
            )
        database.store(records(data), table)


def _some(known: list[str]) -> str:
    return f"known: {', '.join(sorted(known)[:10])}" if known else "it has none"


@contextmanager
def _talking(url: str, error: type[TacitError], what: str) -> Iterator[None]:
    """Turn whatever a driver raises into one line without the password."""
    try:
        yield
    except (TacitError, MemoryError):
        raise
    except BaseException as problem:
        if not is_failure(problem):
            raise
        message = first_line(problem)
        for secret in _secrets(url):
            message = message.replace(secret, "***")
        # "from None": the driver's own error may quote the password.
        raise error(f"{what} {without_password(url)}: {message}") from None


def _secrets(url: str) -> set[str]:
    parts = urlsplit(f"//{url.split('://', 1)[1]}")
    given = [v for k, v in parse_qsl(parts.query) if "password" in k.lower()]
    raw = parts.netloc.rpartition("@")[0].partition(":")[2]
    return {secret for secret in (*given, raw, unquote(raw)) if secret}


def _open(url: str, error: type[TacitError], *, writable: bool = False) -> Any:
    from tacit.io import _engines

    scheme = url.split("://", 1)[0].split("+")[0].lower()
    if scheme in _NOT_DATABASES:
        raise error(
            "tacit reads files of this machine and databases, not addresses",
            got=without_password(url),
            do="download the file first",
        )
    if scheme in ("postgresql", "postgres"):
        return _engines.Postgres(f"postgresql://{url.split('://', 1)[1]}", _SECONDS_TO_CONNECT)
    if scheme in ("sqlite", "duckdb"):
        path = _file_of(url)
        if not writable and not path.is_file():
            raise error("there is no such database file", got=str(path))
        return (_engines.Sqlite if scheme == "sqlite" else _engines.DuckDb)(path, writable)
    return _engines.OtherDatabase(url)


def _file_of(url: str) -> Path:
    """Return the path in ``sqlite:///relative.db`` or ``sqlite:////absolute.db``."""
    return Path(unquote(url.split("://", 1)[1].removeprefix("/")))
