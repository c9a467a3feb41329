"""tacit query: one request from a file, or a session line by line."""

import json

import pytest
import tomli_w

import tacit
from tacit.cli.query import request_of


@pytest.fixture
def people(folder):
    tacit.datasets.census(1500).local.write_parquet(folder / "people.parquet")
    return "people.parquet"


@pytest.fixture
def request_file(folder):
    text = json.dumps({"method": "crosstab", "by": ["sex", "employed"]})
    (folder / "request.json").write_text(text, encoding="utf-8")
    return "request.json"


COLUMNS = ("--identifier", "person_id", "--household", "household", "--weight", "weight")


def test_one_request_from_a_file(run, people, request_file):
    done = run("query", people, *COLUMNS, "--ask", request_file)
    assert done.exit_code == 0
    assert "female" in done.stdout
    assert "Counts were changed" in done.stdout


def test_an_analysis_of_variance_is_drawn_as_a_table(run, people, folder):
    text = json.dumps({"method": "ols", "formula": "log(income) ~ sex"})
    (folder / "model.json").write_text(text, encoding="utf-8")
    shown = run("query", people, *COLUMNS, "--ask", "model.json").stdout
    assert "{" not in shown
    assert shown.split("anova")[1].split()[0] == "source"


def test_json_holds_answers_and_refusals(run, people, request_file, folder):
    (folder / "bad.json").write_text('{"method": "crosstab", "by": ["shoe"]}', encoding="utf-8")
    words = ("query", people, *COLUMNS, "--ask", request_file, "--ask", "bad.json", "--json")
    document = json.loads(run(*words).stdout)
    assert document["policy"] == "strict 1"
    first, second = document["answers"]
    assert not first["refused"]
    assert len(first["columns"]["count"]) == 4
    assert second["refused"]
    assert second["rule"] == "request"


def test_a_policy_from_a_file_and_a_folder_that_remembers(run, people, request_file, folder):
    policy = {"name": "own", "guards": [{"method": "cell-key"}, {"method": "near-cells"}]}
    (folder / "own.toml").write_text(tomli_w.dumps(policy), encoding="utf-8")
    words = ("query", people, *COLUMNS, "--policy", "own.toml", "--folder", "kept")
    words = (*words, "--ask", request_file, "--json")
    first, second = (json.loads(run(*words).stdout)["answers"] for _ in range(2))
    assert first == second
    assert (folder / "kept" / "secret.key").stat().st_mode & 0o077 == 0


def test_a_session(process, people):
    lines = "\n".join(
        [
            "help", "rules", "describe", "", "# nothing", "crosstab by=sex where employed=true",
            "summary numbers=income by=sex", "quantiles number=income probabilities=0.5",
            "nonsense", "crosstab 'by=sex", "quit", "crosstab by=sex",
        ]
    )  # fmt: skip
    done = process("query", people, *COLUMNS, input=lines)
    assert done.returncode == 0, done.stderr
    assert "Cell key noise" in done.stdout
    assert "deviation" in done.stdout
    assert done.stdout.count("refused (request)") == 2
    assert "strict 1" in done.stderr


def test_an_unknown_policy_is_named(run, people):
    done = run("query", people, "--policy", "strickt", "--ask", "no.json")
    assert done.exit_code == 2
    assert "strict" in done.stderr


def test_words_become_requests():
    assert request_of("chi2 by=sex,region") == {"method": "chi2", "by": ["sex", "region"]}
    assert request_of("crosstab by=sex weighted=true")["weighted"] is True
    universe = request_of("crosstab by=sex where age=..30 region=N,S")["universe"]
    assert universe == {"age": [{"to": 30.0}], "region": ["N", "S"]}
    assert request_of('{"method": 1}') == '{"method": 1}'
