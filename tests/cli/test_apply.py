"""tacit apply: a release with its evidence, whole or not at all."""

import json

import pytest

ROLES = ["--identifier", "Name", "--identifier", "SSN", "--key", "Age", "--key", "State",
         "--confidential", "Income"]  # fmt: skip
STEP = ["--step", "mdav columns=Age k=2"]


def test_a_file_is_protected_and_the_evidence_shown(run, patients, folder):
    result = run("apply", patients, "-o", "out", *ROLES, *STEP, "--seed", 7)
    assert result.exit_code == 0, result.stderr
    for part in ("10 records read, 10 released", "Direct identifiers removed: Name, SSN",
                 "k-anonymity", "Information loss", "out/dossier/report.html"):  # fmt: skip
        assert part in result.stdout
    released = (folder / "out/public/data.csv").read_text()
    assert released.startswith("Age,State,Diagnosis,Income,Billing\n")
    assert "Wayne" not in released
    assert (folder / "out/dossier/report.html").stat().st_size > 1000
    assert result.stderr == ""


def test_the_same_in_json_with_nothing_else_on_stdout(process, patients, folder):
    result = process("apply", patients, "-o", "out", *ROLES, *STEP, "--json", "--seed", "7")
    assert result.returncode == 0
    document = json.loads(result.stdout)
    assert document["records"] == {"original": 10, "released": 10}
    assert document["public"] == "out/public/data.csv"
    saved = json.loads((folder / "out/dossier/measurements.json").read_text())
    assert document["scorecard"] == saved
    assert document["warnings"] == []
    assert "seed" not in document


def test_the_seed_is_a_secret(run, patients):
    secret = 987654321123
    for json_or_not in ([], ["--json"]):
        result = run("apply", patients, "-o", "out", *ROLES, *STEP, "--force", "--seed", secret,
                     *json_or_not)  # fmt: skip
        assert str(secret) not in result.stdout + result.stderr


def test_steps_follow_the_plan_in_order(run, patients, folder):
    (folder / "plan.toml").write_text('[[step]]\nmethod = "mdav"\ncolumns = ["Age"]\nk = 3\n')
    result = run("apply", patients, "-o", "out", *ROLES, "--plan", "plan.toml",
                 "--step", "round columns=Income base=1000", "--step", "sample size=5",
                 "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    steps = json.loads(result.stdout)["steps"]
    first_words = [step.split(":")[0] for step in steps]
    assert first_words[1] == "Microaggregation (MDAV)"
    assert first_words[2].startswith("Rounding")
    assert first_words[3] == "Sampling"
    assert json.loads(result.stdout)["records"]["released"] == 5


def test_without_roles_nothing_is_done(run, patients, folder, refusal):
    line = refusal(run("apply", patients, "-o", "out", *STEP))
    assert all(word in line for word in ("--identifier", "--schema", "--suggested-roles"))
    assert not (folder / "out").exists()


def test_without_a_step_nothing_is_done(run, patients, refusal):
    assert "--plan or --step" in refusal(run("apply", patients, "-o", "out", *ROLES))


def test_suggested_roles_suffice(run, patients, folder):
    result = run("apply", patients, "-o", "out", "--suggested-roles", *STEP)
    assert result.exit_code == 0
    assert "Wayne" not in (folder / "out/public/data.csv").read_text()


def test_forgotten_identifiers_are_warned_about(run, patients):
    result = run("apply", patients, "-o", "out", "--key", "Age", *STEP, "--json", "--quiet")
    assert result.exit_code == 0
    warnings = json.loads(result.stdout)["warnings"]
    assert len(warnings) == 2
    assert "'Name' looks like a direct identifier" in warnings[0]
    assert result.stderr.count("warning: ") == 2


def test_declared_identifiers_are_not_warned_about(run, patients):
    assert run("apply", patients, "-o", "out", *ROLES, *STEP).stderr == ""


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_release_has_the_format_asked_for(run, patients, folder, format):
    result = run("apply", patients, "-o", "out", *ROLES, *STEP, "--format", format)
    assert result.exit_code == 0
    assert (folder / f"out/public/data.{format}").is_file()


def test_the_same_seed_gives_the_same_release(run, patients, folder):
    for name in ("one", "two"):
        run("apply", patients, "-o", name, *ROLES, "--step", "sample size=5", "--seed", 3)
    one, two = (folder / name / "public/data.csv" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_broken_rules_are_warned_about(run, folder):
    (folder / "t.csv").write_text("income,taxes\n10,9\n20,1\n30,2\n41,40\n")
    (folder / "s.toml").write_text(
        '[[column]]\nname = "income"\nkind = "numeric"\nroles = ["confidential"]\n'
        '[[column]]\nname = "taxes"\nkind = "numeric"\n'
        '[[constraint]]\nrule = "at_least"\nlarger = "income"\nsmaller = "taxes"\n'
    )
    result = run("apply", "t.csv", "-o", "out", "--schema", "s.toml",
                 "--step", "mdav columns=income k=4")  # fmt: skip
    assert result.exit_code == 0
    assert "1 records now break the rule income >= taxes" in result.stderr
