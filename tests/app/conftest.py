"""A house with people of every role, on a store of its own."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tacit.app.permissions import Actor, Role
from tacit.app.services import Services
from tacit.app.settings import Settings
from tacit.app.store.records import User
from tacit.app.worker import Worker

PASSWORD = "correct horse battery"  # noqa: S105 - of people who live as long as a test


@pytest.fixture(autouse=True, scope="session")
def _cheap_hashes() -> Iterator[None]:
    """Hash passwords with little work; how much is the business of Argon2's own tests."""
    from argon2 import PasswordHasher

    from tacit.app import accounts

    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", lambda: cheap)
        yield


@pytest.fixture(autouse=True, scope="session")
def _patience() -> Iterator[None]:
    """Never end a worker that is slow to hear: here its process is that of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.app.worker._GRACE", 3600.0)
        yield


def _settings(folder: Path) -> Settings:
    """Settings by which no worker is given up, however busy the machine is."""
    return Settings(folder=folder, allowed_hosts=("testserver",), heartbeat_seconds=20.0, workers=0)


@pytest.fixture(scope="session")
def houses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Houses made once, which tests copy: with people, with a project, with a masked version."""
    root = tmp_path_factory.mktemp("houses")
    made = {name: root / name for name in ("people", "project", "masked")}
    _with_people(made["people"])
    shutil.copytree(made["people"], made["project"])
    _with_project(made["project"])
    shutil.copytree(made["project"], made["masked"])
    _with_version(made["masked"])
    return made


def _with_people(folder: Path) -> None:
    """One person of each role, and a second custodian who takes part in nothing."""
    parts = Services.start(_settings(folder))
    root = parts.accounts.create_first("Root", PASSWORD)
    for role in (Role.CUSTODIAN, Role.REVIEWER, Role.ANALYST):
        parts.accounts.create(root, f"The {role}", role, PASSWORD)
    parts.accounts.create(root, "Stranger", Role.CUSTODIAN, PASSWORD)
    parts.store.close()


def _with_project(folder: Path) -> None:
    """A project of the custodian with data of eighty made-up people, a reviewer, an analyst."""
    from tacit.datasets import census

    parts, worker = Services.start(_settings(folder)), Worker(_settings(folder))
    owner = parts.accounts.log_in("the custodian", PASSWORD).actor
    made = parts.projects.create(owner, "Census")
    parts.projects.invite(owner, made, "The reviewer", "reviewer")
    parts.projects.invite(owner, made, "The analyst", "analyst")
    incoming = parts.projects.folder(made) / "incoming"
    incoming.mkdir(parents=True)
    census(80, seed=4).local.write_csv(incoming / "people.csv")
    job = parts.jobs.submit(owner, made, "import", {"name": "people.csv", "file": "people.csv"})
    worker.step()
    assert parts.jobs.show(owner, job)["state"] == "done"
    edition = parts.projects.show(owner, made)["edition"]
    steps = [{"method": "mdav", "columns": ["income", "taxes"], "k": 3}]
    parts.projects.set_plan(owner, made, steps, edition)
    worker.store.close()
    parts.store.close()


def _with_version(folder: Path) -> None:
    """A masked version of the project's data."""
    parts, worker = Services.start(_settings(folder)), Worker(_settings(folder))
    owner = parts.accounts.log_in("the custodian", PASSWORD).actor
    (project,) = parts.projects.visible(owner)
    plan = parts.projects.show(owner, project["id"])["plan"]
    asked = {"name": "version 1", "plan": plan, "seed": 1}
    job = parts.jobs.submit(owner, project["id"], "generate", asked)
    worker.step()
    assert parts.jobs.show(owner, job)["state"] == "done"
    worker.store.close()
    parts.store.close()


@dataclass(frozen=True)
class House:
    """A served house with a masked version, in which several tests may ask."""

    parts: Services
    people: dict[str, Actor]
    project: str
    masked: str
    client: Callable[[str | None], Any]


@pytest.fixture(scope="session")
def open_house(houses: dict[str, Path]) -> Callable[[Path], AbstractContextManager[House]]:
    """Return a function that opens a copy of the house with a masked version."""
    return lambda folder: _opened(houses["masked"], folder / "house")


@contextmanager
def _opened(template: Path, folder: Path) -> Iterator[House]:
    from tacit.app.serving import create_app

    shutil.copytree(template, folder)
    app = create_app(_settings(folder))
    parts: Services = app.state.services
    people = _people(parts)
    (project,) = parts.projects.visible(people["custodian"])
    (masked,) = parts.versions.of_project(people["custodian"], project["id"])
    yield House(parts, people, project["id"], masked["id"], _client_of(app))
    parts.close()


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a house in a temporary folder, furnished with what the test asks for."""
    folder = tmp_path / "house"
    wanted = [w for w in ("masked", "project", "people") if w in request.fixturenames]
    if wanted:
        houses: dict[str, Path] = request.getfixturevalue("houses")
        shutil.copytree(houses[wanted[0]], folder)
    return _settings(folder)


@pytest.fixture
def parts(settings: Settings) -> Iterator[Services]:
    """The services of the house."""
    made = Services.start(settings)
    yield made
    made.store.close()


@pytest.fixture
def people(parts: Services) -> dict[str, Actor]:
    """The people of the house by their role, and the stranger."""
    return _people(parts)


def _people(parts: Services) -> dict[str, Actor]:
    with parts.store.read() as connection:
        found = connection.scalars(select(User)).all()
    by_name = {user.name: Actor(user.id, user.name, Role(user.role)) for user in found}
    stranger = by_name.pop("Stranger")
    return {str(actor.role): actor for actor in by_name.values()} | {"stranger": stranger}


@pytest.fixture
def worker(settings: Settings, parts: Services) -> Iterator[Worker]:
    """A worker that does one job when told to."""
    made = Worker(settings)
    yield made
    made.store.close()


@pytest.fixture
def project(parts: Services, people: dict[str, Actor]) -> str:
    """The project of the custodian, with a reviewer and an analyst."""
    (found,) = parts.projects.visible(people["custodian"])
    return str(found["id"])


@pytest.fixture
def masked(parts: Services, people: dict[str, Actor], project: str) -> str:
    """The masked version of the project's data."""
    (found,) = parts.versions.of_project(people["custodian"], project)
    return str(found["id"])


@pytest.fixture
def client(settings: Settings, parts: Services) -> Callable[[str], Any]:
    """Return a program that acts as the person of a role, or as nobody."""
    from tacit.app.serving import create_app

    return _client_of(create_app(settings))


def _client_of(app: Any) -> Callable[[str], Any]:
    from fastapi.testclient import TestClient

    def of(name: str | None = None) -> TestClient:
        made = TestClient(app, raise_server_exceptions=False)
        if name is not None:
            answer = made.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            made.headers["X-CSRF-Token"] = answer.json()["csrf"]
        return made

    return of
