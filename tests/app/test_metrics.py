"""Metrics: numbers only."""

import re

import pytest

from tacit.app.metrics import BOUNDS, Requests, route_of

_LINE = re.compile(r'[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? [0-9.e+-]+$')


@pytest.fixture
def scraped(client, people):
    """Return the numbers as an administrator's program fetches them."""

    def scrape():
        answer = client("Root").get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return answer.text

    return scrape


def test_every_line_is_one_that_prometheus_reads(scraped):
    lines = scraped().splitlines()
    assert len(lines) > 10
    for line in lines:
        assert line.startswith("# ") or _LINE.fullmatch(line), line


def test_answers_are_counted_by_pattern_and_never_by_address(client, project, scraped):
    program = client("The custodian")
    program.get(f"/api/v1/projects/{project}")
    program.get("/api/v1/projects/secret-name-of-a-project")
    program.get("/secret-page")
    text = scraped()
    counted = 'tacit_requests_total{method="GET",route="/api/v1/projects/{project}",status='
    assert f'{counted}"2xx"}} 1' in text
    assert f'{counted}"4xx"}} 1' in text
    assert 'route="other",status="4xx"} 1' in text
    assert project not in text
    assert "secret" not in text
    assert "Census" not in text
    assert "ustodian" not in text


def test_jobs_and_sessions_are_counted(parts, people, project, client, scraped):
    parts.jobs.submit(people["custodian"], project, "generate", {"name": "x", "plan": []})
    client("The analyst")
    text = scraped()
    assert 'tacit_jobs{state="queued"} 1' in text
    assert 'tacit_jobs{state="failed"} 0' in text
    sessions = int(re.search(r"^tacit_sessions (\d+)", text, re.MULTILINE)[1])
    assert sessions >= 2


def test_only_this_machine_and_administrators_get_the_numbers(client, people, settings):
    from fastapi.testclient import TestClient

    assert client().get("/metrics").status_code == 401
    for who in ("The custodian", "The reviewer", "The analyst"):
        assert client(who).get("/metrics").status_code == 403
    here = TestClient(client().app, client=("127.0.0.1", 50000))
    assert here.get("/metrics").status_code == 200


def test_a_histogram_counts_what_lies_below_each_bound():
    requests = Requests()
    for seconds in (0.001, 0.07, 99.0):
        requests.add("GET", "/x", 200, seconds)
    lines = list(requests.lines())
    counts = [int(line.split()[-1]) for line in lines if "_bucket" in line]
    assert counts == [1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert len(counts) == len(BOUNDS) + 1
    assert any(line.endswith(" 99.071000") for line in lines)


def test_methods_nobody_knows_do_not_make_new_lines(client, scraped, people):
    for number in range(3):
        client().request(f"X{number}", "/health")
    assert "X1" not in scraped()


def test_an_address_without_a_pattern_has_no_name():
    assert route_of({"path": "/a/secret"}) == "other"
    assert route_of({"path": "/_nicegui/1/x.js"}) == "static"
