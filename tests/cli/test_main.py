"""The program: help, version, errors in one line, exit codes, nothing heavy at the start."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tacit import __version__
from tacit.cli import main
from tacit.cli.main import Program
from tacit.core.errors import DataError

COMMANDS = ["inspect", "apply", "measure", "table", "methods", "replay", "coprivacy", "demo"]


def test_help_names_every_command_and_the_exit_codes(run):
    result = run("--help")
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)
    assert "Exit codes: 0 done; 1 a bug" in result.stdout


def test_without_a_command_the_help_is_shown(run):
    result = run()
    assert result.exit_code == 0
    assert "Usage: tacit" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_the_common_options(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert all(option in result.stdout for option in ("--json", "--quiet", "--debug"))
    assert "Exit codes" in result.stdout


def test_the_version_is_printed(run):
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"tacit {__version__}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["appply"], "Did you mean 'apply'?"),
        (["apply"], "Missing argument 'DATA'"),
        (["apply", "x.csv"], "Missing option '--out'"),
        (["methods", "--famly", "mask"], "No such option: --famly"),
        (["apply", "x.csv", "-o", "out", "--seed", "seven"], "Invalid value for '--seed'"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(run, refusal, words, message):
    line = refusal(run(*words))
    assert message in line
    assert "; see tacit" in line


def test_wrong_usage_is_a_json_document_too(run):
    result = run("apply", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["type"] == "MissingParameter"


@pytest.fixture
def broken(monkeypatch):
    """Let the command `methods` fail with a given error."""

    def break_with(error):
        def fail(*_arguments):
            raise error

        monkeypatch.setattr("tacit.core.method.methods", fail)

    return break_with


def test_a_refusal_is_one_line_and_code_2(run, broken, refusal):
    broken(DataError("the file\nis odd", got="x", do="mend it"))
    assert refusal(run("methods")) == "error: the file is odd (got x); mend it"


def test_a_refusal_with_json_says_what_got_do(run, broken):
    broken(DataError("odd", got=3, do="mend it"))
    result = run("methods", "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error == {
        "type": "DataError",
        "message": "odd (got 3); mend it",
        "what": "odd",
        "got": "3",
        "do": "mend it",
    }
    assert result.stderr == "error: odd (got 3); mend it\n"


def test_debug_shows_the_traceback(run, broken):
    broken(DataError("odd"))
    result = run("methods", "--debug")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("error: odd\n")


def test_a_bug_is_named_as_such(run, broken):
    broken(ZeroDivisionError("division by zero"))
    result = run("methods")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: this is a bug in tacit: ZeroDivisionError: division")
    assert "--debug" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_panic_of_compiled_code_is_a_bug_too(run, broken):
    class PanicException(BaseException):
        pass

    broken(PanicException("index out of bounds"))
    result = run("methods")
    assert result.exit_code == 1
    assert "this is a bug in tacit" in result.stderr


def test_too_little_memory_is_no_bug(run, broken, refusal):
    broken(MemoryError())
    assert "not enough memory" in refusal(run("methods"))


def test_an_interrupt_is_code_130(run, broken):
    broken(KeyboardInterrupt())
    result = run("methods")
    assert result.exit_code == 130
    assert result.stderr == "error: interrupted; nothing partial is left\n"


def test_a_request_to_stop_keeps_its_code(run, broken):
    broken(SystemExit(143))
    assert run("methods").exit_code == 143


@pytest.mark.parametrize("json", ["", "--json"])
def test_reading_only_the_start_of_the_output_is_no_error(json):
    shell = f"{sys.executable} -m tacit.cli methods {json} | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("json", ["", "--json"])
def test_a_full_disk_under_stdout_is_an_error(json, refusal):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "tacit.cli", "methods", *filter(None, [json])]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    result.stdout = ""
    assert "could not write to standard output: No space left" in refusal(result)


def test_the_answer_goes_to_stdout_and_the_error_to_stderr(process):
    good, bad = process("methods", "--json"), process("methods", "mdva")
    assert good.returncode == 0
    assert good.stderr == ""
    assert json.loads(good.stdout)["methods"]
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: there is no method 'mdva'; did you mean 'mdav'?")


def test_the_start_imports_nothing_heavy():
    heavy = ("polars", "pandas", "numba", "sklearn", "scipy", "pyarrow", "duckdb", "altair")
    code = (
        "import sys; from tacit.cli.main import app\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_every_command_goes_through_the_program():
    assert isinstance(typer.main.get_command(main.app), Program)
