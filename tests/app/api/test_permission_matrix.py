"""Every route, asked by everybody: nobody gets more than the table says."""

import re

import pytest

from tacit.app.api import access, accounts, catalogue, errors, projects, queries, versions, work

EVERYBODY = ("nobody", "analyst", "reviewer", "stranger", "administrator", "owner")
MODULES = (accounts, projects, versions, work, queries, catalogue)

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
    "GET /versions/{version}/files": _INSIDE,
    "GET /versions/{version}/files/{part}/{name}": _INSIDE,
    "POST /projects/{project}/generate": _INSIDE,
    "POST /projects/{project}/wizard": _INSIDE,
    "POST /projects/{project}/tables": _INSIDE,
    "GET /projects/{project}/jobs": _INSIDE,
    "GET /jobs/{job}": _INSIDE,
    "DELETE /jobs/{job}": _INSIDE,
    "GET /projects/{project}/query": "401 2 404 404 404 2",
    "POST /projects/{project}/query": "401 2 404 404 404 2",
    "GET /projects/{project}/service": _INSIDE,
    "PUT /projects/{project}/service": _INSIDE,
    "GET /projects/{project}/service/log": _INSIDE,
    "GET /methods/{family}": _SELF,
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


@pytest.fixture
def asking(client, parts, people, project, masked):
    """Return a function that asks a route as somebody and gives the status."""
    owner = people["custodian"]
    about = parts.projects.show(owner, project)
    table = {"by": [["sex"]], "rule": "freq(3)", "method": {"method": "suppress-modular"}}
    job = parts.jobs.submit(owner, project, "generate", {"name": "other", "plan": []})
    member = people["reviewer"].id
    with parts.store.read() as connection:
        from tacit.app.permissions import Action

        roles = parts.projects.open(connection, owner, project, Action.SEE_ORIGINAL).roles
    policy = parts.queries.settings_of(owner, project)["policy"]
    parts.queries.set_up(owner, project, policy=policy, active=True, open_to_all=False)
    names = {
        "project": project, "version": masked, "job": job, "account": people["stranger"].id,
        "key": "0" * 32, "part": "public", "name": "NOTE.md", "family": "mask",
    }  # fmt: skip
    bodies = {
        "POST /session": {"name": "Root", "password": "correct horse battery"},
        "PUT /password": {"old": "x"},
        "POST /accounts": {"name": "New", "role": "analyst", "password": "a long new sentence"},
        "PATCH /accounts/{account}": {"unlock": True},
        "POST /keys": {"name": "k"},
        "POST /projects": {"name": "Another"},
        "PUT /projects/{project}": {"name": "Renamed"},
        "POST /projects/{project}/data": {"url": "postgresql://h/d", "table": "t"},
        "PUT /projects/{project}/roles": {"schema_toml": roles, "edition": about["edition"]},
        "PUT /projects/{project}/plan": {"steps": about["plan"], "edition": about["edition"]},
        "PUT /projects/{project}/people": {"name": "The analyst", "capacity": "analyst"},
        "PUT /versions/{version}/decision": {"approve": True},
        "POST /projects/{project}/generate": {"name": "next"},
        "POST /projects/{project}/wizard": {"target": "k >= 3"},
        "POST /projects/{project}/query": {"method": "crosstab", "by": ["sex"]},
        "PUT /projects/{project}/service": {"policy": policy, "active": True},
        "POST /projects/{project}/tables": {"name": "t", "plan": table},
    }
    who = {
        "nobody": None, "analyst": "The analyst", "reviewer": "The reviewer",
        "stranger": "Stranger", "administrator": "Root", "owner": "The custodian",
    }  # fmt: skip

    def ask(route: str, person: str) -> int:
        method, path = route.split(" ")
        used = dict(names)
        if "people/{account}" in path:
            used["account"] = member
        address = "/api/v1" + re.sub(r"\{(\w+)\}", lambda m: used[m[1]], path)
        sent = {"json": bodies[route]} if route in bodies else {}
        if route == "PUT /projects/{project}/data":
            sent = {"content": b"a\n1\n", "params": {"name": "a.csv"}}
        return client(who[person]).request(method, address, **sent)

    return ask


@pytest.mark.parametrize("route", sorted(MATRIX))
@pytest.mark.parametrize("person", EVERYBODY)
def test_each_person_gets_what_the_table_says(asking, route, person):
    expected = MATRIX[route].split()[EVERYBODY.index(person)]
    answer = asking(route, person)
    found = str(answer.status_code)
    assert found == expected if len(expected) == 3 else found[0] == expected, answer.text


@pytest.mark.parametrize("route", [r for r in sorted(MATRIX) if not r.startswith("GET")])
def test_a_browser_must_prove_that_it_meant_the_change(client, asking, route, monkeypatch):
    """A page of another site can make a browser send its cookie, but not the token."""
    if route == "POST /session":
        pytest.skip("there is no session to abuse before it begins")
    monkeypatch.setattr(access, "CSRF_HEADER", "X-Other")
    assert asking(route, "owner").status_code == 403


def test_errors_of_ours_have_their_status():
    from tacit.app.permissions import NotFoundError
    from tacit.core.errors import DataError

    assert errors.status_of(NotFoundError("x")) == 404
    assert errors.status_of(DataError("x")) == 422
