"""Tables from a query server on DuckDB: registration, atom cube, guards, against the bare SQL.

    python benchmarks/bench_query.py [records] [folder]

The records are made by DuckDB in a file, which a folder keeps for another run; its memory is
limited to 4 GB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import duckdb
from measuring import markdown, peak_megabytes

from tacit import query

_P = 2**31 - 1
_MAKE = f"""
create table people as select
  'r' || (hash(i) % 20)::varchar as region, 'j' || (hash(i + 1000000007) % 17)::varchar as job,
  case when hash(i + 31) % 2 = 0 then 'f' else 'm' end as sex,
  'b' || (hash(i + 77) % 3)::varchar as band,
  exp((hash(i + 5) % 10000) / 2000.0)::double as income,
  (hash(i * 2 + 1) % {_P})::bigint as rk1, (hash(i * 2 + 9000000001) % {_P})::bigint as rk2
from range($n) t(i)
"""  # noqa: S608 - our own text and a number
_BARE = "select region, job, sex, band, count(*) from people group by all"
BY = ["region", "job", "sex", "band"]


def timed(name, work):
    """Return wall and CPU seconds of a call, and what it returned."""
    started, cpu = time.perf_counter(), time.process_time()
    found = work()
    return (name, time.perf_counter() - started, time.process_time() - cpu), found


def people(n: int, folder: Path):
    path = folder / f"people-{n}.duckdb"
    there = path.exists()
    connection = duckdb.connect(str(path))
    connection.execute("set memory_limit = '4GB'; set threads = 2")
    if not there:
        connection.execute(_MAKE.replace("$n", str(n)))
    return connection


def measured(connection) -> tuple[list, query.Answer]:
    bare, _ = timed("bare SQL: 2 040 counts", lambda: connection.sql(_BARE).fetchall())
    source = query.Source(
        connection.table("people"), keys=("rk1", "rk2"), one_record_per_unit=True,
        categories=BY, numbers=["income"], bins={"income": ()},
    )  # fmt: skip
    registered, server = timed(
        "registration (categories, keys, cube, sketches)",
        lambda: query.Server(source, "strict", secret=b"x" * 32),
    )
    request = {"method": "crosstab", "by": BY}
    first, answer = timed("first table under strict, from the cube", lambda: server.ask(request))
    if answer.is_refusal:
        raise SystemExit(str(answer))
    half = {**request, "universe": {"sex": "f"}}
    again, _ = timed("the same of half the units", lambda: server.ask(half))
    scan, _ = timed("2 040 cells with keys, scanned", lambda: server._engine.counts(BY))
    totals = {**request, "by": ["region", "job"], "totals": ["income"]}
    sums, _ = timed("totals of a number, with the largest units", lambda: server.ask(totals))
    dropped, _ = timed("Drop-q: pick 5 of all", lambda: server._engine.picked(({},), 5, 12345, 678))
    return [bare, scan, registered, first, again, sums, dropped], answer


def main(n: int, folder: str | None) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        times, answer = measured(people(n, Path(folder or scratch)))
    shown = sum(c is not None for c in answer.columns["count"])
    _, bare, bare_cpu = times[0]
    rows = [
        (name, f"{wall:.2f}", f"{wall / bare:.3f}", f"{cpu:.2f}", f"{cpu / bare_cpu:.3f}")
        for name, wall, cpu in times
    ]
    print(f"{n:,} records, {shown} cells shown, peak {peak_megabytes():,.0f} MB\n")
    print(markdown(("step", "wall s", "of bare", "CPU s", "of bare"), rows))


if __name__ == "__main__":
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    main(size, sys.argv[2] if len(sys.argv) > 2 else None)
