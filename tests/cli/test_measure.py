"""tacit measure: files alone and beside their originals."""

import json

import pytest

from tacit import risk

ROLES = ["--key", "Age", "--key", "State"]


@pytest.fixture
def released(run, patients):
    run("apply", patients, "-o", "out", "--suggested-roles", "--seed", 1,
        "--step", "sample size=6", "--step", "mdav columns=Income k=3")  # fmt: skip
    return "out"


def values(result):
    assert result.exit_code == 0, result.stderr
    card = json.loads(result.stdout)["scorecard"]
    return {m["measure"]: m["value"] for m in card["risk"] + card["utility"]}


def test_a_file_alone_has_risks(run, patients):
    result = run("measure", patients, *ROLES)
    assert result.exit_code == 0
    assert "k-anonymity" in result.stdout
    assert "2 of 10 records have values of Age, State that no other record has" in result.stdout
    assert "original" not in result.stdout.splitlines()[1]


def test_one_measure_with_parameters(run, patients):
    result = run("measure", patients, "--measure", "k-anonymity keys=State k=2", "--json")
    assert values(result) == {"k-anonymity": 1}


def test_a_release_folder_is_measured_as_when_it_was_made(run, patients, released, folder):
    saved = json.loads((folder / released / "dossier/measurements.json").read_text())
    expected = {m["measure"]: m["value"] for m in saved["risk"] + saved["utility"]}
    assert values(run("measure", patients, released, "--json")) == pytest.approx(expected)


def test_given_roles_win_over_those_of_the_dossier(run, patients, released):
    wide = values(run("measure", patients, released, "--json"))
    narrow = values(run("measure", patients, released, "--key", "State", "--json"))
    assert narrow["k-anonymity"] >= wide["k-anonymity"]


def test_a_folder_is_not_measured_beside_other_records(run, patients, released, folder, refusal):
    head, *rows = (folder / patients).read_text().splitlines()
    (folder / patients).write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert "not the data that were protected" in refusal(run("measure", patients, released))


def test_a_folder_without_its_dossier_is_measured_by_position(run, patients, folder):
    run("apply", patients, "-o", "out", *ROLES, "--seed", 1, "--step", "mdav columns=Income k=3")
    whole = values(run("measure", patients, "out", "--json"))
    (folder / "out/dossier").rename(folder / "inside")
    assert values(run("measure", patients, "out", *ROLES, "--json")) == whole


def test_two_plain_files_are_compared_by_position(run, patients, folder):
    content = (folder / patients).read_text().replace(",45500,", ",45000,")
    (folder / "masked.csv").write_text(content)
    found = values(run("measure", patients, "masked.csv", *ROLES, "--json"))
    assert found["k-anonymity"] == 1
    assert found["information-loss"] > 0
    same = values(run("measure", patients, patients, *ROLES, "--json"))
    assert same["information-loss"] == 0


def test_the_released_file_has_reading_options_of_its_own(run, patients, folder):
    content = (folder / patients).read_text().replace(",", "|")
    (folder / "masked.txt").write_text(content)
    result = run("measure", patients, "masked.txt", *ROLES, "--json",
                 "--released-option", "separator=|", "--separator", ",")  # fmt: skip
    assert values(result)["information-loss"] == 0


def test_what_does_not_fit_is_left_out_with_the_reason(run, patients, released):
    result = run("measure", patients, patients, "--confidential", "Income")
    assert result.exit_code == 0
    assert "not measured: k-anonymity" in result.stdout


def test_when_nothing_fits_that_is_an_error(run, patients, refusal, monkeypatch):
    monkeypatch.setattr("tacit.cli.measure._fitting", lambda _released: [risk.KAnonymity()])
    assert "nothing can be measured" in refusal(run("measure", patients))


def test_a_measure_that_was_asked_for_must_succeed(run, patients, refusal):
    assert "k-anonymity" in refusal(run("measure", patients, "--measure", "k-anonymity"))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("k-anonimity", "did you mean 'k-anonymity'?"),
        ("mdav columns=Age", "there is no risk or utility method 'mdav'"),
        ("k-anonymity kk=3", "k-anonymity has no parameter 'kk'"),
        ("k-anonymity keys=Agee", "did you mean 'Age'?"),
    ],
)
def test_bad_measures_are_refused(run, patients, refusal, measure, message):
    assert message in refusal(run("measure", patients, *ROLES, "--measure", measure))


def test_utility_needs_a_release(run, patients, refusal):
    line = refusal(run("measure", patients, *ROLES, "--measure", "information-loss"))
    assert "give RELEASED" in line
