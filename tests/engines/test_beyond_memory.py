"""A plan on a Parquet file stays within a bound on memory that the file itself would break."""

import json
import subprocess
import sys

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

from tacit.cli.main import app

_PROGRAM = """
import sys
from tacit.cli.main import main
sys.argv = ["tacit", *sys.argv[1:]]
try:
    main()
finally:
    lines = open("/proc/self/status").read().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""
_STEPS = ["--step", "recode column=age width=20", "--step", "round columns=income base=100",
          "--step", "pram columns=marital"]  # fmt: skip


def _file(path, n):
    duckdb.sql(
        f"""COPY (SELECT i AS id, (hash(i) % 90)::INT AS age,
        (hash(i + 1) % 99999)::DOUBLE AS income,
        ['single', 'married', 'widowed'][(1 + hash(i + 2) % 3)::BIGINT] AS marital,
        {", ".join(f"'a text of some length ' || hash(i + {j}) AS t{j}" for j in range(6))}
        FROM range({n}) t(i)) TO '{path}' (FORMAT parquet)"""  # noqa: S608
    )


def _apply(path, out, *options):
    return _run("apply", path, "-o", out, "--identifier", "id", "--key", "age", "--seed", "1",
                "--format", "parquet", "--json", *_STEPS, *options)  # fmt: skip


def _run(*command):
    """Run tacit and return what came of it, with its largest memory in megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, command)],
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    return done, int(lines[-1]) / 1024


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_memory_is_bounded(tmp_path):
    n = 3_600_000
    _file(tmp_path / "wide.parquet", n)
    bounded = ["--engine", "duckdb", "--memory", "600MB", "--blocks", "50000"]
    done, megabytes = _apply(tmp_path / "wide.parquet", tmp_path / "out", *bounded)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["records"]["released"] == n
    in_memory = pl.read_parquet(tmp_path / "wide.parquet").estimated_size("mb")
    bound = 600 + 300  # Python and its libraries beside it
    assert in_memory > bound  # the file itself would break the bound
    assert megabytes < bound
    written = pl.scan_parquet(tmp_path / "out/public/data.parquet").select("age").collect()
    assert written["age"].n_unique() == 5
    done, megabytes = _run("replay", tmp_path / "out", "--memory", "500MB")
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"reproduced bit for bit: {n:,} records" in done.stdout
    assert megabytes < bound


def test_a_refused_plan_leaves_nothing(tmp_path):
    _file(tmp_path / "wide.parquet", 500)
    done, _ = _apply(tmp_path / "wide.parquet", tmp_path / "out", "--engine", "duckdb",
                     "--step", "sample fraction=0.5")  # fmt: skip
    assert done.returncode == 2
    assert "sample needs all records in memory" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["wide.parquet"]


def test_a_file_is_measured_where_it_is(tmp_path):
    _file(tmp_path / "wide.parquet", 500)
    command = ["measure", str(tmp_path / "wide.parquet"), "--key", "age", "--measure",
               "k-anonymity", "--json"]  # fmt: skip
    found = []
    for engine in ([], ["--engine", "duckdb", "--memory", "500MB"]):
        done = CliRunner().invoke(app, [*command, *engine], prog_name="tacit")
        assert done.exit_code == 0, done.output
        found.append(json.loads(done.stdout)["scorecard"]["risk"][0]["value"])
    assert found[0] == found[1]
