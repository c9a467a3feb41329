"""Table 1 of Matias and Campos (2013) on generated establishments: M3A beside other protections.

    python benchmarks/bench_m3a.py [SEEDS=10] [N=245595]

22 districts by 10 size classes, turnover, (2, 75) dominance, d = 10 %, phi = 3. Each figure is the
mean over seeds of the data with a 95 % interval. Suppressed cells get the average that restores the
totals of the columns, as in the paper. Signs are kept inside a seed, distances averaged over them.
The data of a seed are the same for all protections, so a second table gives M3A minus each other
one, seed by seed: mean, 95 % interval, and in how many seeds M3A is nearer to the original.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from measuring import markdown
from scipy import stats

import tacit
from tacit import tables
from tacit.core import table_measures as measures
from tacit.tables.rounding._base import least_base

METHODS = {
    "M3A": tables.M3A(d=10, phi=3),
    "M3A, nearest limits": tables.M3A(d=10, phi=3, balance=False),
    "modular suppression": tables.SuppressModular(),
    "hypercube suppression": tables.SuppressHypercube(),
    "conventional rounding": tables.ConventionalRounding(base="level"),
}
ROWS = ("loss per cell, %", "loss of grand total, %", "entropy (6), abs. %", "variance (7), |%|",
        "Cramér's V (8), abs. %", "risk (9)", "changed inner cells", "CPU s")  # fmt: skip


def figures(table: tables.Table, protected: tables.ProtectedTable, seconds: float) -> list[float]:
    """The rows of the paper's table for one protection."""
    shape = [len(d.codes) for d in table.dimensions]
    before = table.value.reshape(shape)[1:, 1:]
    after = protected.published.reshape(shape)[1:, 1:]
    moved = np.isnan(after) | (after != before)
    after = measures.fill_suppressed(before, after)
    return [
        100 * np.abs(after - before).sum() / before.sum(),
        100 * abs(np.nan_to_num(protected.published[0], nan=table.value[0]) / table.value[0] - 1),
        abs(measures.entropy_change(before, after)),
        abs(measures.variance_change(before, after)),
        abs(measures.cramers_v_change(before, after)),
        100 / max(float(np.var(after - before, ddof=1)), 1e-300),
        float(moved.sum()),
        seconds,
    ]


def one_seed(seed: int, n: int) -> dict[str, list[float]]:
    """All protections on the table of one seed."""
    frame = tacit.datasets.establishments(n, seed=seed).local
    by = ["district", "size_class"]
    table = tables.tabulate(frame.select(*by, "turnover"), by, "turnover", top=50)
    sensitive = tables.Dominance(n=2, k=75).sensitive(table)
    found = {}
    for name, method in METHODS.items():
        started = time.process_time()
        if isinstance(method, tables.ConventionalRounding):
            # The smallest base that protects, so that the comparison is fair to rounding; what is
            # published is rounded up to one digit, since the exact level would tell contributions.
            method = method.replace(base=least_base(table, sensitive))
        protected = method.protect(table, sensitive)
        found[name] = figures(table, protected, time.process_time() - started)
    return found


COMPARED = (0, 2, 3, 4)
"""The measures that are compared seed by seed."""


def half_width(values: np.ndarray) -> float:
    """Half of a 95 % interval of the mean, by Student's t."""
    if len(values) < 2:
        return 0.0
    return float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def paired(runs: list[dict[str, list[float]]]) -> list[list[str]]:
    """M3A minus each other protection on the same data."""
    others = [name for name in METHODS if name != "M3A"]
    rows = []
    for place in COMPARED:
        row = [ROWS[place]]
        for name in others:
            gap = np.array([run["M3A"][place] - run[name][place] for run in runs])
            nearer = int((gap < 0).sum())
            chance = stats.binomtest(nearer, int((gap != 0).sum())).pvalue if gap.any() else 1.0
            row.append(
                f"{gap.mean():.3g} ± {half_width(gap):.2g}, {nearer} of {len(gap)} (p {chance:.1g})"
            )
        rows.append(row)
    return rows


def main(seeds: int, n: int) -> None:
    """Print both tables."""
    runs = [one_seed(seed, n) for seed in range(1, seeds + 1)]
    rows = []
    for place, label in enumerate(ROWS):
        row = [label]
        for name in METHODS:
            values = np.array([run[name][place] for run in runs])
            row.append(f"{values.mean():.3g} ± {half_width(values):.2g}")
        rows.append(row)
    print(markdown(("measure", *METHODS), rows))
    others = [f"M3A - {name}" for name in METHODS if name != "M3A"]
    print("\n" + markdown(("measure", *others), paired(runs)))


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10,
        int(sys.argv[2]) if len(sys.argv) > 2 else 245_595,
    )
