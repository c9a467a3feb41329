"""The whole job on the patients: inspect, schema, apply, measure, replay."""

import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "cli.sh"
PROGRAMS = Path(sys.executable).parent


def test_from_confidential_file_to_replayed_release(run, patients, folder):
    def done(*words):
        result = run(*words, "--json")
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        return json.loads(result.stdout)

    proposal = done("inspect", patients, "--save-schema", "schema.toml")
    assert proposal["keys"]["sample_uniques"] == 2

    schema = (folder / "schema.toml").read_text()
    state = 'name = "State"\nkind = "nominal"\nroles = [\n    '
    corrected = schema.replace(f'{state}"key"', f'{state}"non-confidential"')
    assert corrected != schema
    (folder / "schema.toml").write_text(corrected)

    made = done("apply", patients, "-o", "out", "--schema", "schema.toml",
                "--step", "mdav columns=Age k=3", "--step", "sample size=9")  # fmt: skip
    assert made["records"] == {"original": 10, "released": 9}
    anonymity = next(m for m in made["scorecard"]["risk"] if m["measure"] == "k-anonymity")
    assert made["scorecard"]["before"]["k-anonymity"]["value"] == 1
    assert anonymity["value"] >= 2

    again = done("measure", patients, "out")
    assert again["scorecard"]["risk"] == made["scorecard"]["risk"]

    assert done("replay", "out/dossier")["reproduced"] is True
    released = (folder / "out/public/data.csv").read_text()
    note = (folder / "out/public/NOTE.md").read_text()
    for secret in ("Wayne", "123456789"):
        assert secret not in released + note


def test_the_example_script_runs(tmp_path):
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", str(EXAMPLE), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PATH": path},
    )
    assert result.returncode == 0, result.stderr
    assert "reproduced bit for bit" in result.stdout
    assert "did you mean 'mdav'?" in result.stderr
