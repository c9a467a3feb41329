"""tacit replay: the same bits, or a refusal that says what differs."""

import json

import pytest


@pytest.fixture
def released(run, patients):
    result = run("apply", patients, "-o", "out", "--suggested-roles", "--step", "sample size=6")
    assert result.exit_code == 0
    return "out/dossier"


def test_a_dossier_is_replayed(run, released):
    result = run("replay", released)
    assert result.exit_code == 0, result.stderr
    assert "reproduced bit for bit" in result.stdout
    assert json.loads(run("replay", released, "--json").stdout)["reproduced"] is True


def test_the_data_may_have_moved(run, released, folder, refusal):
    (folder / "patients.csv").rename(folder / "moved.csv")
    assert "cannot be read again" in refusal(run("replay", released))
    assert run("replay", released, "--data", "moved.csv").exit_code == 0


def test_other_data_are_refused(run, released, folder, refusal):
    path = folder / "patients.csv"
    path.write_text(path.read_text().replace("45500", "45501"))
    assert "not the data that were protected" in refusal(run("replay", released))


def test_a_changed_release_is_refused(run, released, folder, refusal):
    (folder / "out/public/data.csv").write_text("Age\n1\n")
    assert "changed after the release" in refusal(run("replay", released))


def test_what_is_no_dossier_is_refused(run, folder, refusal):
    assert "not a dossier" in refusal(run("replay", folder))


def test_other_versions_are_mentioned(run, released, folder):
    path = folder / released / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(manifest))
    result = run("replay", released)
    assert result.exit_code == 0
    assert "warning: numpy was 1.0 when the release was made" in result.stderr


def test_a_dossier_of_tables_is_told_from_one_of_records(run, patients, refusal):
    assert run("table", "--by", "State", "--rule", "freq(2)", patients, "tab").exit_code == 0
    assert "make the tables again with tacit table --plan" in refusal(run("replay", "tab"))
