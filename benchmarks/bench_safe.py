"""SAFE and noise side by side: Tables 1, 4, 5 and 6 of Giessing and Höhne on a made-up census.

    python benchmarks/bench_safe.py 33000

Prints Markdown. The test table is region by age by occupation; SAFE protects these, sex and
marital status, with all tables of up to three variables controlled.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations

import numpy as np
import polars as pl
from measuring import markdown

import tacit
from tacit import tables

SECRET = "only for the benchmark"  # noqa: S105
BY = ["region", "age", "occupation"]
SAFE_COLUMNS = [*BY, "sex", "marital"]


def counts(frame: pl.DataFrame, like: tables.Table) -> np.ndarray:
    """Return the counts of another file in the cells of a table."""
    made = tacit.tabulate(
        frame, BY, hierarchies={d.name: d for d in like.dimensions}, keep_empty=False
    )
    found = like.frame.select(BY).join(made.frame, on=BY, how="left", maintain_order="left")
    return found["count"].fill_null(0).to_numpy()


def shares(table: tables.Table, released: dict[str, np.ndarray]) -> str:
    """Table 5: the distribution of absolute deviations, and their mean."""
    frame = tables.deviation_shares(table.value, released)
    rows = [[row[0], *(f"{p:.2f}" if p else "" for p in row[1:])] for row in frame.iter_rows()]
    true = table.value
    means = [f"{np.abs(new - true)[true > 0].mean():.2f}" for new in released.values()]
    return markdown(frame.columns, [*rows, ["mean", *means]])


def transitions(original: np.ndarray, released: np.ndarray) -> str:
    """Table 1, last block: what counts became."""
    found = tables.observed_transitions(original, released)
    columns = [0, *range(3, 14)]
    rows = [[i, *(f"{p:.3f}" for p in found[i, columns])] for i in range(1, 9)]
    return markdown(["", *columns], rows)


def beyond_control(before: pl.DataFrame, after: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return true and protected counts of the cells of four variables, which are not controlled."""
    true, new = [], []
    for chosen in combinations(SAFE_COLUMNS, 4):
        one, other = (frame.group_by(chosen).len() for frame in (before, after))
        both = one.join(other, on=chosen, how="full", nulls_equal=True)
        true.append(both["len"].fill_null(0).to_numpy())
        new.append(both["len_right"].fill_null(0).to_numpy())
    return np.concatenate(true).astype(int), np.concatenate(new).astype(int)


def main(n: int) -> None:
    """Print the report."""
    data = tables.with_record_keys(tacit.datasets.census(n, seed=3), SECRET)
    flat = {"region": None, "age": None, "occupation": None}
    table = tacit.tabulate(data, BY, weights=None, keys="rk1", hierarchies=flat, keep_empty=False)
    print(f"{n:,} persons, {table.n_cells:,} cells that are not zero\n")
    started = time.process_time()
    safe = tacit.Plan([tables.Safe(columns=SAFE_COLUMNS)]).apply(data, seed=1).frame
    seconds = {"SAFE": time.process_time() - started}
    released = {"SAFE": counts(safe, table)}
    for d in (3, 4, 5):
        noisy = table.protect(tables.CellKey(max_change=d))
        started = time.process_time()
        whole = tables.restore_additivity(noisy)
        seconds[f"noise D{d} adjusted"] = time.process_time() - started
        seconds[f"noise D{d} second step (wall)"] = whole.notes["seconds clearing"]
        released[f"noise D{d} adjusted"], released[f"noise D{d}"] = whole.published, noisy.published
    print(shares(table, released), "\n")
    print(markdown(["step", "seconds"], [[k, f"{s:.1f}"] for k, s in seconds.items()]), "\n")
    print("What SAFE made of counts (Table 1, last block)\n")
    print(transitions(table.value, released["SAFE"]), "\n")
    true, new = beyond_control(data.local.select(SAFE_COLUMNS), safe)
    print("Largest deviations of cells of four variables (Table 4)\n")
    found = tables.largest_deviations(true, new, bands=(3, 10, 20, 50, 100))
    print(markdown(found.columns, found.rows()), "\n")
    change = (released["SAFE"] - table.value).astype(int)
    blurred = tables.blurred_deviations(change, np.random.default_rng(1))
    values = np.unique(change)
    kept = [[v, int((change == v).sum()), int((blurred == v).sum())] for v in values]
    print(f"Deviations blurred (Table 6): {np.mean(blurred != change):.0%} of the cells differ\n")
    print(markdown(["d", "cells", "after blurring"], kept))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 33_000)
