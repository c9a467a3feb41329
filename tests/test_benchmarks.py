"""The benchmark harness: a quick run writes its pages, and losses and failures are shown."""

import ast
import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("pages")


def _side(seconds, answer=None):
    return {"seconds": seconds, "spread": 1.0, "turns": 3, "peak": 200.0, "answer": answer}


RESULT = {
    "title": "k, l and t measured, 7 keys",
    "limit": "one group-by of the keys",
    "sizes": {
        "1000": {"ours": _side(0.2, "k = 1"), "limit": _side(0.1), "pycanon": _side(0.1, [1])},
        "10000": {"ours": _side(2.0), "limit": _side(1.0), "pycanon": {"why": "over the limit"}},
    },
    "versions": {"pycanon": "1.3.5"},
    "date": "2026-01-01",
    "load": 2.0,
}


def test_losses_failures_and_distances_to_the_limit_are_shown(pages):
    results = {"syntactic-models": RESULT}
    first, second = pages.comparison(results).splitlines()[2:]
    assert [cell.strip() for cell in first.split("|")][3:7] == [
        "0.20",
        "pycanon 1.3.5",
        "0.10",
        "0.5",
    ]
    assert "k = 1; peer [1]" in first
    assert "over the limit" in second
    row = pages.limits(results).splitlines()[2]
    assert "| 2.0 | n^1.00 |" in row


def test_a_quick_run_measures_and_writes_the_page(tmp_path):
    command = [sys.executable, BENCHMARKS / "harness.py", "--quick", "--only", "noise"]
    done = subprocess.run([*command, "--out", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "results.json").read_text())["noise"]["sizes"]
    assert found["300"]["ours"]["seconds"] > 0
    assert found["300"]["limit"]["seconds"] > 0
    assert "correlated noise" in (tmp_path / "index.md").read_text()
    assert (tmp_path / "growth.svg").read_text().startswith("<svg")
    assert (tmp_path / "ratios.svg").exists()


def test_every_capability_is_named_once(pages):
    capabilities = importlib.import_module("capabilities").CAPABILITIES
    assert len({one.key for one in capabilities}) == len(capabilities)
    assert all(
        len(one.sizes) == 3 and one.sizes == tuple(sorted(one.sizes)) for one in capabilities
    )


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_everything_that_benchmarks_import_is_there(monkeypatch):
    """Tasks import where they are used, so that a wrong name would show only after minutes."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    elsewhere = {"cupy", "pycanon", "anjana", "anonypy", "recordlinkage", "splink", "sdv", "acro",
                 "pytauargus", "ctgan", "mpyc"}  # fmt: skip
    names = {name.split(".")[0] for path in BENCHMARKS.glob("*.py") for name in _imported(path)}
    assert "bench_cell_key" in names
    missing = {n for n in names - elsewhere if importlib.util.find_spec(n) is None}
    assert not missing
