"""Anonymisation and its measures beside the Python peers, run live in the same run.

The file is Adult resampled with a fifth of each column redrawn ("mix"), 7 keys. Every call has a
process of its own and is timed without reading the file: CPU seconds, all threads counted. A peer
that is not installed, fails or runs out of time is said to. `make bench` installs them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers
import polars as pl
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

_ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
_KEYS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
_CONFIDENTIAL = "occupation"
_LIMIT = 300


def mixed(n: int) -> pl.DataFrame:
    """Adult resampled to n records, 20 % of the values of each key redrawn."""
    table = pl.read_csv(_ADULT / "adult.csv", separator=";", infer_schema=False)
    rng = np.random.default_rng(1)
    drawn = table[rng.integers(0, len(table), n)]
    redrawn = [
        pl.when(pl.Series(rng.random(n) < 0.2))
        .then(table[key][rng.integers(0, len(table), n)])
        .otherwise(drawn[key])
        .alias(key)
        for key in _KEYS
    ]
    return drawn.with_columns(redrawn).select(*_KEYS, _CONFIDENTIAL)


def _described(table: pl.DataFrame) -> Any:
    import tacit
    from tacit.io.hierarchies import read_hierarchy

    trees = {key: read_hierarchy(_ADULT / f"adult_hierarchy_{key}.csv") for key in _KEYS}
    data = tacit.Microdata.of(table).with_hierarchies(**trees)
    return data.with_roles(keys=_KEYS, confidential=[_CONFIDENTIAL])


def generalise(table: pl.DataFrame) -> Callable[[], Any]:
    import tacit
    from tacit import mask

    data, method = _described(table), mask.Generalise(k=5, max_suppression=0.05)
    return lambda: tacit.Plan([method]).apply(data, seed=1).data.n_records


def mondrian(table: pl.DataFrame) -> Callable[[], Any]:
    import tacit
    from tacit import mask

    data = _described(table.with_columns(pl.col("age").cast(pl.Int64)))
    return lambda: tacit.Plan([mask.Mondrian(k=5)]).apply(data, seed=1).data.n_records


def models(table: pl.DataFrame) -> Callable[[], Any]:
    from tacit import risk

    data = _described(table)

    def work() -> tuple[int, int, float]:
        found = risk.SyntacticModels(distance="equal").measure(data).details
        one = found["columns"][_CONFIDENTIAL]
        return found["k"], int(one["distinct"]), round(float(one["t"]), 5)

    return work


CASES: dict[str, tuple[str, Callable[[pl.DataFrame], Callable[[], Any]]]] = {
    "anjana": ("full-domain generalisation, k = 5, 5 % suppressed", generalise),
    "anonypy": ("Mondrian, k = 5", mondrian),
    "pycanon": ("k-anonymity, l-diversity and t-closeness measured", models),
}


def measure_ours(case: str, path: Path) -> None:
    """Run one of our cases in this process and print its figures as JSON."""
    build = CASES[case][1]
    build(mixed(2000))()  # compile
    table, answers = pl.read_parquet(path), []
    work = build(table)
    seconds = cpu_seconds(lambda: answers.append(work()), 3 if len(table) <= 100_000 else 1)
    print(json.dumps([seconds, peak_megabytes(), answers[-1]]))


def row(case: str, n: int, limit: int) -> tuple[list[Any], float]:
    """Measure one case at one size, ours and the peer's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        mixed(n).write_parquet(path)
        command = [sys.executable, __file__, "--ours", case, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, peak, answer = json.loads(done.stdout.splitlines()[-1])
        late = peers.Run(None, why="not tried")  # a larger file would not be faster
        theirs = peers.run(case, path, _ADULT, limit) if limit else late
    ratio = f"{theirs.seconds / seconds:,.0f}x" if theirs.seconds else ""
    memory = "" if theirs.peak is None else f"{theirs.peak:.0f}"
    answers = "" if case != "pycanon" else f"{answer} / {theirs.answer or ''}"
    cells = [CASES[case][0], f"{n:,}", f"{seconds:.2f}", f"{peak:.0f}",
             f"{case} {peers.version(case)}", str(theirs), memory, ratio, answers]  # fmt: skip
    return cells, seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--limit", type=int, default=_LIMIT)
    parser.add_argument("--peers", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--ours", nargs=2, metavar=("CASE", "FILE"))
    chosen = parser.parse_args()
    if chosen.ours:
        measure_ours(chosen.ours[0], Path(chosen.ours[1]))
        return
    rows = []
    for case in chosen.peers:
        seconds, out_of_time = [], False
        for n in chosen.sizes:
            cells, taken = row(case, n, 0 if out_of_time else chosen.limit)
            out_of_time |= "stopped" in cells[5]
            seconds.append(taken)
            rows.append(cells)
            print(cells, file=sys.stderr)
        if len(chosen.sizes) > 1:
            growth = f"n^{growth_exponent(chosen.sizes, seconds):.2f}"
            rows.append([CASES[case][0], "growth", growth, *[""] * 6])
    header = ["task", "n", "tacit, CPU s", "peak MB", "peer", "peer, CPU s", "its peak MB",
              "faster", "k, l, t here / there"]  # fmt: skip
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
