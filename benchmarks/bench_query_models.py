"""A 10-predictor regression on DuckDB under `strict`, leverage rule included, and the bare SQL.

    python benchmarks/bench_query_models.py [rows] [folder]

Prints wall seconds on two threads, because the question is how long a user waits, and CPU seconds,
because machines are shared. The numbers have three decimals, as measurements do. A folder keeps
the file of records, so that another run need not make it again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
from measuring import markdown, peak_megabytes

from tacit import query
from tacit.query._moments_engine import influence, moments
from tacit.query.evidence import Factor, Term

P = 10
NAMES = [f"x{j}" for j in range(P)]
FORMULA = "y ~ " + " + ".join(NAMES)
SECRET = b"x" * 32


def table(rows: int, folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a file of ten predictors, a response, a category and keys, made in the engine."""
    path = folder / f"models-{rows}.duckdb"
    there = path.exists()
    connection = duckdb.connect(str(path))
    connection.execute("set threads = 2; set memory_limit = '4GB'")
    if not there:
        made = ", ".join(f"(hash(i * {j + 3}) % 100003) / 1000.0::double as x{j}" for j in range(P))
        keys = "(hash(i) % 2147483647)::bigint as k1, (hash(i + 7) % 2147483647)::bigint as k2"
        total = " + ".join(f"{j + 1} * x{j}" for j in range(P))
        connection.execute(
            f"create table t as select *, {total} + (hash(k1 + 5) % 1000003) / 1000.0 as y from "  # noqa: S608
            f"(select {made}, {keys}, 'r' || (hash(i + 3) % 20)::varchar as region "
            f"from range({rows}) r(i))"
        )
    return connection


def timed(name: str, work: Callable[[], object]) -> tuple[str, float, float]:
    """Return what one call takes: wall seconds and CPU seconds."""
    started, cpu = time.perf_counter(), time.process_time()
    found = work()
    if isinstance(found, query.Refusal):
        raise SystemExit(str(found))
    return name, time.perf_counter() - started, time.process_time() - cpu


def bare(connection: duckdb.DuckDBPyConnection) -> object:
    """Add up X'X, X'y and y'y as anybody would."""
    names = [*NAMES, "y"]
    sums = [f"sum({a} * {b})" for i, a in enumerate(names) for b in names[i:]]
    sums += [f"sum({a})" for a in names]
    asked = f"select {', '.join(sums)}, count(*) from t"  # noqa: S608 - our own names
    return connection.execute(asked).fetchall()


def measured(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, float, float]]:
    """Time the bare aggregate, the regression without and with rules, and the exact leverage."""
    source = query.Source(
        connection.table("t"), keys=("k1", "k2"), one_record_per_unit=True,
        categories=["region"], numbers=[*NAMES, "y"], bins={n: () for n in [*NAMES, "y"]},
    )  # fmt: skip
    times = [timed("bare SQL: X'X, X'y, y'y", lambda: bare(connection))]
    servers: list[query.Server] = []
    times.append(timed("registration", lambda: servers.append(query.Server(source, secret=SECRET))))
    plain = query.Server(source, query.Policy(name="open"), secret=SECRET)
    ask = {"method": "ols", "formula": FORMULA}
    times.append(timed("regression without a rule", lambda: plain.ask(ask)))
    times.append(timed("regression under strict", lambda: servers[0].ask(ask)))
    with_category = {**ask, "formula": FORMULA + " + region"}
    times.append(timed("... with a category of 20 more", lambda: servers[0].ask(with_category)))
    times.append(timed("exact leverage of every unit, if asked", lambda: exact(servers[0])))
    return times


def exact(server: query.Server) -> float:
    """Take the pass that is needed only where ranges do not settle the leverage."""
    everybody = server._cube.select(query.Universe(), ({},))
    rows = server._engine.rows(({},), server.schema, None, everybody.n)
    terms = [Term("(intercept)"), *(Term(n, (Factor(n),)) for n in NAMES)]
    response = Term("y", (Factor("y"),))
    found = moments(rows, terms, response)
    inverse = np.linalg.inv(found.xtx)
    started = time.perf_counter()
    largest = influence(rows, terms, response, inverse @ found.xty, inverse).leverage
    print(f"largest leverage {largest:.3g}, found in {time.perf_counter() - started:.1f} s\n")
    return largest


def main() -> None:
    """Print one Markdown table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        times = measured(table(rows, Path(sys.argv[2])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            times = measured(table(rows, Path(folder)))
    first = times[0]
    lines = [
        (name, f"{wall:.1f}", f"{wall / first[1]:.2f}", f"{cpu:.1f}", f"{cpu / first[2]:.2f}")
        for name, wall, cpu in times
    ]
    print(f"{rows:,} rows, {P} predictors, DuckDB on 2 threads, peak {peak_megabytes():.0f} MB\n")
    print(markdown(["step", "wall s", "of bare", "CPU s", "of bare"], lines))


if __name__ == "__main__":
    main()
