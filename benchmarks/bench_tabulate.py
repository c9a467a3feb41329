"""Tables from very large microdata in DuckDB: time and memory without loading the file.

    python benchmarks/bench_tabulate.py [ROWS ...]      default: 1e6 1e7; the issue's figure is 1e8

A Parquet file of business records is generated for each size and deleted afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import growth_exponent, markdown, peak_megabytes

CASES = {
    "records": {},
    "records, weighted": {"weights": "weight"},
    "records and holdings": {"holding": "holding"},
}
MEMORY_LIMIT = "4GB"
RECORDS = """copy (
    select 'R' || (1 + (hash(i, 1) % 100) * (hash(i, 2) % 100) // 100)::int as region,
        'N' || (1 + (hash(i, 3) % 80) * (hash(i, 4) % 80) // 80)::int as nace,
        'S' || (1 + hash(i, 5) % 5)::int as size,
        1 + floor(exp(4 + 1.5 * sqrt(-2 * ln(1 - (hash(i, 6) % 1000000) / 1000000.0))
            * cos(2 * pi() * (hash(i, 7) % 1000000) / 1000000.0))) as turnover,
        round(1 + (hash(i, 8) % 90) / 10.0, 1) as weight,
        case when hash(i, 9) % 100 < 12 then hash(i, 10) % greatest({n} // 50, 1)
            else i + {n} end::bigint as holding
    from range({n}) r(i)) to '{path}' (format parquet)"""


def engine():
    import duckdb

    return duckdb.connect(config={"threads": 2, "memory_limit": MEMORY_LIMIT})


def generate(n: int, path: str) -> None:
    engine().execute(RECORDS.format(n=n, path=path))


def tabulate(path: str, case: str) -> None:
    import time

    import tacit

    connection = engine()
    cpu, wall = time.process_time(), time.perf_counter()
    table = tacit.tabulate(
        connection.read_parquet(path), ["region", "nace", "size"], "turnover", **CASES[case]
    )
    figures = {
        "cells": table.n_cells,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "megabytes": peak_megabytes(),
    }
    print(json.dumps(figures))


def in_a_process_of_its_own(*arguments: str) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(sizes: list[int]) -> None:
    rows, seconds = [], {case: [] for case in CASES}
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "records.parquet")
            in_a_process_of_its_own("--generate", str(n), path)
            for case in CASES:
                found = json.loads(in_a_process_of_its_own("--tabulate", path, case))
                seconds[case].append(found["cpu"])
                rows.append(
                    [f"{n:,}", case, f"{found['cells']:,}", f"{found['cpu']:.1f}",
                     f"{found['wall']:.1f}", f"{found['megabytes']:,.0f}"]
                )  # fmt: skip
    print(markdown(["records", "table", "cells", "CPU s", "wall s", "peak MB"], rows))
    for case, taken in seconds.items():
        if len(taken) > 1:
            print(f"\nGrowth of {case}: n^{growth_exponent(sizes[: len(taken)], taken):.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--generate"]:
        generate(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["--tabulate"]:
        tabulate(sys.argv[2], sys.argv[3])
    else:
        main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7])
