"""Every route, asked by everybody: nobody gets more than the table says."""

import re
from itertools import product

import pytest
from sqlalchemy import func, select

from tacit.app.api import (
    access,
    accounts,
    catalogue,
    errors,
    federation,
    games,
    projects,
    queries,
    versions,
    work,
)
from tacit.app.games import EXAMPLE
from tacit.app.permissions import Action, NotFoundError
from tacit.app.store.records import Event

EVERYBODY = ("nobody", "analyst", "reviewer", "stranger", "administrator", "owner")
MODULES = (accounts, projects, versions, work, queries, catalogue, games, federation)

WHO = {
    "nobody": None, "analyst": "The analyst", "reviewer": "The reviewer",
    "stranger": "Stranger", "administrator": "Root", "owner": "The custodian",
}  # fmt: skip

# For nobody, analyst, reviewer, stranger, administrator (who takes part in nothing), owner.
# 2 stands for success; a body that is wrong on purpose (422) also means: let through.
_SELF = "401 2 2 2 2 2"
_HOUSE = "401 403 403 403 2 403"
_MAKER = "401 403 403 2 2 2"
_INSIDE = "401 404 403 404 404 2"
_SEEN = "401 404 2 404 404 2"
MATRIX = {
    "POST /session": "2 2 2 2 2 2",
    "GET /session": _SELF,
    "DELETE /session": _SELF,
    "PUT /password": "401 422 422 422 422 422",
    "GET /accounts": _HOUSE,
    "POST /accounts": _HOUSE,
    "PATCH /accounts/{account}": _HOUSE,
    "GET /keys": _SELF,
    "POST /keys": _SELF,
    "DELETE /keys/{key}": "401 404 404 404 404 404",
    "GET /projects": _SELF,
    "POST /projects": _MAKER,
    "GET /projects/{project}": _SEEN,
    "PUT /projects/{project}": _INSIDE,
    "DELETE /projects/{project}": _INSIDE,
    "PUT /projects/{project}/data": _INSIDE,
    "POST /projects/{project}/data": "401 403 403 403 403 403",
    "POST /projects/{project}/data/tables": "401 404 403 404 404 403",
    "GET /projects/{project}/data": _INSIDE,
    "GET /projects/{project}/roles": _INSIDE,
    "PUT /projects/{project}/roles": _INSIDE,
    "PUT /projects/{project}/plan": _INSIDE,
    "PUT /projects/{project}/people": _INSIDE,
    "DELETE /projects/{project}/people/{account}": _INSIDE,
    "GET /projects/{project}/history": _SEEN,
    "GET /projects/{project}/versions": _SEEN,
    "GET /versions/{version}": _SEEN,
    "GET /versions/{version}/data": _INSIDE,
    "PUT /versions/{version}/decision": "401 404 2 404 404 403",
    "DELETE /versions/{version}": _INSIDE,
    # 403: the administrator has named no database whose tables may be chosen.
    "POST /versions/{version}/table": "401 403 403 403 403 403",
    "GET /versions/{version}/files": _INSIDE,
    "GET /versions/{version}/files/{part}/{name}": _INSIDE,
    "POST /projects/{project}/generate": _INSIDE,
    "POST /projects/{project}/wizard": _INSIDE,
    "POST /projects/{project}/tables": _INSIDE,
    "POST /projects/{project}/logs": _INSIDE,
    "POST /projects/{project}/attack": _INSIDE,
    "GET /versions/{version}/attack": _SEEN,
    "GET /projects/{project}/jobs": _INSIDE,
    "GET /jobs/{job}": _INSIDE,
    "DELETE /jobs/{job}": _INSIDE,
    "GET /projects/{project}/query": "401 2 404 404 404 2",
    "POST /projects/{project}/query": "401 2 404 404 404 2",
    "GET /projects/{project}/service": _INSIDE,
    "PUT /projects/{project}/service": _INSIDE,
    "GET /projects/{project}/service/log": _INSIDE,
    "GET /projects/{project}/federation": _INSIDE,
    # 403: the administrator has given the house no keys; 404: nothing waits for an answer.
    "PUT /projects/{project}/federation": "401 404 403 404 404 403",
    "POST /projects/{project}/federation/decisions": "401 404 403 404 404 404",
    "POST /projects/{project}/federation/questions": "401 404 403 404 404 403",
    "GET /methods/{family}": _SELF,
    "POST /coprivacy": _SELF,
}


def _routes():
    return sorted(
        f"{method} {route.path}"
        for module in MODULES
        for route in module.router.routes
        for method in route.methods
    )


def test_the_table_lists_every_route():
    assert _routes() == sorted(MATRIX)


@pytest.fixture(scope="module")
def calm(open_house, tmp_path_factory):
    """Ask in a house in which no request changes anything, so that all can share it."""
    with open_house(tmp_path_factory.mktemp("calm")) as house:
        yield _Asking(house)


@pytest.fixture
def fresh(open_house, tmp_path):
    """Ask in a house of one's own, which the request may change."""
    with open_house(tmp_path) as house:
        yield _Asking(house)


