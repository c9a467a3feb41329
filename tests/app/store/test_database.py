"""The store: transactions, migrations, SQLite and PostgreSQL alike."""

from datetime import UTC, datetime, timedelta, timezone
from threading import Thread

import pytest
from sqlalchemy import inspect, select

from tacit.app.store.database import Store, record
from tacit.app.store.records import Event, Record, User
from tacit.core.errors import ReadError


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request, tmp_path):
    """A new store of each kind."""
    if request.param == "sqlite":
        made = Store(f"sqlite:///{tmp_path}/store.sqlite")
    else:
        server = request.getfixturevalue("postgres")
        server.run("DROP SCHEMA IF EXISTS public CASCADE")
        server.run("CREATE SCHEMA public")
        made = Store(server.url.replace("postgresql://", "postgresql+psycopg://"))
    made.migrate()
    yield made
    made.close()


def test_the_migrations_make_the_tables_that_the_code_declares(store):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.engine.connect() as connection:
        found = set(inspect(connection).get_table_names())
        assert set(Record.metadata.tables) <= found
        differences = compare_metadata(MigrationContext.configure(connection), Record.metadata)
    assert differences == []


def test_migrating_twice_loses_nothing(store):
    _add(store, "Ann")
    store.migrate()
    assert _names(store) == ["Ann"]


def test_a_block_that_fails_changes_nothing(store):
    def fail():
        with store.begin() as connection:
            connection.add(_user("Ann"))
            record(connection, "tried", user=None)
            connection.flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert _names(store) == []
    with store.read() as connection:
        assert connection.scalars(select(Event)).all() == []


def test_many_writers_at_once_all_come_through(store):
    def write(number):
        for turn in range(5):
            _add(store, f"{number}-{turn}")

    threads = [Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(_names(store)) == 20


def test_times_come_back_in_utc(store):
    there = datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=5)))
    with store.begin() as connection:
        connection.add(_user("Ann", created=there))
    with store.read() as connection:
        found = connection.scalar(select(User)).created
    assert found == there
    assert found.tzinfo is UTC


def test_it_tells_whether_it_is_alive(store):
    assert store.is_alive()


def test_a_store_that_is_not_there_is_named_without_its_password():
    lost = Store("postgresql+psycopg://me:s3cret@127.0.0.1:1/none")
    assert not lost.is_alive()
    with pytest.raises(ReadError, match="could not be opened") as caught:
        lost.migrate()
    assert "s3cret" not in str(caught.value)


def _user(name, **more):
    return User(name=name, folded=name.casefold(), role="analyst", **more)


def _add(store, name):
    with store.begin() as connection:
        connection.add(_user(name))


def _names(store):
    with store.read() as connection:
        return sorted(connection.scalars(select(User.name)))
