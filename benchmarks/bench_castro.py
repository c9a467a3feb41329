"""Controlled adjustment of the tables of Castro (2006): time and distance, senses free or all up.

    python benchmarks/bench_castro.py targus table7 hier13 [seconds=60]

The published instances are quadratic programmes that send every sensitive cell up; `squares, all
up` is their optimum (nan where the sums of the file, printed to six digits, leave none). Choosing
the senses as well gives a nearer table.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from measuring import markdown

from tacit import tables
from tacit.core.errors import ProtectionError
from tacit.io.argus import read_castro

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables" / "castro_cta"
HEADER = ("table", "cells", "sums", "sensitive", "squares, all up", "squares", "CPU s",
          "weighted changes, all up", "weighted changes", "proven", "CPU s")  # fmt: skip


def all_up(table: tables.Table, sensitive: tables.Sensitive, norm: str) -> float:
    """Return the least distance if every sensitive cell must rise."""
    from tacit.tables.adjust import controlled

    method = tables.ControlledAdjustment(weights="user", norm=norm)
    problem = method._problem(table, sensitive, 1.0)
    rises = np.ones(len(problem.sensitive), dtype=bool)
    found = problem.solve(~rises, rises, 60)
    if found is None or norm == "absolute":
        return float("nan") if found is None else found[2]
    return float(problem.weight @ controlled._squared(problem, rises) ** 2)


def line(name: str, seconds: float) -> list[object]:
    """One table: the published programme and ours, in both norms."""
    table = read_castro(FOLDER / f"{name}.txt.gz")
    sensitive = table.sensitive()
    row = [name, f"{table.n_cells:,}", f"{table.relations.shape[0]:,}", f"{len(sensitive):,}"]
    for norm in ("squares", "absolute"):
        method = tables.ControlledAdjustment(weights="user", norm=norm, seconds=seconds)
        started = time.process_time()
        try:
            made = method.protect(table, sensitive)
        except ProtectionError:
            row += ["no end", "no end", *(["no"] if norm == "absolute" else []), f"> {seconds:g}"]
            continue
        spent = time.process_time() - started
        change = np.abs(made.published - table.value)
        distance = table.cost @ (change**2 if norm == "squares" else change)
        row += [f"{all_up(table, sensitive, norm):.6g}", f"{distance:.6g}"]
        row += ["yes" if made.notes["optimal"] else "no"] if norm == "absolute" else []
        row.append(f"{spent:.1f}")
    return row


if __name__ == "__main__":
    given = sys.argv[1:]
    seconds = float(given.pop()) if given and given[-1].isdigit() else 60.0
    print(markdown(HEADER, []))
    for name in given or ["targus", "table7", "table8", "table1", "hier13"]:
        print("| " + " | ".join(map(str, line(name, seconds))) + " |", flush=True)
