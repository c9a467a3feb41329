"""tacit wizard: asked or not, it releases only what meets the target."""

import csv
import json

import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app

QUICK = ["--plans", 6, "--seed", 1]


@pytest.fixture
def many(folder):
    tacit.write(tacit.datasets.patients(200), "many.csv")
    return "many.csv"


def keys(path):
    with path.open(encoding="utf-8") as handle:
        return [tuple(row[k] for k in ("Age", "Sex", "State")) for row in csv.DictReader(handle)]


def test_yes_asks_nothing_and_writes_the_releases(run, many, folder):
    result = run("wizard", many, "-o", "out", "--yes", "--target", "k >= 3", "--json", *QUICK)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["releases"]
    assert all(p["reason"] for p in document["proposals"])
    for name, entry in document["releases"].items():
        released = keys(folder / "out" / name / "public" / "data.csv")
        assert min(released.count(key) for key in set(released)) >= 3
        assert tacit.Plan.load(entry["plan"])
        assert entry["scorecard"]["risk"]
    assert (folder / "out/map.html").is_file()
    assert "key: Age, Sex, State, Zip" in result.stderr
    plan = document["releases"]["safest"]["plan"]
    again = run("apply", many, "--plan", plan, "--suggested-roles", "-o", "again")
    assert again.exit_code == 0, again.stderr


def test_a_person_is_asked(many, folder):
    words = ["wizard", many, "-o", "out", *map(str, QUICK)]
    answers = "y\nk >= 3\ny\n"
    result = CliRunner(env={"COLUMNS": "160"}).invoke(app, words, input=answers, prog_name="tacit")
    assert result.exit_code == 0, result.stderr
    assert "Are these roles right?" in result.stderr
    assert "What must a release meet?" in result.stderr
    assert "Search among them?" in result.stderr
    assert "What was found" in result.stdout
    assert (folder / "out/wizard.md").is_file()


def test_a_person_may_say_no(many, folder, refusal):
    words = ["wizard", many, "-o", "out", "--target", "k >= 3"]
    runner = CliRunner(env={"COLUMNS": "160"})
    no = runner.invoke(app, words, input="y\nn\n", prog_name="tacit")
    assert no.exit_code == 2
    assert "nothing was done" in no.stderr
    silent = runner.invoke(app, words, input="", prog_name="tacit")
    assert silent.exit_code == 2
    assert "use --yes" in silent.stderr
    assert not (folder / "out").exists()


def test_a_target_out_of_reach_is_refused_with_what_is_closest(run, many, folder):
    target = "k >= 3; at most 0.001 % linkable"
    result = run("wizard", many, "-o", "out", "--yes", "--target", target, *QUICK)
    assert result.exit_code == 2
    assert "no plan that was tried meets the target" in result.stderr
    assert "closest is" in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "be nice"], "not understood"),
        (["--target", "k >= 3; keep Salary ~ Age"], "no column 'Salary'"),
        (["--format", "docx"], "docx"),
    ],
)
def test_bad_options_are_refused_before_any_work(run, many, options, said):
    result = run("wizard", many, "-o", "out", "--yes", *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_target_that_is_not_understood_is_asked_for_again(many, folder):
    words = ["wizard", many, "-o", "out", *map(str, QUICK)]
    answers = "y\nbe nice\nkeep the regression of Incme on Age\nk >= 3\ny\n"
    result = CliRunner(env={"COLUMNS": "160"}).invoke(app, words, input=answers, prog_name="tacit")
    assert result.exit_code == 0, result.stderr
    assert "not understood" in result.stderr
    assert "did you mean 'Income'" in result.stderr


def test_three_targets_that_are_not_understood_end_it(many, folder):
    words = ["wizard", many, "-o", "out", *map(str, QUICK)]
    result = CliRunner().invoke(app, words, input="y\na\nb\nc\nk >= 3\ny\n", prog_name="tacit")
    assert result.exit_code == 2
    assert not (folder / "out").exists()


def test_resuming_needs_a_seed_and_empty_files_hold_nobody(run, many, folder):
    refused = run("wizard", many, "-o", "out", "--yes", "--resume", "search.jsonl")
    assert refused.exit_code == 2
    assert "--seed" in refused.stderr
    (folder / "empty.csv").write_text("Age,Sex\n", encoding="utf-8")
    empty = run("wizard", "empty.csv", "-o", "out", "--yes")
    assert empty.exit_code == 2
    assert "no record to protect" in empty.stderr
