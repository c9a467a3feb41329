"""Secondary suppression beside pytauargus: cells, suppressed value, CPU seconds, audit verdict.

    python benchmarks/bench_tables.py t2d t3d h2

pytauargus runs in the same call from `.venv-peers` or `/tmp/peers-venv` when one of them has it.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from measuring import markdown
from table_cases import CASES, Case
from table_peer import pattern

from tacit import tables
from tacit.tables import ProtectedTable

OPTIMAL, MODULAR = tables.SuppressOptimal, tables.SuppressModular
METHODS = {
    "SuppressOptimal": (OPTIMAL(singletons=False), ("t2d",)),
    "SuppressOptimal, cost value-and-cells": (
        OPTIMAL(singletons=False, cost="value-and-cells"),
        ("t2d",),
    ),
    "SuppressModular": (MODULAR(singletons=False), ("t2d", "t3d", "h2", "h3")),
    "SuppressModular, with single respondents": (MODULAR(), ("t2d", "t3d", "h2", "h3")),
}
"""Ours, with the tables each is meant for."""
PEERS = {
    "pytauargus OPT(1)": ("OPT(1)", ("t2d", "t3d")),
    "pytauargus OPT(1,5), five minutes": ("OPT(1,5)", ("t2d", "t3d")),
    "pytauargus MOD(1)": ("MOD(1)", ("t2d", "t3d", "h2")),
}
"""Theirs; the second number is the limit of time in minutes."""
HEADER = ("table", "method", "primary", "secondary", "suppressed value", "CPU s", "gap",
          "audit: not protected (disclosed)", "audit CPU s")  # fmt: skip


def row(case: Case, name: str, hidden: np.ndarray | None, seconds: float | str, gap: str) -> list:
    """One line of the report: the pattern attacked by the same audit."""
    if hidden is None:
        return [case.name, name, "", "", "", seconds, "", "", ""]
    protected = ProtectedTable.suppressing(case.table, case.sensitive, hidden, name)
    started = time.process_time()
    found = protected.audit()
    taken = time.process_time() - started
    n_disclosed = int((found.verdict == "exactly disclosed").sum())
    primary = hidden & case.sensitive.cells
    return [
        case.name, name, int(primary.sum()), int((hidden & ~case.sensitive.cells).sum()),
        f"{case.table.value[hidden].sum():,.0f}", f"{seconds:.1f}", gap,
        f"{len(found.failed)} ({n_disclosed})", f"{taken:.1f}",
    ]  # fmt: skip


def ours(case: Case, name: str) -> list:
    """Run one of our methods on a table."""
    method, _ = METHODS[name]
    started = time.process_time()
    found = method.protect(case.table, case.sensitive)
    seconds = time.process_time() - started
    gap = f"{100 * found.notes['gap']:.2f} %" if "gap" in found.notes else ""
    return row(case, name, found.suppressed, seconds, gap)


def main(names: list[str]) -> None:
    """Print the report for some tables, line by line as results come."""
    # libraries are loaded and kernels compiled before the clock starts; t2d is solved whole
    for warm in (CASES["t2d"], CASES["t3d"]):
        tables.SuppressModular(singletons=False, clean_up=1).protect(warm.table, warm.sensitive)
    print("\n".join(markdown(HEADER, []).splitlines()), flush=True)
    for case in (CASES[name] for name in names):
        _ = case.sensitive
        for name, (_, meant) in METHODS.items():
            if case.name in meant:
                show(ours(case, name))
        for name, (method, meant) in PEERS.items():
            if case.name in meant:
                show(row(case, name, *pattern(case, method, 900), ""))


def show(line: list) -> None:
    """Print one line of the report."""
    print(markdown(line, []).splitlines()[0], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["t2d", "t3d", "h2"])
