"""Auditing of exact sums: time of a decision as the answered queries grow.

    python benchmarks/bench_auditor.py [ATOMS=10000] [QUERIES=4000]

Dense queries hold each atom with probability one half, the worst case; tables are the cells of
two-way tables over six variables, what a server is asked. Then the audit by intervals.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations

import numpy as np
from measuring import growth_exponent, markdown, peak_megabytes

from tacit.query.auditor import SumAuditor
from tacit.query.interval_auditor import IntervalAuditor

MARKS = (100, 250, 500, 1000, 2000, 3000, 4000)


def dense(n_atoms: int, n_queries: int) -> list[list[object]]:
    """CPU milliseconds of a decision around each mark, for random dense queries."""
    rng = np.random.default_rng(0)
    auditor, rows, started, since = SumAuditor(n_atoms, rng=rng), [], time.process_time(), 0
    auditor.admit(rng.random(n_atoms) < 0.5)
    for asked in range(2, n_queries + 1):
        if asked in {mark - 50 for mark in MARKS}:
            started, since = time.process_time(), asked
        auditor.admit(rng.random(n_atoms) < 0.5)
        if asked in MARKS:
            taken = (time.process_time() - started) / (asked - since + 1)
            rows.append([asked, auditor.rank, taken, peak_megabytes()])
    return rows


def tables(n_atoms: int) -> list[object]:
    """Two-way tables over six variables of random atoms: cells asked, rank, refused, seconds."""
    rng = np.random.default_rng(1)
    variables = [rng.integers(0, levels, n_atoms) for levels in (2, 5, 8, 12, 20, 30)]
    auditor, refused, asked, started = SumAuditor(n_atoms, rng=rng), 0, 0, time.process_time()
    for one, other in combinations(variables, 2):
        cells = [(one == i) & (other == j) for i in np.unique(one) for j in np.unique(other)]
        cells = [cell for cell in cells if cell.any()]
        refused += not auditor.admit(np.array(cells)).allowed
        asked += len(cells)
    return [n_atoms, asked, auditor.rank, refused, time.process_time() - started]


def intervals(n_atoms: int, n_tables: int) -> list[object]:
    """One-way tables, then an interval audit of each: classes, CPU seconds of the last decision."""
    rng = np.random.default_rng(2)
    values = rng.lognormal(3, 1, n_atoms)
    auditor = IntervalAuditor(np.zeros(n_atoms), np.full(n_atoms, np.inf), 0.2 * values)
    for _ in range(n_tables):
        variable = rng.integers(0, 6, n_atoms)
        table = np.array([variable == level for level in range(6)], dtype=float)
        started = time.process_time()
        verdict = auditor.admit(table, table @ values)
    classes = len(np.unique(auditor._labels))
    return [n_atoms, auditor.n_answered, classes, verdict.allowed, time.process_time() - started]


def main() -> None:
    n_atoms = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    n_queries = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000
    SumAuditor(4).admit([1, 1, 0, 0])
    found = dense(n_atoms, n_queries)
    shown = [[a, r, f"{1000 * s:.1f}", f"{m:.0f}"] for a, r, s, m in found]
    print(f"Dense queries over {n_atoms} atoms\n")
    print(markdown(("answered", "rank", "CPU ms a decision", "peak MB"), shown))
    slope = growth_exponent([row[0] for row in found], [row[2] for row in found])
    print(f"\nGrowth with answered queries: exponent {slope:.2f}\n")
    rows = [tables(n) for n in (1_000, n_atoms)]
    header = ("atoms", "cells asked", "rank", "tables refused", "CPU s")
    print(markdown(header, [[*row[:4], f"{row[4]:.2f}"] for row in rows]), "\n")
    rows = [intervals(n_atoms, n) for n in (1, 2, 3)]
    header = ("atoms", "answers", "classes", "allowed", "CPU s, last table")
    print(markdown(header, [[*row[:4], f"{row[4]:.2f}"] for row in rows]))


if __name__ == "__main__":
    main()
