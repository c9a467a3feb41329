"""`import tacit` and `tacit --help` stay light.

Processor time is measured, not time on the clock, and the best of several runs counts: a busy
machine must not fail the test, a heavy import must.
"""

import resource
import subprocess
import sys
import textwrap

import pytest

HEAVY = [
    "polars", "numba", "pandas", "sklearn", "scipy", "altair", "vl_convert", "typer", "rich",
    "duckdb", "pyarrow", "jinja2", "fastapi", "nicegui", "ibis", "pyspark", "highspy", "optuna",
]  # fmt: skip
METHODS_MAY_USE = ["numba", "pandas", "sklearn", "altair", "typer", "duckdb", "vl_convert"]
RUNS = 5


def printed(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def loaded(code, names):
    return printed(f"import sys\n{code}\nprint(*[m for m in {names!r} if m in sys.modules])")


def processor_seconds(command):
    """Return the least processor time that a command took."""
    spent = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def test_import_loads_nothing_heavy():
    assert loaded("import tacit", HEAVY) == []


def test_the_check_can_fail():
    assert loaded("import polars", HEAVY) == ["polars"]


@pytest.mark.parametrize("family", ["mask", "risk", "utility", "report", "io"])
def test_a_family_loads_no_kernel_compiler_or_chart(family):
    assert loaded(f"import tacit.{family}", METHODS_MAY_USE) == []


def test_the_whole_registry_loads_no_kernel_compiler_or_chart():
    assert loaded("import tacit; tacit.methods()", METHODS_MAY_USE) == []


NEVER = ["altair", "vl_convert", "pandas", "sklearn", "statsmodels", "duckdb", "optuna", "highspy"]
COMMANDS = {
    "--help": (["numpy", "polars", "narwhals", "scipy", "numba", "tacit.mask", "tacit.query"], ""),
    "inspect": (["numba", "scipy", "tacit.mask", "tacit.tables", "tacit.query"], "patients.csv"),
    "apply": (
        ["scipy.optimize", "scipy.stats", "tacit.tables", "tacit.query", "tacit.attack"],
        "patients.csv -o out --key Age --identifier Name --step 'mdav columns=Age'",
    ),
    "measure": (
        ["tacit.mask", "tacit.tables", "tacit.query", "tacit.attack", "tacit.report"],
        "patients.csv --key Age --key State --measure k-anonymity",
    ),
    "query": (["numba", "tacit.mask", "tacit.attack", "tacit.report"], "patients.csv --policy mas"),
}
"""Modules that a command has no business with, and its arguments."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_no_more_than_it_needs(command, tmp_path):
    unwanted, words = COMMANDS[command]
    csv = "Name,SSN,Age,State\n" + "".join(f"a{i},{i},{20 + i},MI\n" for i in range(10))
    (tmp_path / "patients.csv").write_text(csv, encoding="utf-8")
    code = f"""
        import os, shlex, sys
        os.chdir({str(tmp_path)!r})
        sys.stdin = open(os.devnull)
        sys.stdout, out = sys.stderr, sys.stdout
        from tacit.cli.main import app
        try:
            app({[command]!r} + shlex.split({words!r}))
        except SystemExit as ended:
            assert not ended.code, ended.code
        print("ran", *[m for m in {[*NEVER, *unwanted]!r} if m in sys.modules], file=out)
    """
    assert printed(textwrap.dedent(code)) == ["ran"]


def test_import_is_quick():
    assert processor_seconds([sys.executable, "-c", "import tacit"]) < 0.5


def test_help_is_quick():
    assert processor_seconds([sys.executable, "-m", "tacit.cli", "--help"]) < 1.0


def test_import_has_no_side_effects():
    assert printed(
        "import logging, warnings, numpy, narwhals, pydantic\n"
        "before = (len(logging.root.handlers), logging.root.level, list(warnings.filters))\n"
        "import tacit\n"
        "after = (len(logging.root.handlers), logging.root.level, list(warnings.filters))\n"
        "print(before == after)"
    ) == ["True"]
