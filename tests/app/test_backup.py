"""Backup and restoring: nothing lost, nothing half, nothing elsewhere."""

import json
import zipfile

import pytest

from tacit.app import backup as module
from tacit.app.backup import backup, restore
from tacit.app.services import Services
from tacit.app.settings import Settings
from tacit.app.store.dump import lines_of, snapshot, tables_of
from tacit.core.errors import DataError, ReadError, TacitError


def _rows(settings):
    parts = Services.start(settings)
    with snapshot(parts.store) as connection:
        found = {
            t.name: sorted(json.dumps(json.loads(line), sort_keys=True)
                           for line in lines_of(connection, t))
            for t in tables_of(connection)
        }  # fmt: skip
    parts.close()
    return found


def _files(settings):
    return {
        str(p.relative_to(settings.projects)): p.read_bytes()
        for p in settings.projects.rglob("*")
        if p.is_file() and p.suffix != ".lock"
    }


@pytest.fixture
def new(tmp_path):
    """Settings of a house that is still empty."""
    return Settings(folder=tmp_path / "new", allowed_hosts=("testserver",), workers=0)


def test_a_restored_house_is_the_house(parts, people, project, masked, settings, new, tmp_path):
    about = backup(settings, tmp_path / "house.zip")
    assert about["files"] == len(_files(settings)) > 3
    restore(new, tmp_path / "house.zip")
    before = _rows(settings) | {"session": []}
    assert _rows(new) == before
    assert _files(new) == _files(settings)
    again = Services.start(new)
    assert again.projects.page(people["custodian"], project)["total"] == 80
    assert again.versions.page(people["custodian"], masked)["total"] == 80
    again.close()


def test_nobody_is_logged_in_after_restoring(parts, people, settings, new, tmp_path):
    from tacit.app.permissions import NotLoggedInError

    session = parts.accounts.log_in("Root", "correct horse battery")
    backup(settings, tmp_path / "house.zip")
    parts.accounts.log_out(session.token)
    restore(new, tmp_path / "house.zip")
    again = Services.start(new)
    with pytest.raises(NotLoggedInError):
        again.accounts.find_session(session.token)
    assert again.accounts.log_in("Root", "correct horse battery").actor.name == "Root"
    again.close()


def test_a_query_server_goes_on_with_its_history(parts, people, project, settings, new, tmp_path):
    """The secret of the noise and the log come along: the same question, the same answer."""
    owner, asked = people["custodian"], {"method": "crosstab", "by": ["sex"]}
    policy = parts.queries.settings_of(owner, project)["policy"]
    parts.queries.set_up(owner, project, policy=policy, active=True, open_to_all=False)
    before = parts.queries.ask(people["analyst"], project, asked)
    backup(settings, tmp_path / "house.zip")
    parts.queries.close()
    restore(new, tmp_path / "house.zip")
    again = Services.start(new)
    assert again.queries.verify_log(owner, project)["intact"]
    assert again.queries.ask(people["analyst"], project, asked).columns == before.columns
    again.close()


def test_only_an_empty_house_is_filled(parts, people, settings, new, tmp_path):
    file = tmp_path / "house.zip"
    backup(settings, file)
    with pytest.raises(DataError, match="not empty"):
        restore(settings, file)
    restore(new, file)
    with pytest.raises(DataError, match="not empty"):
        restore(new, file)


def test_a_house_with_files_but_no_rows_is_not_empty(parts, people, settings, new, tmp_path):
    backup(settings, tmp_path / "house.zip")
    (new.projects / "x").mkdir(parents=True)
    with pytest.raises(DataError, match="not empty"):
        restore(new, tmp_path / "house.zip")


def test_there_must_be_something_to_back_up(new, tmp_path):
    with pytest.raises(DataError, match="nothing to back up"):
        backup(new, tmp_path / "none.zip")
    assert not (tmp_path / "none.zip").exists()
    assert not new.folder.exists()


def test_a_version_deleted_while_it_is_copied_begins_the_backup_again(
    parts, people, masked, settings, tmp_path, monkeypatch
):
    real, times = module._add_files, []

    def slow(archive, folder):
        if not times:
            parts.versions.delete(people["custodian"], masked)
        times.append(1)
        real(archive, folder)

    monkeypatch.setattr(module, "_add_files", slow)
    backup(settings, tmp_path / "house.zip")
    assert len(times) == 2
    with zipfile.ZipFile(tmp_path / "house.zip") as archive:
        assert archive.read("store/version.jsonl") == b""


def test_a_backup_that_never_settles_leaves_nothing(
    parts, people, masked, settings, tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "_add_files", lambda _archive, _folder: None)
    with pytest.raises(DataError, match="again and again"):
        backup(settings, tmp_path / "house.zip")
    assert not (tmp_path / "house.zip").exists()


def _tampered(source, target, change):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


@pytest.mark.parametrize("which", ["store/event.jsonl", ".parquet"])
def test_a_changed_backup_restores_nothing(parts, people, project, settings, new, tmp_path, which):
    backup(settings, tmp_path / "house.zip")
    _tampered(
        tmp_path / "house.zip", tmp_path / "bad.zip",
        lambda name, body: body[:-2] + b"}\n" if name.endswith(which) and body else body,
    )  # fmt: skip
    _tampered(
        tmp_path / "house.zip", tmp_path / "worse.zip",
        lambda name, body: body.replace(b"e", b"a", 1) if name.endswith(which) else body,
    )  # fmt: skip
    with pytest.raises(ReadError):
        restore(new, tmp_path / "worse.zip")
    assert not new.projects.exists()
    assert not any(_rows(new).values())
    assert not any(new.projects.iterdir())
    restore(new, tmp_path / "house.zip")


@pytest.mark.parametrize(
    ("old", "replaced"), [('"format": 1', '"format": 9'), ('"revision": "0001"', '"revision": "9"')]
)
def test_a_backup_of_another_tacit_is_refused(
    parts, people, settings, new, tmp_path, old, replaced
):
    backup(settings, tmp_path / "house.zip")

    def change(name, body):
        if name != "manifest.json":
            return body
        assert old.encode() in body
        return body.replace(old.encode(), replaced.encode())

    _tampered(tmp_path / "house.zip", tmp_path / "new.zip", change)
    with pytest.raises(TacitError, match=r"another format|does not know"):
        restore(new, tmp_path / "new.zip")


@pytest.mark.postgres
def test_from_sqlite_to_postgres_and_back(parts, people, masked, settings, new, tmp_path, postgres):
    postgres.run("DROP DATABASE IF EXISTS restored")
    postgres.run("CREATE DATABASE restored")
    url = postgres.url_with(postgres.password, "restored")
    there = settings.replace(folder=tmp_path / "there", database=url)
    backup(settings, tmp_path / "one.zip")
    restore(there, tmp_path / "one.zip")
    assert _rows(there) == _rows(settings) | {"session": []}
    with pytest.raises(DataError, match="rows"):
        restore(there.replace(folder=tmp_path / "other"), tmp_path / "one.zip")
    backup(there, tmp_path / "two.zip")
    restore(new, tmp_path / "two.zip")
    assert _rows(new) == _rows(settings) | {"session": []}
    assert _files(new) == _files(settings)
