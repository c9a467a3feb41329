"""pytauargus in its own environment: which cells it leaves out of a table, and the CPU it takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
from table_cases import Case

HOMES = (Path(__file__).resolve().parents[1] / ".venv-peers", Path(gettempdir()) / "peers-venv")
SCRIPT = r"""
import csv, json, sys, time
job = json.load(sys.stdin)
from pytauargus import protect
with open(job["folder"] + "/micro.csv") as f:
    rows = list(csv.DictReader(f))
data = {c: [r[c] for r in rows] for c in job["by"]}
data["turnover"] = [int(r["turnover"]) for r in rows]
started = time.process_time()
found = protect(data, tables=[job["by"]], response="turnover", safety_rules="P(10,1)|FREQ(3,10)",
                suppress=job["method"], totcode="Total",
                hrc={c: f"{job['folder']}/{c}.hrc" for c in job["nested"]} or None,
                hierleadstring="@")
seconds = time.process_time() - started
table = found.tables[0]
out = [[[str(r[c]).strip() for c in job["by"]], r["status"]] for r in table.rows]
print("RESULT" + json.dumps({"seconds": seconds, "cells": out}))
"""


def interpreter() -> Path | None:
    """The Python that has pytauargus, if any."""
    for home in HOMES:
        if any(home.glob("lib/python3*/site-packages/pytauargus")):
            return home / "bin" / "python"
    return None


def pattern(case: Case, method: str, limit: float) -> tuple[np.ndarray | None, float | str]:
    """Return the cells the peer leaves out and its CPU seconds, or what went wrong."""
    python = interpreter()
    if python is None:
        return None, "not installed"
    job = {"folder": str(case.folder), "by": case.by, "nested": case.nested, "method": method}
    try:
        with TemporaryDirectory() as scratch:  # the engine leaves its logs where it runs
            done = subprocess.run(
                [str(python), "-c", SCRIPT], input=json.dumps(job), capture_output=True,
                text=True, timeout=limit, check=False, cwd=scratch,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"> {limit:.0f} s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        return None, f"failed: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
    found = json.loads(lines[0][6:])
    return _flags(case, found["cells"]), found["seconds"]


def _flags(case: Case, cells: list) -> np.ndarray:
    table = case.table
    hidden = np.zeros(table.n_cells, dtype=bool)
    for codes, status in cells:
        if status in ("U", "M"):
            names = {d.name: c or d.total for d, c in zip(table.dimensions, codes, strict=True)}
            hidden[table.cell(**names)] = True
    return hidden
