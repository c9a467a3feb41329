"""Secondary suppression of the published tables in shared/data/tables, one audit for all.

    python benchmarks/bench_suppression.py

Microdata of rtauargus and sdcTable, with pytauargus live in the same run. Every pattern is attacked
by the same audit over the whole table, once without and once with single respondents.
"""

from __future__ import annotations

import gzip
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import polars as pl
from measuring import markdown
from table_cases import Case
from table_peer import pattern

from tacit import tables
from tacit.core.errors import ProtectionError
from tacit.tables import ProtectedTable

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
HEADER = ("table", "cells", "method", "primary", "secondary", "suppressed value", "CPU s",
          "audit: not protected", "with single respondents")  # fmt: skip


@dataclass(frozen=True)
class Records(Case):
    """A table of published microdata; the value is rounded to whole numbers, as the peer wants."""

    source: str = ""
    value: str = ""

    @cached_property
    def microdata(self) -> pl.DataFrame:
        """The records, written where the peer finds them."""
        raw = (FOLDER / self.source).read_bytes()
        text = gzip.decompress(raw) if self.source.endswith(".gz") else raw
        read = pl.read_csv(text, infer_schema_length=0)
        value = pl.col(self.value).cast(pl.Float64).round().cast(pl.Int64).alias("turnover")
        frame = read.select(*self.by, value)
        self.folder.mkdir(parents=True, exist_ok=True)
        frame.write_csv(self.folder / "micro.csv")
        return frame


def records(name: str, by: tuple[str, ...], source: str, value: str) -> Records:
    """Return the case of a table."""
    return Records(name, by, folder=Path(gettempdir()) / f"records-{name}", source=source,
                   value=value)  # fmt: skip


CASES = (
    records("sdcTable V1 x V3", ("V1", "V3"), "sdctable/vignette_microdat.csv", "numVal1"),
    records("rtauargus A21 x SIZE", ("A21", "SIZE"), "rtauargus/indiv_dt.csv.gz", "TURNOVER"),
    records("rtauargus A88 x CJ", ("A88", "CJ"), "rtauargus/indiv_dt.csv.gz", "TURNOVER"),
    records("rtauargus NUTS2 x A21", ("NUTS2", "A21"), "rtauargus/indiv_dt.csv.gz", "TURNOVER"),
)
OURS = {
    "SuppressOptimal": tables.SuppressOptimal(seconds=60),
    "SuppressModular": tables.SuppressModular(),
    "SuppressModular, singletons": tables.SuppressModular(singletons=True),
}


def row(
    name: str, table: tables.Table, sensitive: tables.Sensitive, label: str, hidden: np.ndarray,
    seconds: float,
) -> list[object]:  # fmt: skip
    """One line of the report."""
    made = ProtectedTable.suppressing(table, sensitive, hidden, label)
    known = table.respondents is not None or table.count is not None
    inside = len(made.audit(singletons=True).failed) if known else "not known who is alone"
    return [
        name, f"{table.n_cells:,}", label, int((hidden & sensitive.cells).sum()),
        int((hidden & ~sensitive.cells).sum()), f"{np.abs(table.value[hidden]).sum():,.0f}",
        f"{seconds:.1f}", len(made.audit().failed), inside,
    ]  # fmt: skip


def ours(name: str, table: tables.Table, sensitive: tables.Sensitive, label: str) -> list[object]:
    """One of our methods on one table."""
    started = time.process_time()
    try:
        made = OURS[label].protect(table, sensitive)
    except ProtectionError as error:
        return [name, f"{table.n_cells:,}", label, len(sensitive), "", "", "", str(error)[:60], ""]
    taken = time.process_time() - started
    return row(name, table, sensitive, label, made.suppressed, taken)


def of_records() -> None:
    """Tables of microdata beside pytauargus."""
    for case in CASES:
        _ = case.microdata
        table, sensitive = case.table, case.sensitive
        for label in OURS:
            show(ours(case.name, table, sensitive, label))
        for method in ("OPT", "MOD"):
            hidden, seconds = pattern(case, method, 120)
            if hidden is None:
                show([case.name, "", f"pytauargus {method}", "", "", "", seconds, "", ""])
            else:
                show(row(case.name, table, sensitive, f"pytauargus {method}", hidden, seconds))


def show(line: list[object]) -> None:
    """Print one line of the report."""
    print(markdown(line, []).splitlines()[0], flush=True)


if __name__ == "__main__":
    print("\n".join(markdown(HEADER, []).splitlines()), flush=True)
    of_records()
