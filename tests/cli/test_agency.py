"""tacit agency, coordinate and certificates: good options start, bad ones are one line."""

import json
import threading

import polars as pl
import pytest

from tacit.federated import Agency, AgencyServer, Credentials


def request(folder, text='analysis = "ols"\ny = "y"\nx = ["x"]\n'):
    (folder / "request.toml").write_text(text, encoding="utf-8")
    return "request.toml"


@pytest.fixture
def keys(run, folder):
    result = run("certificates", "keys", "a", "b", "c", "--json")
    assert result.exit_code == 0
    assert sorted(json.loads(result.stdout)) == ["a", "b", "c", "coordinator", "warnings"]
    return folder / "keys"


@pytest.fixture
def listening(keys):
    """Three agencies that serve in threads."""
    servers, where = [], []
    for k, name in enumerate("abc"):
        own = Credentials(keys / name)
        x = pl.Series([float(i * (k + 3) % 17) for i in range(40)])
        noise = pl.Series([float((i * i + k) % 5) for i in range(40)])
        frame = pl.DataFrame({"x": x, "y": 2 * x + noise})
        server = AgencyServer(Agency(own.identity(), frame, own.roster()), own, ("127.0.0.1", 0))
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        where += ["--agency", f"{name}=127.0.0.1:{server.port}"]
    yield where
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_computation_from_the_command_line(run, folder, listening):
    base = ["coordinate", request(folder), "--credentials", "keys/coordinator", *listening]
    document = json.loads(run(*base, "--json").stdout)
    assert document["n"] == 120
    assert document["agencies"] == ["a", "b", "c"]
    assert document["coefficients"]["x"] == pytest.approx(2, abs=0.1)
    assert "coefficients: (constant)" in run(*base).stdout


def test_a_refusal_names_the_agency(run, folder, listening, refusal):
    text = 'analysis = "mean"\nvariables = ["z"]\n'
    base = ["coordinate", request(folder, text), "--credentials", "keys/coordinator", *listening]
    assert "a: there is no column 'z'" in refusal(run(*base))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("analysis = 1 1", "no TOML"),
        ('analysis = "olss"', "did you mean 'ols'"),
        ("", "no federated"),
    ],
    ids=["broken", "misspelt", "empty"],
)
def test_bad_requests_are_one_line(run, folder, keys, refusal, text, why):
    base = ["coordinate", request(folder, text), "--credentials", "keys/coordinator"]
    assert why in refusal(run(*base, "--agency", "a=localhost:1"))


def test_the_help_names_every_analysis_and_what_it_needs(run):
    """A newcomer has the help before anything else."""
    import tacit.federated.analyses  # noqa: F401 - fills the list of analyses
    from tacit.federated import Analysis

    told = " ".join(run("coordinate", "--help").stdout.split())
    for key, analysis in Analysis.known.items():
        needed = [name for name, one in analysis.model_fields.items() if one.is_required()]
        if key != "vector":  # for agencies without records, which the command does not start
            assert key in told
            assert ", ".join(needed) in told


def test_spoilt_credentials_are_one_line(run, folder, keys, refusal, patients):
    for name, why in (("signing.key", "holds no key"), ("certificate.pem", "no certificate")):
        (keys / "a" / name).write_text("nonsense")
        assert why in refusal(run("agency", patients, "--credentials", "keys/a"))


def test_bad_options_are_one_line(run, folder, keys, refusal, patients):
    base = ["coordinate", request(folder), "--credentials", "keys/coordinator"]
    assert "name=host:port" in refusal(run(*base, "--agency", "a"))
    assert "at least three" in refusal(run(*base, "--agency", "a=localhost:1"))
    assert "above 0" in refusal(run(*base, "--agency", "a=localhost:1", "--timeout", "0"))
    assert "no request" not in refusal(
        run("coordinate", "none.toml", "--credentials", "k", "--agency", "a=b:1")
    )
    assert "credentials" in refusal(run("agency", patients, "--credentials", "none"))
    assert "host:port" in refusal(
        run("agency", patients, "--credentials", "keys/a", "--listen", "here")
    )
    assert "names must be different" in refusal(run("certificates", "more", "a", "a"))
    assert "not empty" in refusal(run("certificates", "keys", "a"))


def test_a_bad_policy_or_log_starts_nothing(run, folder, keys, refusal, patients):
    (folder / "policy.toml").write_text("min_agencies = 2\n")
    base = ["agency", patients, "--credentials", "keys/a"]
    assert "min_agencies" in refusal(run(*base, "--policy", "policy.toml"))
    (folder / "log").write_text('{"event": "released"}\n')
    assert "was changed" in refusal(run(*base, "--log", "log"))


def test_without_a_terminal_the_operator_says_no(monkeypatch):
    import io

    from tacit.cli.agency import _operator

    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert _operator()(None) is False
