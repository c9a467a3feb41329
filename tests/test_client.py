"""The client, against a real server with a real worker."""

import http.server
import json
import socket
import threading
import time
from types import SimpleNamespace

import pytest

import tacit
from tacit._connection import Unreachable
from tacit.client import Client
from tacit.core.errors import DataError, ParameterError, ReadError, TacitError, UnknownColumnError
from tacit.core.progress import listening
from tacit.mask import Mdav

PASSWORD = "correct horse battery"  # noqa: S105 - of people who live as long as a test


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Serve a house with a custodian and an analyst, and a worker, in threads."""
    import uvicorn

    from tacit.app import worker as at_work
    from tacit.app.permissions import Role
    from tacit.app.services import Services
    from tacit.app.serving import create_app
    from tacit.app.settings import Settings
    from tacit.app.worker import Worker

    settings = Settings(
        folder=tmp_path_factory.mktemp("house"), workers=0, largest_upload=200_000,
        heartbeat_seconds=0.2, four_eyes=False,
        agency_keys="none", coordinator_keys="none",
        agencies=[f"{name}=127.0.0.1:1" for name in ("a", "b", "c")],
        databases=(f"duckdb:///{tmp_path_factory.mktemp('databases')}/",),
    )  # fmt: skip
    parts = Services.start(settings)
    root = parts.accounts.create_first("Root", PASSWORD)
    people = {
        name: parts.accounts.create(root, name, role, PASSWORD)
        for name, role in (("Carla", Role.CUSTODIAN), ("Alan", Role.ANALYST))
    }
    keys = {name: parts.accounts.create_token(who, "test") for name, who in people.items()}
    patience = pytest.MonkeyPatch()  # the worker is this process: being slow does not end it
    patience.setattr(at_work, "_GRACE", 3600.0)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="critical"))
    worker = Worker(settings)
    threads = [
        threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True),
        threading.Thread(target=worker.run, daemon=True),
    ]
    for thread in threads:
        thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    yield SimpleNamespace(address=address, keys=keys, parts=parts, people=people)
    server.should_exit = worker.stopping = True
    for thread in threads:
        thread.join(60)
    patience.undo()
    worker.store.close()
    parts.close()
    listener.close()


@pytest.fixture(scope="module")
def client(served):
    return Client(served.address, served.keys["Carla"])


@pytest.fixture(scope="module")
def project(client, tmp_path_factory):
    """A project whose data were uploaded by the client."""
    file = tmp_path_factory.mktemp("data") / "people.csv"
    tacit.datasets.census(80, seed=4).local.write_csv(file)
    made = client.create_project("Census", "made up")
    assert client.wait(client.upload(made, file), every=0.05)["records"] == 80
    return made


def test_a_file_becomes_a_masked_version_that_can_be_downloaded(client, project, tmp_path):
    roles = client.roles(project)
    client.set_roles(project, roles)
    client.set_plan(project, [Mdav(columns=["income", "taxes"], k=3)])
    assert [step.key for step in client.plan(project)] == ["mdav"]
    result = client.wait(client.generate(project, "first", seed=1), every=0.05)
    (version,) = client.versions(project)
    assert version["id"] == result["version"]
    folder = client.download(version["id"], tmp_path / "out")
    masked = tacit.read(folder / "data.parquet").frame
    assert masked.height == 80
    assert masked["income"].value_counts()["count"].min() >= 3
    client.download(version["id"], tmp_path / "dossier", part="dossier")
    client.decide(version["id"], approve=False, remark="too coarse")
    assert client.versions(project)[0]["state"] == "rejected"


def test_a_version_goes_to_a_database_and_comes_back(client, project, served):
    from tacit.app.permissions import ConflictError, NotAllowedError

    (beginning,) = served.parts.settings.databases
    address = f"{beginning}warehouse.duckdb"
    client.set_plan(project, [Mdav(columns=["income", "taxes"], k=4)])
    made = client.wait(client.generate(project, "saved", seed=1), every=0.05)["version"]
    with pytest.raises(ConflictError, match="approved"):
        client.save(made, address, "people")
    client.decide(made, approve=True)
    with pytest.raises(NotAllowedError):
        client.save(made, "duckdb:////tmp/elsewhere.duckdb", "people")
    saved = client.wait(client.save(made, address, "people"), every=0.05)
    assert saved == {"table": "people", "records": 80}
    with pytest.raises(TacitError, match="exists already"):
        client.wait(client.save(made, address, "people"), every=0.05)
    other = client.create_project("From the database")
    assert client.tables(other, address) == ["people"]
    assert client.wait(client.take_table(other, address, "people"), every=0.05)["records"] == 80
    assert "version saved to a table" in {event["what"] for event in client.history(project)}


def test_a_table_is_protected(client, project):
    plan = {"by": [["sex"]], "rule": "freq(3)", "method": {"method": "suppress-modular"}}
    result = client.wait(client.protect_table(project, "by sex", plan), every=0.05)
    assert result["name"] == "by sex"


def test_progress_of_a_job_and_of_an_upload_is_heard(client, project, tmp_path):
    heard: dict[str, float] = {}

    class Listener:
        def task(self, title, total):
            from contextlib import contextmanager

            @contextmanager
            def opened():
                heard.setdefault(title, 0.0)

                def advance(units):
                    heard[title] += units

                yield advance

            return opened()

    file = tmp_path / "small.csv"
    file.write_bytes(b"a,b\n" + b"1,2\n" * 100)
    with listening(Listener()):
        client.wait(client.upload(client.create_project("Small"), file), every=0.05)
    assert heard["sending small.csv"] == file.stat().st_size
    assert heard["waiting for the job"] == pytest.approx(1.0)


def test_errors_are_the_errors_they_were_on_the_server(client, served, tmp_path):
    from tacit.app.permissions import ConflictError, NotFoundError, NotLoggedInError

    with pytest.raises(NotFoundError, match="no such project"):
        client.project("0" * 32)
    client.create_project("Twice")
    with pytest.raises(ConflictError, match="Twice 2") as refused:
        client.create_project("Twice")
    assert refused.value.do.startswith("choose another")
    with pytest.raises(NotLoggedInError):
        Client(served.address, "tacit_wrong").projects()
    with pytest.raises(DataError, match="no data"):
        client.generate(client.create_project("Bare"), "v")
    with pytest.raises(ReadError, match="could not read"):
        client.upload(client.create_project("None"), tmp_path / "missing.csv")


def test_a_job_that_fails_raises_its_reason_with_its_kind(client, project):
    client.set_plan(project, [{"method": "mdav", "columns": ["salary"], "k": 3}])
    with pytest.raises(UnknownColumnError, match="salary"):
        client.wait(client.generate(project, "wrong"), every=0.05)


def test_agencies_are_asked_and_answered(client, project):
    rules = client.federation(project)["agency"]["policy"]
    client.set_agency(project, rules, active=True)
    assert client.federation(project)["agency"]["open"]
    with pytest.raises(TacitError, match="waits"):
        client.join(project, "0" * 32)
    job = client.ask_agencies(project, {"analysis": "count"}, seconds=5)
    with pytest.raises(TacitError, match="no certificate"):  # the house of this test has no keys
        client.wait(job, seconds=60)
    client.set_agency(project, rules, active=False)


def test_the_wizard_may_be_called_off(client, project):
    job = client.wizard(project, "k >= 3", plans=1000, seconds=600, seed=1)
    client.cancel(job)
    with pytest.raises(TacitError, match="cancelled"):
        client.wait(job, every=0.05)


def test_an_edit_on_an_older_edition_is_refused(client, project):
    from tacit.app.permissions import ConflictError

    edition = client.project(project)["edition"]
    client.set_plan(project, [], edition=edition)
    with pytest.raises(ConflictError, match="in the meantime"):
        client.set_plan(project, [], edition=edition)


def test_an_analyst_asks_and_sees_nothing_else(client, project, served):
    from tacit.app.permissions import NotFoundError
    from tacit.query import Answer, Crosstab, Refusal

    client.invite(project, "Alan", "analyst")
    client.open_query_server(project)
    with pytest.raises(ParameterError):
        client.open_query_server(project, "no such policy")
    analyst = Client(served.address, served.keys["Alan"])
    assert "sex" in str(analyst.describe(project))
    answer = analyst.ask(project, Crosstab(by=["sex"]))
    assert isinstance(answer, Answer)
    assert answer.frame.columns == ["sex", "count"]
    refusal = analyst.ask(project, {"method": "crosstab", "by": ["person_id"]})
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "request"
    for attempt in (analyst.versions, analyst.roles, analyst.project):
        with pytest.raises(NotFoundError):
            attempt(project)


def test_a_version_is_attacked_and_its_report_read(client, project):
    client.set_plan(project, [Mdav(columns=["income", "taxes"], k=3)])
    made = client.wait(client.generate(project, "attacked", seed=1), every=0.05)["version"]
    assert client.attack_report(made) is None
    result = client.wait(client.attack(project, made, seconds=60), every=0.05)
    report = client.attack_report(made)
    assert result["passed"] is report["passed"] is False
    linkage = next(f for f in report["findings"] if f["attack"] == "linkage")
    assert linkage["verdict"] == "leaked"
    assert "worst" not in linkage
    with pytest.raises(TacitError, match="no such version"):
        client.attack(project, "0" * 32)


def test_a_live_server_is_attacked_by_its_address(client, project, served):
    """The same attack on the same server: everything without a rule, nothing with the default."""
    from tacit import attack
    from tacit.query import Policy

    data = tacit.datasets.census(80, seed=4)
    address, key = served.address, served.keys["Carla"]
    live = attack.ServerTarget.at(address, key, project=project, data=data)
    learnt = attack.Tracker(secret="occupation", most=20)  # noqa: S106 - a column
    chosen = [learnt, attack.LinearReconstruction()]
    found = {}
    for policy in (Policy(name="open"), Policy.named("strict")):
        served.parts.queries.set_up(
            served.people["Carla"], project, policy=policy.to_toml(), active=True, open_to_all=False
        )
        found[policy.name] = attack.audit(live, attacks=chosen)
    assert found["open"]["tracker"].success.value == 1.0
    assert found["open"]["tracker"].gain > 0, "80 people are too few for an interval, not for this"
    assert found["strict"].passed
    assert "cannot bring columns" in found["open"].left_out["linear-reconstruction"]
    assert address in found["open"].summary()
    assert key not in repr(live) + str(found["open"].as_dict())


def test_a_server_that_is_away_is_not_called_safe():
    from tacit import attack

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        live = attack.ServerTarget.at(address, "k", project="p", data=tacit.datasets.census(20))
        report = attack.audit(live, attacks=[attack.Tracker()])
    assert len(report) == 0
    assert "tracker" in report.left_out


def test_a_file_that_is_too_large_is_refused_with_its_reason(client, tmp_path):
    file = tmp_path / "large.csv"
    file.write_bytes(b"a\n" + b"1\n" * 5_000_000)
    with pytest.raises(TacitError, match=r"too large|closed the connection"):
        client.upload(client.create_project("Large"), file)


def test_waiting_ends_when_it_is_told_to(hostile):
    endless = json.dumps({"state": "running", "progress": 0.1, "message": "", "result": {}})
    hostile.answers["/api/v1/jobs/j"] = (200, {}, endless.encode())
    with pytest.raises(TacitError, match="not done yet"):
        Client(hostile.address, "k").wait("j", seconds=0.2, every=0.05)


def test_the_key_is_neither_shown_nor_sent_where_it_could_be_read(client, served):
    assert served.keys["Carla"] not in repr(client)
    with pytest.raises(ParameterError, match="without encryption"):
        Client("http://tacit.example.org", "k")
    Client("http://tacit.example.org", "k", insecure=True)
    for address in ("ftp://x", "tacit.example.org", ""):
        with pytest.raises(ParameterError, match="not the address"):
            Client(address, "k")


def test_a_server_that_is_away_is_said_to_be(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(Unreachable, match="does not answer"):
            Client(f"http://127.0.0.1:{port}", "k", timeout=2).projects()


@pytest.fixture
def hostile():
    """A server that answers as it likes, and remembers what it was sent."""
    answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
    seen: list[tuple[str, str | None]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("Authorization")))
            status, headers, body = answers.get(self.path, (404, {}, b"<html>"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    yield SimpleNamespace(address=address, answers=answers, seen=seen)
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_key_does_not_follow_a_redirect(hostile):
    elsewhere = {"Location": f"{hostile.address}/elsewhere"}
    hostile.answers["/api/v1/projects"] = (302, elsewhere, b"")
    with pytest.raises(ReadError, match="not the answer of a tacit app"):
        Client(hostile.address, "k").projects()
    assert [path for path, _ in hostile.seen] == ["/api/v1/projects"]


def test_what_is_no_answer_of_ours_is_refused(hostile):
    with pytest.raises(ReadError, match="status 404"):
        Client(hostile.address, "k").projects()
    hostile.answers["/api/v1/projects"] = (200, {}, b"<html>")
    with pytest.raises(ReadError, match="not the answer"):
        Client(hostile.address, "k").projects()


@pytest.mark.parametrize("name", ["../evil", "/srv/evil", "a/b", "..", "", "a\\\\b"])
def test_a_server_cannot_write_outside_the_folder(hostile, tmp_path, name):
    files = f'{{"public": ["{name}"]}}'.encode()
    hostile.answers["/api/v1/versions/v/files"] = (200, {}, files)
    with pytest.raises(ReadError, match="none of the bundle"):
        Client(hostile.address, "k").download("v", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
