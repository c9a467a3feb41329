"""Rows of the store as lines of JSON."""

import json

import pytest
from sqlalchemy import func, select

from tacit.app.store.database import Store, record
from tacit.app.store.dump import is_empty, lines_of, load, revision, snapshot, tables_of
from tacit.app.store.records import Event, User
from tacit.core.errors import ReadError


@pytest.fixture
def other(tmp_path):
    """An empty store beside the first."""
    made = Store(f"sqlite:///{tmp_path / 'other.sqlite'}")
    made.migrate()
    yield made
    made.close()


def _all(store):
    with snapshot(store) as connection:
        return {t.name: list(lines_of(connection, t)) for t in tables_of(connection)}


def test_every_table_comes_back_as_it_was(parts, people, other):
    before = _all(parts.store)
    assert len(before["user_account"]) == 5
    with other.engine.begin() as connection:
        for table in tables_of(connection):
            assert load(connection, table, before[table.name]) == len(before[table.name])
    assert _all(other) == before


def test_tables_that_others_refer_to_come_first(parts):
    with snapshot(parts.store) as connection:
        names = [table.name for table in tables_of(connection)]
    assert names.index("user_account") < names.index("project") < names.index("job")


def test_a_snapshot_does_not_see_what_comes_after_it(parts, people):
    with snapshot(parts.store) as connection:
        before = connection.scalar(select(func.count()).select_from(User))
        parts.accounts.create(people["administrator"], "Late", "analyst", "a long new sentence")
        assert connection.scalar(select(func.count()).select_from(User)) == before


def test_the_form_of_a_store_is_told(parts, tmp_path):
    with snapshot(parts.store) as connection:
        assert revision(connection) == "0001"
    bare = Store(f"sqlite:///{tmp_path / 'bare.sqlite'}")
    with snapshot(bare) as connection:
        assert revision(connection) == ""
        assert is_empty(connection)
    bare.close()


@pytest.mark.parametrize("line", [b"{", b"{}", b'{"id": 1}', b"[]", b"1"])
def test_a_row_that_is_none_is_refused(other, line):
    with other.engine.begin() as connection:
        table = next(t for t in tables_of(connection) if t.name == "event")
        with pytest.raises(ReadError, match="row of the table event"):
            load(connection, table, [line])


@pytest.mark.postgres
def test_numbers_go_on_after_loading_into_postgres(parts, people, postgres):
    """A sequence that began at one again would give an event the number of another."""
    rows = _all(parts.store)
    postgres.run("DROP DATABASE IF EXISTS dump")
    postgres.run("CREATE DATABASE dump")
    url = postgres.url_with(postgres.password, "dump").replace("postgresql:", "postgresql+psycopg:")
    server = Store(url)
    server.migrate()
    with server.engine.begin() as connection:
        for table in tables_of(connection):
            load(connection, table, rows[table.name])
    assert {name: sorted(map(_loose, some)) for name, some in _all(server).items()} == {
        name: sorted(map(_loose, some)) for name, some in rows.items()
    }
    with server.begin() as connection:
        record(connection, "something", user=None)
        connection.flush()
        assert connection.scalar(select(func.max(Event.id))) == len(rows["event"]) + 1
    server.close()


def _loose(line):
    return json.dumps(json.loads(line), sort_keys=True)
