"""The app as a whole, over HTTP."""

import pytest

from tacit.app.serving import HEADERS, Attempts


def test_health_tells_that_the_store_works(client):
    answer = client().get("/health")
    assert (answer.status_code, answer.json()) == (200, {"ok": True})


@pytest.mark.parametrize("path", ["/health", "/api/v1/projects", "/nowhere"])
def test_every_answer_carries_the_headers(client, path):
    answer = client().get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_pages_may_talk_to_no_other_host_by_any_protocol():
    policy = HEADERS["Content-Security-Policy"]
    sources = {word for rule in policy.split("; ") for word in rule.split(" ")[1:]}
    assert {s for s in sources if not s.startswith("'")} == {"data:", "blob:"}
    assert "connect-src 'self';" in policy


def test_other_hosts_are_refused(client):
    assert client().get("/health", headers={"Host": "evil.example"}).status_code == 400


def test_answers_of_the_interface_are_not_kept_by_browsers(client, people):
    answer = client("Root").get("/api/v1/projects")
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client, people):
    program = client()
    answer = program.post(
        "/api/v1/session", json={"name": "Root", "password": "correct horse battery"}
    )
    cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_where_browsers_come_by_https_they_come_by_nothing_else(settings, people):
    from fastapi.testclient import TestClient

    from tacit.app.serving import create_app

    program = TestClient(create_app(settings.replace(https=True)), base_url="https://testserver")
    answer = program.post(
        "/api/v1/session", json={"name": "Root", "password": "correct horse battery"}
    )
    assert "secure" in answer.headers["Set-Cookie"].lower().split("; ")
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_without_https_nothing_says_that_there_is(client):
    assert "Strict-Transport-Security" not in client().get("/health").headers


def test_many_log_ins_from_one_address_are_refused(client, people):
    program = client()
    wrong = {"name": "nobody", "password": "x"}
    statuses = [program.post("/api/v1/session", json=wrong).status_code for _ in range(25)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


def test_attempts_are_forgotten_after_their_time():
    attempts = Attempts(most=1, seconds=0.0)
    assert attempts.allows("a")
    assert attempts.allows("a")
    strict = Attempts(most=1, seconds=60.0)
    assert strict.allows("a")
    assert not strict.allows("a")
    assert strict.allows("b")


def test_a_bug_tells_only_its_number(client, people, monkeypatch, caplog):
    from tacit.app.projects import Projects

    def broken(*_arguments):
        raise RuntimeError("income of P00000001 is 14991.52")

    monkeypatch.setattr(Projects, "visible", broken)
    answer = client("Root").get("/api/v1/projects")
    assert answer.status_code == 500
    assert "14991" not in answer.text
    assert "14991" not in caplog.text


def test_malformed_requests_do_not_echo_what_was_sent(client, people):
    answer = client("Root").post("/api/v1/projects", json={"name": ["s3cret"], "more": 1})
    assert answer.status_code == 422
    assert "s3cret" not in answer.text
