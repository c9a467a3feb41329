"""Run the program: inside this process for speed, or as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tacit.cli.main import app

PATIENTS = """\
Name,SSN,Age,State,Diagnosis,Income,Billing
John Wayne,123456789,44,MI,AIDS,45500,1200
Mary Gore,323232323,44,MI,Asthma,37900,2500
John Banks,232345656,55,MI,AIDS,67000,3000
Jesse Casey,333333333,44,MI,Asthma,21000,1000
Jack Stone,444444444,55,MI,Asthma,90000,900
Mike Kopi,666666666,45,MI,Diabetes,48000,750
Angela Simms,777777777,25,IN,Diabetes,49000,1200
Nike Wood,888888888,35,MI,AIDS,66000,2200
Mikhail Aaron,999999999,55,MI,AIDS,69000,4200
Sam Pall,100000000,45,MI,Tuberculosis,34000,3100
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def patients(folder) -> str:
    """The ten patients of TFB in a file."""
    (folder / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    return "patients.csv"


@pytest.fixture
def run():
    """Run a command in this process."""

    def run(*words: object):
        # As wide as a person's screen, whatever runs the tests.
        runner = CliRunner(env={"COLUMNS": "160"})
        return runner.invoke(app, [str(word) for word in words], prog_name="tacit")

    return run


@pytest.fixture
def process():
    """Run a command as a process of its own."""

    def process(*words: object, **options):
        command = [sys.executable, "-m", "tacit.cli", *map(str, words)]
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=300, env=environment, **options
        )

    return process


def one_error(result) -> str:
    """Check that a command was refused with one line, and return that line."""
    code = getattr(result, "exit_code", getattr(result, "returncode", None))
    assert code == 2, (code, result.stdout, result.stderr)
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.stdout + result.stderr
    return lines[0]


@pytest.fixture
def refusal():
    """Check that a command was refused with one line, and return that line."""
    return one_error
