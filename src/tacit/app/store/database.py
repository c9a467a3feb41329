"""The store itself: one database, SQLite by default, PostgreSQL by its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, func, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session as Connection
from sqlalchemy.orm import sessionmaker

from tacit.app.store.records import Event, new_id
from tacit.core.errors import ReadError

_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATING = 7_413_117
"""Number of the lock that one migration at a time holds in PostgreSQL."""


class Store:
    """Everything the app remembers.

    Parameters
    ----------
    url
        Address of the database as SQLAlchemy reads it.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self._writing = sessionmaker(self.engine, expire_on_commit=False)
        reader = self.engine.execution_options(reading=True)
        self._reading = sessionmaker(reader, expire_on_commit=False)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a transaction that may change things: all of the block or nothing."""
        with self._writing.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only looks; others may write meanwhile."""
        with self._reading() as connection:
            yield connection

    def migrate(self, form: str = "head") -> None:
        """Bring the tables to the newest form, or another; nothing that is in them is lost."""
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        try:
            with self.engine.begin() as connection:
                if connection.dialect.name == "postgresql":  # several processes may start at once
                    connection.execute(select(func.pg_advisory_xact_lock(_MIGRATING)))
                config.attributes["connection"] = connection
                command.upgrade(config, form)
        except CommandError as error:
            raise ReadError(
                "the store is of a form that this tacit does not know", got=form,
                do="use the tacit that made it, or a newer one",
            ) from error  # fmt: skip
        except OperationalError as error:
            raise ReadError(
                "the store could not be opened",
                got=self.engine.url.render_as_string(hide_password=True),
                do="check its address, and that the server is running",
            ) from error

    def is_alive(self) -> bool:
        """Whether the database answers."""
        try:
            with self.read() as connection:
                connection.execute(select(1))
        except SQLAlchemyError:
            return False
        return True

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def record(
    connection: Connection, what: str, *, user: str | None, project: str | None = None, **about: Any
) -> None:
    """Write down who did what, in the transaction in which it is done."""
    connection.add(Event(what=what, user_id=user, project_id=project, about=about))


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    path = Path(url.removeprefix("sqlite:///"))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = create_engine(url, connect_args={"timeout": 30})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Any) -> None:
    """Take the lock for writing at once: taken later, it could fail in the middle."""
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _prepare_sqlite(raw: Any, _record: Any) -> None:
    """Let readers and one writer work side by side, and take transactions into our own hands."""
    raw.isolation_level = None
    for pragma in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = FULL"):
        raw.execute(f"PRAGMA {pragma}")


__all__ = ["Connection", "Store", "new_id", "record"]
