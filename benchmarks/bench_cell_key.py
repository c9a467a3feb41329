"""Cell keys: record keys per second, tables beside the R package, and the cost inside DuckDB.

    python benchmarks/bench_cell_key.py peers
    python benchmarks/bench_cell_key.py duckdb 100000000 /tmp/keys.duckdb

The second makes a DuckDB file of that many rows (2 GB for 10^8), measures and deletes it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from measuring import cpu_seconds, markdown
from table_cases import CASES

import tacit
from tacit import tables

SECRET = "only for the benchmark"  # noqa: S105
R_PACKAGE = {"counts h2": 2.2, "counts h3": 4.1, "totals t3d": 20.0, "totals h2": 87.0}
"""CPU seconds of cellKey 1.0.3, shared/spec/peers-tables.md section 3."""
COUNTS = tables.CellKey()
TOTALS = tables.CellKeyMagnitude(
    largest=3, shares=(1, 0.5, 0.2), flexpoint=1000, small_share=0.3, large_share=0.03
)


def keyed(name: str, value: str | None, method: tables.protection.Protection) -> np.ndarray:
    """Make record keys, the table and the noise: everything the R package is timed for."""
    case = CASES[name]
    data = tables.with_record_keys(case.microdata, SECRET)
    trees = {column: case._breakdown(column) for column in case.nested}
    table = tacit.tabulate(data, case.by, value, hierarchies=trees, keys=["rk1", "rk2"])
    return table.protect(method).published


def peers() -> None:
    """Print times beside the R package."""
    ids = pl.Series(np.arange(1_000_000))
    tables.unit_keys(ids[:1000], SECRET)
    rate = 1 / cpu_seconds(lambda: tables.unit_keys(ids, SECRET), repeats=5)
    print(f"record keys: {rate:.1f} million units per CPU second\n")
    _ = CASES["h2"].microdata, COUNTS.noise_table, TOTALS.noise_table
    keyed("t3d", None, COUNTS)
    rows = []
    for label, theirs in R_PACKAGE.items():
        kind, name = label.split()
        value, method = (None, COUNTS) if kind == "counts" else ("turnover", TOTALS)
        ours = cpu_seconds(lambda n=name, v=value, m=method: keyed(n, v, m))
        rows.append([label, f"{ours:.2f}", theirs, f"{theirs / ours:.0f}"])
    print(markdown(["table", "tacit CPU s", "cellKey CPU s", "times faster"], rows))


def _wall(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the best time on the clock; the engine's threads are not ours to count."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def in_duckdb(n: int, path: Path) -> None:
    """Print the time of keyed tables beside bare group-bys on the same file."""
    import duckdb

    path.unlink(missing_ok=True)
    connection = duckdb.connect(str(path))
    try:
        # Keys of the benchmark are a hash of the row number: only their size matters here.
        connection.execute(
            f"""CREATE TABLE people AS SELECT (hash(i) % 17)::INT AS region,
            (hash(i + 1) % 10)::INT AS age, (hash(i + 2) % 12)::INT AS work,
            (hash(i + 3) % 2147483647)::BIGINT AS rk1 FROM range({n}) t(i)"""  # noqa: S608
        )
        people = connection.table("people")
        by = ["region", "age", "work"]
        grouped = "FROM people GROUP BY ALL"
        counts = f"SELECT {', '.join(by)}, count(*) {grouped}"
        bare = _wall(lambda: connection.sql(counts).fetchall())
        keys = f"SELECT {', '.join(by)}, count(*), sum(rk1) {grouped}"
        sums = _wall(lambda: connection.sql(keys).fetchall())
        plain = _wall(lambda: tacit.tabulate(people, by))
        full = _wall(lambda: tacit.tabulate(people, by, keys="rk1").protect(COUNTS))
        steps = {
            "bare GROUP BY with counts": bare,
            "GROUP BY with counts and key sums": sums,
            "tabulate, no keys": plain,
            "tabulate with keys, noise on all cells": full,
        }
        rows = [[k, f"{s:.2f}", f"{s / bare:.2f}"] for k, s in steps.items()]
        print(f"{n:,} rows, {18 * 11 * 13:,} cells\n")
        print(markdown(["step", "seconds", "ratio to the bare GROUP BY"], rows))
    finally:
        connection.close()
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "duckdb":
        in_duckdb(int(sys.argv[2]), Path(sys.argv[3] if len(sys.argv) > 3 else "/tmp/keys.duckdb"))  # noqa: S108
    else:
        peers()
