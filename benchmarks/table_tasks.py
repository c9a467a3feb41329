"""Tasks of the harness on tables: suppression, audit, cell keys, rules of sensitive cells."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from capability import Work


@lru_cache(1)
def business(name: str) -> Any:
    from table_cases import CASES

    case = CASES[name]
    _ = case.table, case.sensitive
    return case


_TABLES = {1_701: "t2d", 2_646: "t3d", 13_125: "h2"}
"""Tables of shared/spec/peers-tables.md by their number of cells."""


def suppress(n: int) -> Work:
    from tacit import tables

    case = business(_TABLES[n])
    return lambda: tables.SuppressModular(singletons=False).protect(case.table, case.sensitive)


def suppress_quickly(n: int) -> Work:
    """Leave out the clean-up, which publishes again what need not be suppressed."""
    from tacit import tables

    case, method = business(_TABLES[n]), tables.SuppressModular(singletons=False, clean_up=0)
    return lambda: method.protect(case.table, case.sensitive)


def audit(n: int) -> Work:
    return suppress(n)().audit


def one_programme(n: int) -> Work:
    """Solve one linear programme of the audit: how low can one hidden cell be."""
    from scipy.optimize import linprog

    protected = suppress(n)()
    table, hidden = protected.original, np.flatnonzero(protected.suppressed)
    relations = table.relations.tocsc()
    known = np.setdiff1d(np.arange(table.n_cells), hidden)
    right = -(relations[:, known] @ table.value[known])
    cost = np.zeros(len(hidden))
    cost[0] = 1.0
    return lambda: linprog(cost, A_eq=relations[:, hidden], b_eq=right, bounds=(0, None))


def verdict(found: Any) -> str:
    return f"{len(found.failed)} cells not protected"


def value(protected: Any) -> str:
    hidden = protected.suppressed
    return (
        f"{hidden.sum():,} cells, {protected.original.value[hidden].sum() / 1e6:.2f}M suppressed, "
        f"{len(protected.audit().failed)} not protected"
    )


def judged(n: int, cells: list[list[str]]) -> str:
    """Attack the pattern of a peer: the codes of the cells that it leaves out."""
    from tacit.tables import ProtectedTable

    case = business(_TABLES[n])
    table, hidden = case.table, np.zeros(n, dtype=bool)
    for codes in cells:
        names = {d.name: c or d.total for d, c in zip(table.dimensions, codes, strict=True)}
        hidden[table.cell(**names)] = True
    return value(ProtectedTable.suppressing(table, case.sensitive, hidden, "the peer"))


def businesses(n: int) -> Any:
    """Return the records of a table: what spans it, levels above (nace/1, nace/2), turnover."""
    import polars as pl
    from table_cases import LEVELS

    case = business(_TABLES[n])
    above = [
        pl.col(level).alias(f"{name}/{depth}")
        for name in case.nested
        for depth, level in enumerate(LEVELS[name][:-1], 1)
    ]
    return case.microdata.select(*case.by, *above, "turnover")


def cell_key(n: int) -> Work:
    import bench_cell_key as bench

    return lambda: bench.keyed(_TABLES[n], "turnover", bench.TOTALS)


def table_group_by(n: int) -> Work:
    import polars as pl

    case = business(_TABLES[n])
    return lambda: case.microdata.group_by(case.by).agg(pl.len(), pl.col("turnover").sum())


@lru_cache(1)
def enterprises(n: int) -> Any:
    """Return n enterprises in 40 regions and 60 branches, with a skewed turnover."""
    import polars as pl

    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "region": rng.zipf(1.3, n) % 40,
            "branch": rng.zipf(1.2, n) % 60,
            "turnover": np.round(np.exp(rng.normal(5, 2, n))),
        }
    )


def checked(n: int) -> Work:
    """Add up turnover in every cell, and find those that the three usual rules do not let pass."""
    import tacit
    from tacit import tables

    frame = enterprises(n)
    rule = tables.MinFrequency(n=10) | tables.Dominance(n=2, k=90) | tables.PPercent(p=10)

    def work() -> Any:
        table = tacit.tabulate(frame, ["region", "branch"], "turnover")
        return table, rule.sensitive(table)

    return work


def flagged(found: tuple[Any, Any]) -> str:
    """Count the inner cells that may not be shown, as the peer does."""
    table, sensitive = found
    inner = (table.codes != [d.index[d.total] for d in table.dimensions]).all(axis=1)
    return f"{int((sensitive.cells & inner).sum()):,} cells sensitive"


def bare_sums(n: int) -> Work:
    import polars as pl

    frame = enterprises(n)
    return lambda: frame.group_by("region", "branch").agg(pl.len(), pl.col("turnover").sum())