class _Asking:
    """Asks a route as somebody, with all that exists in the house."""

    def __init__(self, house):
        self.house, self.clients = house, {}
        parts, people, project = house.parts, house.people, house.project
        owner = people["custodian"]
        job = parts.jobs.submit(owner, project, "generate", {"name": "other", "plan": []})
        policy = parts.queries.settings_of(owner, project)["policy"]
        parts.queries.set_up(owner, project, policy=policy, active=True, open_to_all=False)
        self.member = people["reviewer"].id
        self.names = {
            "project": project, "version": house.masked, "job": job,
            "account": people["stranger"].id, "key": "0" * 32, "part": "public",
            "name": "NOTE.md", "family": "mask",
        }  # fmt: skip
        self.bodies = _bodies(
            parts.projects.show(owner, project), self._roles(owner), policy, house.masked
        )

    def _roles(self, owner):
        parts, project = self.house.parts, self.house.project
        with parts.store.read() as connection:
            return parts.projects.open(connection, owner, project, Action.SEE_ORIGINAL).roles

    def __call__(self, route: str, person: str):
        method, path = route.split(" ")
        used = dict(self.names)
        if "people/{account}" in path:
            used["account"] = self.member
        address = "/api/v1" + re.sub(r"\{(\w+)\}", lambda m: used[m[1]], path)
        sent = {"json": self.bodies[route]} if route in self.bodies else {}
        if route == "PUT /projects/{project}/data":
            sent = {"content": b"a\n1\n", "params": {"name": "a.csv"}}
        return self.client(person).request(method, address, **sent)

    def client(self, person):
        """Log somebody in once: the app counts log-ins."""
        if person not in self.clients:
            self.clients[person] = self.house.client(WHO[person])
        return self.clients[person]

    def events(self) -> int:
        """Count what is written down of what was done."""
        with self.house.parts.store.read() as connection:
            return connection.scalar(select(func.count()).select_from(Event))


def _bodies(about, roles, policy, version):
    """Return what is sent to each route that wants to be told something."""
    table = {"by": [["sex"]], "rule": "freq(3)", "method": {"method": "suppress-modular"}}
    return {
        "POST /session": {"name": "Root", "password": "correct horse battery"},
        "PUT /password": {"old": "x"},
        "POST /accounts": {"name": "New", "role": "analyst", "password": "a long new sentence"},
        "PATCH /accounts/{account}": {"unlock": True},
        "POST /keys": {"name": "k"},
        "POST /projects": {"name": "Another"},
        "PUT /projects/{project}": {"name": "Renamed"},
        "POST /projects/{project}/data": {"url": "postgresql://h/d", "table": "t"},
        "POST /projects/{project}/data/tables": {"url": "postgresql://h/d"},
        "POST /versions/{version}/table": {"url": "postgresql://h/d", "table": "t"},
        "PUT /projects/{project}/roles": {"schema_toml": roles, "edition": about["edition"]},
        "PUT /projects/{project}/plan": {"steps": about["plan"], "edition": about["edition"]},
        "PUT /projects/{project}/people": {"name": "The analyst", "capacity": "analyst"},
        "PUT /versions/{version}/decision": {"approve": True},
        "POST /projects/{project}/generate": {"name": "next"},
        "POST /projects/{project}/wizard": {"target": "k >= 3"},
        "POST /projects/{project}/query": {"method": "crosstab", "by": ["sex"]},
        "PUT /projects/{project}/service": {"policy": policy, "active": True},
        "POST /projects/{project}/tables": {"name": "t", "plan": table},
        "POST /projects/{project}/attack": {"version": version},
        "POST /projects/{project}/logs": {"name": "l"},
        "PUT /projects/{project}/federation": {"active": False, "policy": ""},
        "POST /projects/{project}/federation/decisions": {"computation": "0" * 32, "join": True},
        "POST /projects/{project}/federation/questions": {"analysis": {"analysis": "count"}},
        "POST /coprivacy": {"game": EXAMPLE},
    }


def _cases(is_wanted):
    return [
        (route, person)
        for person, route in product(EVERYBODY, sorted(MATRIX))
        if is_wanted(route, _expected(route, person))
    ]


def _expected(route, person):
    return MATRIX[route].split()[EVERYBODY.index(person)]


def _is_change(route, expected):
    return expected == "2" and not route.startswith("GET")


@pytest.mark.parametrize(("route", "person"), _cases(_is_change))
def test_who_may_change_something_can(fresh, route, person):
    answer = fresh(route, person)
    assert answer.is_success, answer.text


@pytest.mark.parametrize(
    ("route", "person"), _cases(lambda route, e: e == "2" and not _is_change(route, e))
)
def test_who_may_see_something_does(calm, route, person):
    answer = calm(route, person)
    assert answer.is_success, answer.text


@pytest.mark.parametrize(("route", "person"), _cases(lambda _route, expected: expected != "2"))
def test_everybody_else_is_refused_and_nothing_is_done(calm, route, person):
    calm.client(person)  # to log in is something that is done
    before = calm.events()
    answer = calm(route, person)
    assert str(answer.status_code) == _expected(route, person), answer.text
    assert calm.events() == before


@pytest.mark.parametrize(
    "route", [r for r in sorted(MATRIX) if not r.startswith("GET") and r != "POST /session"]
)
def test_a_browser_must_prove_that_it_meant_the_change(calm, route, monkeypatch):
    """A page of another site can make a browser send its cookie, but not the token."""
    calm.client("owner")
    before = calm.events()
    monkeypatch.setattr(access, "CSRF_HEADER", "X-Other")
    assert calm(route, "owner").status_code == 403
    assert calm.events() == before


def test_errors_of_ours_have_their_status():
    from tacit.core.errors import DataError

    assert errors.status_of(NotFoundError("x")) == 404
    assert errors.status_of(DataError("x")) == 422
