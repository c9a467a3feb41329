"""tacit inspect: what is there, and a proposal to correct."""

import json

import pytest

from tacit.core.schema import Schema


def test_the_patients_are_shown_with_roles_and_reasons(run, patients):
    result = run("inspect", patients)
    assert result.exit_code == 0
    assert "patients.csv: 10 records" in result.stdout
    for word in ("SSN", "identifier", "official number", "Diagnosis", "confidential"):
        assert word in result.stdout
    assert "2 of 10 records (20.0%) are unique on the proposed keys: Age, State" in result.stdout


def test_the_same_in_json(run, patients):
    document = json.loads(run("inspect", patients, "--json").stdout)
    assert document["records"] == 10
    assert document["keys"] == {
        "columns": ["Age", "State"],
        "sample_uniques": 2,
        "smallest_group": 1,
    }
    age = next(c for c in document["columns"] if c["name"] == "Age")
    assert (age["type"], age["kind"], age["role"]) == ("integer", "numeric", "key")
    assert (age["missing"], age["distinct"], age["unique"]) == (0, 5, 2)
    assert age["reason"]


def test_the_proposal_is_saved_for_a_person_to_correct(run, patients, folder, refusal):
    result = run("inspect", patients, "--save-schema", "s.toml")
    assert result.exit_code == 0
    assert "--schema s.toml" in result.stdout
    text = (folder / "s.toml").read_text()
    assert "# named like an official number of a person" in text.split('name = "SSN"')[0]
    schema = Schema.load(folder / "s.toml")
    assert schema.identifiers == ["Name", "SSN"]
    assert schema.keys == ["Age", "State"]
    (folder / "s.toml").write_text("mine")
    assert "exists already" in refusal(run("inspect", patients, "--save-schema", "s.toml"))
    assert (folder / "s.toml").read_text() == "mine"
    assert run("inspect", patients, "--save-schema", "s.toml", "--force").exit_code == 0
    assert Schema.load(folder / "s.toml") == schema


def test_a_file_without_keys_and_one_without_records(run, folder):
    (folder / "t.csv").write_text("reading\n1.5\n2.5\n")
    assert "No column is proposed as a key" in run("inspect", "t.csv").stdout
    (folder / "t.csv").write_text("age,sex\n")
    result = run("inspect", "t.csv", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["records"] == 0


def test_a_proposal_with_odd_names_can_be_read_back(run, folder):
    names = ["a b", "é", "[[column]]", "x#y", 'q"q', "age"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (folder / "t.csv").write_text(f"{header}\n1,2,3,4,5,6\n2,3,4,5,6,7\n", encoding="utf-8")
    assert run("inspect", "t.csv", "--save-schema", "s.toml").exit_code == 0
    assert Schema.load(folder / "s.toml").columns == names


def test_names_that_look_like_markup_are_shown_as_they_are(run, folder):
    (folder / "t.csv").write_text("[red]x[/red],:smile:\n1,2\n3,4\n")
    text = run("inspect", "t.csv").stdout
    assert "[red]x[/red]" in text
    assert ":smile:" in text


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("age;income\n20;1,5\n30;2,5\n", ["--separator", ";", "--decimal", ","]),
        ("age;income\n20;1,5\n30;2,5\n", ["--read-option", "separator=;", "--decimal", ","]),
        ("age,income\n20,1.5\n30,-9\n", ["--read-option", "missing=-9,-8"]),
        ("age,income\n20,1.5\n", ["--read-option", "separator=,", "--read-option", "format=csv"]),
    ],
)
def test_reading_options_reach_the_format(run, folder, content, options):
    (folder / "t.csv").write_text(content)
    document = json.loads(run("inspect", "t.csv", "--json", *options).stdout)
    assert [c["type"] for c in document["columns"]] == ["integer", "decimal"]


def test_an_encoding_is_used(run, folder):
    (folder / "t.csv").write_bytes("Straße,age\nA,1\n".encode("latin-1"))
    assert "Straße" in run("inspect", "t.csv", "--encoding", "latin-1").stdout


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("separatr=;", "did you mean 'separator'?"),
        ("separator", "written name=value"),
        ("=;", "written name=value"),
        ("schema=s.toml", "use --schema"),
    ],
)
def test_bad_reading_options_are_refused(run, patients, refusal, option, message):
    assert message in refusal(run("inspect", patients, "--read-option", option))
