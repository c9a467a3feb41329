"""The OpenAPI document, taken at its word: requests it allows, and requests it does not."""

import shutil

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tacit.app.api import (
    accounts,
    catalogue,
    federation,
    games,
    projects,
    queries,
    versions,
    work,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
OPERATIONS = sorted(
    f"{method} /api/v1{route.path}"
    for module in (accounts, projects, versions, work, queries, catalogue, games, federation)
    for route in module.router.routes
    for method in route.methods
)


@pytest.fixture(scope="module")
def asked(houses, tmp_path_factory):
    """Return the document of an app with a project, a key of its owner, and real ids."""
    from tacit.app.services import Services
    from tacit.app.serving import Attempts, create_app
    from tacit.app.settings import Settings

    folder = tmp_path_factory.mktemp("schema") / "house"
    shutil.copytree(houses["masked"], folder)
    settings = Settings(
        folder=folder, allowed_hosts=("testserver",), workers=0,
        agency_keys=str(folder / "keys"), coordinator_keys=str(folder / "keys"),
        agencies=[f"{name}=127.0.0.1:1" for name in ("a", "b", "c")],
    )  # fmt: skip
    parts = Services.start(settings)
    owner = parts.accounts.log_in("the custodian", "correct horse battery").actor
    (project,) = parts.projects.visible(owner)
    (version,) = parts.versions.of_project(owner, project["id"])
    job = parts.jobs.submit(owner, project["id"], "generate", {"name": "x", "plan": []})
    policy = parts.queries.settings_of(owner, project["id"])["policy"]
    parts.queries.set_up(owner, project["id"], policy=policy, active=True, open_to_all=False)
    app = create_app(settings)
    app.state.attempts = Attempts(most=10**6)
    key = parts.accounts.create_token(owner, "schema")
    document = schemathesis.openapi.from_dict(app.openapi())
    document.app = app
    yield (
        document,
        {"Authorization": f"Bearer {key}"},
        {"project": project["id"], "version": version["id"], "job": job},
    )
    parts.close()


def _attempts(document, operation, mode, examples, ids, ask):
    """Send requests that hypothesis makes from the description of an operation."""
    method, path = operation.split(" ")
    described = document[path][method]

    @given(case=described.as_strategy(generation_mode=mode))
    @hypothesis_settings(
        max_examples=examples, deadline=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), database=None,
    )  # fmt: skip
    def attempt(case):
        if method != "DELETE":
            for name in set(case.path_parameters or {}) & set(ids):
                case.path_parameters[name] = ids[name]
        ask(case)

    attempt()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_the_document_allows_ends_as_it_says(asked, operation):
    document, headers, ids = asked

    def ask(case):
        answer = case.call(base_url="http://testserver", headers=headers)
        case.validate_response(answer, checks=CHECKS)

    _attempts(document, operation, GenerationMode.POSITIVE, 5, ids, ask)


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.split()[0] in ("POST", "PUT", "PATCH")]
)
def test_what_the_document_does_not_allow_is_never_a_bug(asked, operation):
    document, headers, ids = asked

    def ask(case):
        answer = case.call(base_url="http://testserver", headers=headers)
        case.validate_response(answer, checks=[not_a_server_error])

    _attempts(document, operation, GenerationMode.NEGATIVE, 3, ids, ask)


def test_every_operation_is_described_and_says_how_it_may_end(asked):
    document, *_ = asked
    for path, operations in document.raw_schema["paths"].items():
        for method, about in operations.items():
            assert about["description"], f"{method} {path} has no words"
            if path.startswith("/api"):
                assert {"400", "401", "403", "404", "409", "422", "429"} <= set(about["responses"])


def test_every_operation_of_the_document_is_tried(asked):
    document, *_ = asked
    described = {
        f"{method.upper()} {path}"
        for path, operations in document.raw_schema["paths"].items()
        for method in operations
    }
    assert described - {"GET /health", "GET /metrics"} == set(OPERATIONS)


def test_the_page_of_the_reference_lists_every_route():
    from pathlib import Path

    page = Path(__file__).resolve().parents[3] / "docs" / "reference" / "rest.md"
    text = page.read_text(encoding="utf-8")
    for operation in OPERATIONS:
        assert f"`{operation.replace('/api/v1', '')}`" in text
