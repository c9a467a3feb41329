"""tacit demo: the whole job without any file."""

import json

import pytest

SMALL = ["-n", 400]


def test_the_demo_shows_the_way(run, folder):
    result = run("demo", *SMALL)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert "tacit-demo/dossier/report.html" in result.stdout
    assert "had 1; now it has" in result.stdout
    assert (folder / "tacit-demo/dossier/report.html").is_file()


def test_the_demo_reaches_its_goal(run, folder):
    document = json.loads(run("demo", "-o", "out", "--json", *SMALL).stdout)
    card = document["scorecard"]
    assert card["before"]["k-anonymity"]["value"] == 1
    assert next(m["value"] for m in card["risk"] if m["measure"] == "k-anonymity") >= 3
    assert document["newly_broken_constraints"] == {}
    assert document["warnings"] == []


def test_the_demo_may_be_repeated_but_never_destroys(run, folder, refusal):
    released = folder / "out/public/data.csv"
    assert run("demo", "-o", "out", *SMALL).exit_code == 0
    first = released.read_bytes()
    assert run("demo", "-o", "out", *SMALL).exit_code == 0
    assert released.read_bytes() == first
    (folder / "out/mine.txt").write_text("keep me")
    assert "will not be replaced" in refusal(run("demo", "-o", "out", *SMALL))
    assert (folder / "out/mine.txt").read_text() == "keep me"


def test_the_data_may_be_kept_and_the_release_replayed(run, folder, refusal):
    result = run("demo", "-o", "out", "--keep-data", "census.csv", *SMALL)
    assert result.exit_code == 0, result.stderr
    assert "tacit inspect census.csv" in result.stdout
    assert run("replay", "out").exit_code == 0
    again = run("demo", "-o", "out", "--keep-data", "census.csv", *SMALL)
    assert "exists already" in refusal(again)


@pytest.mark.parametrize("n", [0, 399, "many"])
def test_too_few_people_are_refused(run, refusal, n):
    assert "'--records'" in refusal(run("demo", "-n", n))
