"""Tables from a query server on DuckDB: registration, atom cube, guards, against the bare SQL.

Run with the number of records: ``python benchmarks/bench_query.py 100000000``. The records are
made by DuckDB in a scratch file; memory is limited to 4 GB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

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


def timed(work):
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def main(n: int) -> None:
    import duckdb

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        connection = duckdb.connect(str(Path(folder) / "people.duckdb"))
        connection.execute("set memory_limit = '4GB'; set threads = 2")
        connection.execute(_MAKE.replace("$n", str(n)))
        bare, _ = timed(lambda: connection.sql(_BARE).fetchall())
        source = query.Source(
            connection.table("people"),
            keys=("rk1", "rk2"),
            one_record_per_unit=True,
            categories=BY,
            numbers=[],
        )
        registered, server = timed(lambda: query.Server(source, "strict", secret=b"x" * 32))
        request = {"method": "crosstab", "by": BY}
        first, answer = timed(lambda: server.ask(request))
        again, _ = timed(lambda: server.ask({**request, "universe": {"sex": "f"}}))
        scan, _ = timed(lambda: server._engine.counts(BY))
        dropped, _ = timed(lambda: server._engine.picked(({},), 5, 12345, 678))
        shown = sum(c is not None for c in answer.columns["count"])
        rows = [
            ("bare SQL: 2 040 counts", f"{bare:.2f}", "1"),
            ("2 040 cells with keys, scanned", f"{scan:.2f}", f"{scan / bare:.2f}"),
            (
                "registration (categories, keys, cube, sketches)",
                f"{registered:.2f}",
                f"{registered / bare:.2f}",
            ),
            ("first table under strict, from the cube", f"{first:.2f}", f"{first / bare:.2f}"),
            ("the same of half the units", f"{again:.2f}", f"{again / bare:.3f}"),
            ("Drop-q: pick 5 of all", f"{dropped:.2f}", f"{dropped / bare:.2f}"),
        ]
        print(f"{n:,} records, {shown} cells shown, peak {peak_megabytes():,.0f} MB\n")
        print(markdown(("step", "seconds (wall, 2 cores, 4 GB)", "of bare SQL"), rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
