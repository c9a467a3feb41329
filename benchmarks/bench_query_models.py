"""A 10-predictor regression in DuckDB, with its leverage check, against the bare SQL aggregate.

    python benchmarks/bench_query_models.py [rows] [folder]

Prints wall seconds on two threads, because the question is how long a user waits.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
from measuring import markdown, peak_megabytes

from tacit.query._moments_engine import influence, moments
from tacit.query._moments_rows import Rows
from tacit.query.evidence import Factor, Term

P = 10
NAMES = [f"x{j}" for j in range(P)]


def table(rows: int, folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a file with ten predictors, a response and two keys, made in the engine."""
    connection = duckdb.connect(str(folder / "bench.duckdb"))
    connection.execute("set threads = 2; set memory_limit = '4GB'")
    made = ", ".join(f"(hash(i * {j + 3}) % 1000003) / 1000003.0::double as x{j}" for j in range(P))
    keys = "(hash(i) % 2147483647)::bigint as k1, (hash(i + 7) % 2147483647)::bigint as k2"
    connection.execute(
        f"create table t as select {made}, {keys}, "  # noqa: S608 - our own names
        f"(hash(i * 101) % 1000003) / 1000003.0::double as y from range({rows}) r(i)"
    )
    return connection


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measured(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, float]]:
    """Time the bare aggregate, the moments and the pass over the most exposed unit."""
    names = [*NAMES, "y"]
    sums = [f"sum({a} * {b})" for i, a in enumerate(names) for b in names[i:]]
    sums += [f"sum({a})" for a in names]
    bare = f"select {', '.join(sums)}, count(*) from t"  # noqa: S608 - our own names
    rows = Rows(nw.from_native(connection.table("t")).lazy(), keys=("k1", "k2"))
    terms = [Term("(intercept)"), *(Term(n, (Factor(n),)) for n in NAMES)]
    response = Term("y", (Factor("y"),))
    times = [("bare SQL: X'X, X'y, y'y", seconds(lambda: connection.execute(bare).fetchall()))]
    found: list = []
    times.append(
        ("moments (2 passes)", seconds(lambda: found.append(moments(rows, terms, response))))
    )
    inverse = np.linalg.inv(found[0].xtx)
    beta = inverse @ found[0].xty
    taken = seconds(lambda: influence(rows, terms, response, beta, inverse))
    times.append(("leverage and scores (1 pass)", taken))
    return times


def main() -> None:
    """Print one Markdown table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        times = measured(table(rows, Path(folder)))
    bare, ours = times[0][1], sum(t for _, t in times[1:])
    lines = [(name, f"{t:.1f}", f"{t / bare:.1f}") for name, t in times]
    lines.append(("regression with its rules", f"{ours:.1f}", f"{ours / bare:.1f}"))
    print(f"{rows:,} rows, {P} predictors, DuckDB on 2 threads, peak {peak_megabytes():.0f} MB\n")
    print(markdown(["step", "seconds", "times the bare query"], lines))


if __name__ == "__main__":
    main()
