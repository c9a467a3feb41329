"""Large tables: elimination up to a million cells, the modular method to a hundred thousand.

    python benchmarks/bench_tables_large.py [elimination] [modular] [methods]

Frequency tables are drawn with skewed margins; cells with 1 or 2 contributors are sensitive.
"""

from __future__ import annotations

import sys

import numpy as np
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes
from table_cases import CASES

from tacit import tables
from tacit.tables import Dimension, Sensitive, Table
from tacit.tables._grid import grid_codes, grid_relations

SHAPES = {
    "625": ((4, 5), (4, 5)),
    "13 125": ((4, 5, 5), (4, 5, 4)),
    "78 750": ((4, 5, 5), (4, 5, 4), (5,)),
    "262 500": ((4, 5, 5), (4, 5, 4), (19,)),
    "1 036 875": ((4, 5, 5), (4, 5, 4), (3, 5, 4)),
}


def tree(name: str, branches: tuple[int, ...]) -> Dimension:
    """Return a classification with so many codes below each code, level by level."""
    below, level = {}, ["Total"]
    for n in branches:
        step = {c: [f"{name if c == 'Total' else c}.{i}" for i in range(n)] for c in level}
        below |= step
        level = [code for codes in step.values() for code in codes]
    return Dimension.nested(name, below)


def frequency_table(
    shape: tuple[tuple[int, ...], ...], mean: float = 5.0
) -> tuple[Table, Sensitive]:
    """Draw a table of counts with skewed margins, and its cells of one or two."""
    by = tuple(tree("abcdef"[k], branches) for k, branches in enumerate(shape))
    rng = np.random.default_rng(0)
    holds = [d.contains.toarray().astype(float) for d in by]
    expected = np.array(1.0)
    for one in holds:
        expected = np.multiply.outer(expected, np.exp(rng.standard_normal(one.shape[1])))
    values = rng.poisson(expected / expected.mean() * mean).astype(float)
    for axis, one in enumerate(holds):
        values = np.moveaxis(np.tensordot(one, values, axes=(1, axis)), 0, axis)
    value = values.ravel()
    table = Table(value, grid_relations(by), by, grid_codes(by), count=value.astype(int))
    return table, Sensitive.by("below 3", (value > 0) & (value < 3), 0.0)


def elimination() -> None:
    """Time and growth of the elimination; nothing exactly calculable."""
    method, rows, sizes, seconds = tables.SuppressElimination(intervals=False), [], [], []
    method.protect(*frequency_table(SHAPES["625"]))
    for shape in SHAPES.values():
        table, sensitive = frequency_table(shape)
        kept: list = []
        taken = cpu_seconds(lambda t=table, s=sensitive, k=kept: k.append(method.protect(t, s)))
        hidden = kept[0].suppressed
        sizes.append(table.n_cells)
        seconds.append(taken)
        rows.append([f"{table.n_cells:,}", f"{len(sensitive):,}",
                     f"{int(hidden.sum()) - len(sensitive):,}", f"{taken:.1f}",
                     f"{peak_megabytes():,.0f}"])  # fmt: skip
    print(markdown(("cells", "primary", "secondary", "CPU s", "peak MB"), rows))
    print(f"\ngrowth exponent over the last four: {growth_exponent(sizes[1:], seconds[1:]):.2f}\n")


def protected_and_audited(name: str, method: tables.SuppressModular, label: str) -> list:
    """Protect one of the tables of peers-tables.md and attack the result."""
    case = CASES[name]
    kept: list = []
    taken = cpu_seconds(lambda: kept.append(method.protect(case.table, case.sensitive)))
    audited = cpu_seconds(lambda: kept.append(kept[0].audit()))
    hidden, found = kept[0].suppressed, kept[1]
    return [name, label, len(case.sensitive), int(hidden.sum()) - len(case.sensitive),
            f"{case.table.value[hidden].sum():,.0f}", f"{taken:.1f}", len(found.failed),
            f"{audited:.1f}"]  # fmt: skip


HEADER = ("table", "method", "primary", "secondary", "suppressed value", "CPU s",
          "audit: not protected", "audit CPU s")  # fmt: skip


def modular() -> None:
    """The hierarchical tables, protected and audited, without and with single respondents."""
    rows = [
        protected_and_audited(name, tables.SuppressModular(singletons=against, seconds=end), label)
        for name, against, end, label in (
            ("h2", False, 600, "modular, singletons=False"),
            ("h2", None, 600, "modular"),
            ("h3", False, 300, "modular, singletons=False"),
            ("h3", None, 600, "modular"),
            ("h3g", False, 300, "modular, singletons=False"),
        )
    ]
    print(markdown(HEADER, rows) + "\n")


def methods() -> None:
    """All methods of this folder on the small tables."""
    ours = {
        "modular": (tables.SuppressModular(singletons=False), ("t2d", "t3d")),
        "modular, singletons": (tables.SuppressModular(singletons=True), ("t2d", "t3d")),
        "network": (tables.SuppressNetwork(singletons=False), ("t2d",)),
        "hypercube": (tables.SuppressHypercube(singletons=False), ("t2d", "t3d", "h2")),
        "elimination with intervals": (
            tables.SuppressElimination(singletons=False),
            ("t2d", "t3d", "h2"),
        ),
    }
    rows = [
        protected_and_audited(name, method, label)
        for label, (method, names) in ours.items()
        for name in names
    ]
    print(markdown(HEADER, rows) + "\n")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["elimination", "methods", "modular"]
    for part in chosen:
        {"elimination": elimination, "methods": methods, "modular": modular}[part]()
