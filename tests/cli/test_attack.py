"""``tacit attack`` on a release folder, a table folder, two files, and data behind a policy."""

import json

import pytest

import tacit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tacit.datasets.patients().frame.write_csv("patients.csv")
    return tmp_path


ROLES = ["--identifier", "Name", "--key", "Age", "--key", "State", "--confidential", "Diagnosis"]


def test_a_release_folder(run, folder):
    made = run("apply", "patients.csv", *ROLES, "--step", "mdav columns=Age k=2", "--out", "out")
    assert made.exit_code == 0, made.stderr
    result = run("attack", "out", "--json", "--report", "attack.html")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert {"linkage", "homogeneity"} <= {f["attack"] for f in told["findings"]}
    assert (folder / "attack.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_policy_and_data(run, folder):
    result = run("attack", "patients.csv", *ROLES, "--policy", "strict")
    assert result.exit_code == 0, result.stderr
    assert "behind the policy strict" in result.stdout


def test_nothing_to_compare_with_is_refused(run, folder):
    result = run("attack", "patients.csv", *ROLES)
    assert result.exit_code == 2
    assert "nothing to compare" in result.stderr


def test_a_time_of_zero_is_no_attack(run, folder):
    result = run("attack", "patients.csv", "patients.csv", *ROLES, "--seconds", "0")
    assert result.exit_code == 2
    assert "nothing was attacked" in result.stderr
    assert "the time was over" in result.stderr


def test_a_live_server_needs_a_project_and_a_key(run, folder, monkeypatch):
    monkeypatch.delenv("TACIT_KEY", raising=False)
    live = ["attack", "patients.csv", *ROLES, "--server", "http://127.0.0.1:9"]
    assert "TACIT_KEY" in run(*live, "--project", "p").stderr
    monkeypatch.setenv("TACIT_KEY", "tacit_x")
    assert "--project" in run(*live).stderr


def test_a_server_that_does_not_answer_was_not_attacked(run, folder, monkeypatch):
    monkeypatch.setenv("TACIT_KEY", "tacit_x")
    live = ["attack", "patients.csv", *ROLES, "--server", "http://127.0.0.1:9", "--project", "p"]
    result = run(*live)
    assert result.exit_code == 2, result.stdout


def test_nothing_attacked_is_not_called_safe(run, folder):
    """The first records as they are: whose they are is not known, and nothing is confidential."""
    lines = (folder / "patients.csv").read_text(encoding="utf-8").splitlines()
    (folder / "short.csv").write_text("\n".join(lines[:5]) + "\n", encoding="utf-8")
    result = run("attack", "patients.csv", "short.csv", *ROLES[:6])
    assert result.exit_code == 2
    assert "nothing was attacked" in result.stderr


def test_all_synthetic_data_sets_of_a_folder_are_attacked(run, folder):
    """An intruder has every one of them; a hold-out lets membership be attacked too."""
    everybody = tacit.datasets.census(400)
    for name, rows in {"in.csv": range(200), "out.csv": range(200, 400)}.items():
        everybody.take(rows).drop(["person_id"]).local.write_csv(name)
    roles = ["--key", "sex", "--key", "age", "--confidential", "occupation", "--weight", "weight"]
    made = run("apply", "in.csv", *roles, "--step", "synthesise m=3", "--seed", "1", "--out", "out")
    assert made.exit_code == 0, made.stderr
    result = run("attack", "out", "--holdout", "out.csv", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["target"] == "200 released records in each of 3 data sets"
    used = {f["attack"]: f["details"]["data_sets"] for f in told["findings"]}
    assert used == {"attribute-inference": 3, "correct-attribution": 3, "membership": 3}
    assert told["knowledge"]["holdout"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no such folder"),
        (["patients.csv", "patients.csv", *ROLES, "--know", "Height"], "no column 'Height'"),
        (["patients.csv", *ROLES, "--policy", "none such"], "no such policy"),
        (["broken"], "manifest is damaged"),
    ],
    ids=["path", "column", "policy", "dossier"],
)
def test_what_cannot_be_attacked_is_refused_in_words(run, folder, arguments, words):
    if arguments == ["broken"]:
        made = run(
            "apply", "patients.csv", *ROLES, "--step", "mdav columns=Age k=2", "-o", "broken"
        )
        assert made.exit_code == 0, made.stderr
        (folder / "broken" / "dossier" / "manifest.json").write_text("{", encoding="utf-8")
    result = run("attack", *arguments)
    assert result.exit_code == 2, result.stderr
    assert words in result.stderr
