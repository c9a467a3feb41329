"""How many tables a query server answers in a second, from one thread and from several.

    python benchmarks/bench_query_load.py [records]

Requests are all pairs of the variables of `census`, and single variables within a category. The
first round asks each for the first time, the second repeats them; then four threads ask at once
while a regression is read, which must not hold them up.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

from measuring import markdown, peak_megabytes

import tacit
from tacit import query

N_REQUESTS = 60


def requests(server: query.Server) -> list[dict]:
    """Return different tables, small as those of most users."""
    variables = server.schema.variables
    found = [{"method": "crosstab", "by": list(pair)} for pair in combinations(variables, 2)]
    for name in list(variables)[:4]:
        for label in variables[name].labels[:4]:
            inside = {"method": "crosstab", "universe": {name: label}}
            found += [{**inside, "by": [other]} for other in variables if other != name]
    return found[:N_REQUESTS]


def rate(ask, asked: list[dict], threads: int = 1) -> float:
    """Return answers a second."""
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        given = list(pool.map(ask, asked))
    taken = time.perf_counter() - started
    if any(answer.is_refusal for answer in given):
        raise SystemExit("a request was refused")
    return len(asked) / taken


def main(n: int) -> None:
    started = time.perf_counter()
    server = query.Server(tacit.datasets.census(n), "strict", secret=b"x" * 32)
    registered = time.perf_counter() - started
    asked = requests(server)
    rows = [("each for the first time", f"{rate(server.ask, asked):.0f}")]
    rows.append(("again", f"{rate(server.ask, asked):.0f}"))
    model = {"method": "logistic", "formula": "employed ~ age + sex + education", "event": "true"}
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(server.ask, model)
        beside = rate(server.ask, asked * 3, threads=4)
        rows.append(("again, four threads, beside a regression", f"{beside:.0f}"))
        slow.result()
    print(f"{n:,} records, {len(server._cube):,} atoms, registered in {registered:.1f} s,")
    print(f"log whole: {server.log.verify().ok}, peak {peak_megabytes():,.0f} MB\n")
    print(markdown(("tables of strict", "answers a second"), rows))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
