"""Rounding and controlled adjustment on the tables of `peers-tables.md`: distance and CPU seconds.

    python benchmarks/bench_perturbed_tables.py t2d t3d h2 h3

Beside them, where known, what the R packages took for the same table (small counts: base 3).
"""

from __future__ import annotations

import sys
import time

import numpy as np
from measuring import markdown
from table_cases import CASES

from tacit import tables
from tacit.tables import Sensitive, Table

PEERS = {
    ("t3d", "small counts"): "SmallCountRounding 0.5 s, mean 0.199, max 4",
    ("h2", "small counts"): "SmallCountRounding 1.4 s, mean 0.493, max 5",
    ("h3", "small counts"): "SmallCountRounding 3.7 s, mean 0.700, max 10",
}
HEADER = ("table", "method", "cells", "sum of changes", "mean change", "largest change", "optimal",
          "CPU s", "peer")  # fmt: skip


def methods(table: Table, sensitive: Sensitive) -> dict[str, tuple]:
    """What is run: a protection, the table it gets and the sensitive cells it must protect."""
    none = Sensitive.none(table.n_cells)
    counts = table.replace(value=table.count.astype(float), variable=None, respondents=None)
    return {
        "controlled rounding, base 1000": (tables.ControlledRounding(base=1000), table, none),
        "controlled adjustment": (tables.ControlledAdjustment(seconds=120), table, sensitive),
        "controlled adjustment, total kept, 1/value": (
            tables.ControlledAdjustment(seconds=120, keep="total", weights="inverse"),
            table,
            sensitive,
        ),
        "small counts": (tables.SmallCountRounding(base=3), counts, none),
    }


def main(names: list[str]) -> None:
    """Print a line as soon as it is known."""
    print(markdown(HEADER, []))
    for name in names:
        case = CASES[name]
        for label, (method, table, sensitive) in methods(case.table, case.sensitive).items():
            started = time.process_time()
            found = method.protect(table, sensitive)
            seconds = time.process_time() - started
            change = np.abs(found.published - table.value)
            row = [name, label, f"{table.n_cells:,}", f"{change.sum():,.0f}",
                   f"{change.mean():.3f}", f"{change.max():,.0f}",
                   found.notes.get("optimal", ""), f"{seconds:.2f}",
                   PEERS.get((name, label), "")]  # fmt: skip
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["t2d", "t3d", "h2"])
