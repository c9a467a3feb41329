"""Secondary suppression of the published tables in shared/data/tables, one audit for all.

    python benchmarks/bench_suppression.py [records|counts|castro] [name ...]
        [seconds=30] [only=Modular]

`seconds` is the limit of each of our methods on the clock and, from 75 up, that of the peer; `only`
takes the methods whose names hold that text (`only=pytauargus` the peer alone).

Microdata of rtauargus, sdcTable and SSBtools, counts of SSBtools and GaussSuppression, and Castro's
tables of bare sums, with pytauargus live in the same run. Every pattern is attacked by the same
audit over the whole table, once without and (where it is known who is alone in a cell) once with
single respondents. Castro's values are printed to six digits: they are moved to the nearest
additive table, every cell by as small a share of itself as can be, zeros not at all.
"""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
import polars as pl
import table_peer
from measuring import markdown
from table_cases import RULE, Case

import tacit
from tacit import tables
from tacit.core.errors import TacitError
from tacit.io.argus import read_castro, write_jj
from tacit.tables import ProtectedTable

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
SECONDS = 30
ONLY = ""
MEDIUM = 3_000
"""Cells above which elimination is tried rather than the optimum."""
PEER_COST = 20_000
"""The largest cost the peer gives a cell itself."""
PEER_SCRIPT = table_peer.SCRIPT
JJ_SCRIPT = r"""
import json, sys, time
from pytauargus import HiTaSCtrl
job = json.load(sys.stdin)
started = time.process_time()
code = HiTaSCtrl().full_jj(in_file_jj=job["jj"], out_file="JJ.OUT", max_time=job["minutes"])
seconds = time.process_time() - started
lines = open("JJ.OUT").read().split("\n") if code <= 1 else []
print("RESULT" + json.dumps({"seconds": seconds, "code": code, "lines": lines}))
"""
HEADER = ("table", "cells", "method", "primary", "secondary", "suppressed value", "CPU s",
          "audit: not protected", "with single respondents")  # fmt: skip


@dataclass(frozen=True)
class Records(Case):
    """A table of published microdata; the value is rounded to whole numbers, as the peer wants.

    Counts are records of value one: `freq` of them per line, and the rule is a minimum frequency
    whose cells must be able to be nothing or twice what they are.
    """

    source: str = ""
    value: str = ""
    levels: tuple[tuple[str, ...], ...] = ()
    least: int = 0

    @cached_property
    def microdata(self) -> pl.DataFrame:
        """The records, written where the peer finds them."""
        raw = (FOLDER / self.source).read_bytes()
        text = gzip.decompress(raw) if self.source.endswith(".gz") else raw
        read = pl.read_csv(text, infer_schema_length=0)
        if "freq" in read.columns:
            read = read.select(pl.all().repeat_by(pl.col("freq").cast(pl.Int64))).explode(pl.all())
            read = read.drop_nulls()
        if self.value:
            value = pl.col(self.value).cast(pl.Float64).round().cast(pl.Int64)
        else:
            value = pl.lit(1, pl.Int64)
        above = [
            pl.format("{}_{}", pl.lit(level[0]), pl.col(level)).alias(level)
            for levels in self.levels for level in levels[:-1]
        ]  # fmt: skip
        # the peer finds the codes of a hierarchy only if all are as long
        longest = {c: read[c].str.len_chars().max() for c in self.nested}
        padded = [pl.col(c).str.pad_end(n, "_") for c, n in longest.items()]
        frame = read.with_columns(*padded).select(*self.by, *above, value.alias("turnover"))
        self.folder.mkdir(parents=True, exist_ok=True)
        frame.write_csv(self.folder / "micro.csv")
        return frame

    def _breakdown(self, column: str) -> dict[str, list[str]]:
        levels = next(levels for levels in self.levels if levels[-1] == column)
        children = {"Total": sorted(self.microdata[levels[0]].unique())}
        for upper, lower in pairwise(levels):
            pairs = self.microdata.select(upper, lower).unique().sort(upper, lower)
            for parent, child in pairs.iter_rows():
                children.setdefault(parent, []).append(child)
        lines = "\n".join(_indented(children, "Total", 0))
        (self.folder / f"{column}.hrc").write_text(lines + "\n")
        return children

    @cached_property
    def table(self) -> tables.Table:
        """The table as tacit builds it."""
        trees = {column: self._breakdown(column) for column in self.nested}
        value = "turnover" if self.value else None
        return tacit.tabulate(self.microdata, self.by, value, hierarchies=trees)

    @cached_property
    def sensitive(self) -> tables.Sensitive:
        """Its sensitive cells."""
        rule = tables.MinFrequency(n=self.least, margin=100) if self.least else RULE
        return self.table.sensitive(rule)

    def by_peer(self, method: str) -> tuple[np.ndarray | None, float | str]:
        """Which cells pytauargus leaves out under the same rule, and its CPU seconds."""
        rule = f"FREQ({self.least},100)" if self.least else "P(10,1)|FREQ(3,10)"
        table_peer.SCRIPT = PEER_SCRIPT.replace("P(10,1)|FREQ(3,10)", rule)
        return table_peer.pattern(self, method, SECONDS)


def _indented(children: dict[str, list[str]], parent: str, depth: int) -> Iterator[str]:
    for child in children.get(parent, ()):
        yield "@" * depth + child
        yield from _indented(children, child, depth + 1)


def records(
    name: str, by: str, source: str, value: str = "", *, levels: str = "", least: int = 0
) -> Records:
    """Return the case of a table; `levels` are hierarchies, as ``upper>lower other>finest``."""
    trees = tuple(tuple(tree.split(">")) for tree in levels.split())
    folder = Path(gettempdir()) / ("records-" + "".join(filter(str.isalnum, name)))
    nested = tuple(tree[-1] for tree in trees)
    return Records(name, tuple(by.split()), nested, folder, source, value, trees, least)


TURNOVER = ("rtauargus/indiv_dt.csv.gz", "TURNOVER")
RECORDS = (
    records("rtauargus A21 x SIZE", "A21 SIZE", *TURNOVER),
    records("rtauargus A88 x CJ", "A88 CJ", *TURNOVER),
    records("rtauargus NUTS2 x A21", "NUTS2 A21", *TURNOVER),
    records("sdcTable microdata1", "region gender", "sdctable/microdata1.csv", "val"),
    records("sdcTable microdata2", "region gender ecoNew", "sdctable/microdata2.csv", "numVal"),
    records("SSBtools magnitude1", "sector4 geo", "ssbtools/magnitude1.csv", "value",
            levels="sector2>sector4 eu>geo"),
    records("SSBtools paris2025_micro", "age nation", "ssbtools/paris2025_micro.csv", "income",
            levels="continent>nation"),
    records("SSBtools barcelona2025", "country age sex", "ssbtools/barcelona2025.csv", "income"),
)  # fmt: skip
COUNTS = (
    records("sdcTable V1 x V2 x V3, fewer than 10", "V1 V2 V3", "sdctable/vignette_microdat.csv",
            least=10),
    records("SSBtools d1", "region main_income", "ssbtools/d1.csv", least=3),
    records("SSBtools d2", "region main_income", "ssbtools/d2.csv", least=3,
            levels="county>region"),
    records("SSBtools d3", "region main_income months", "ssbtools/d3.csv", least=3,
            levels="county>region"),
    records("SSBtools d4", "region main_income months", "ssbtools/d4.csv", least=3,
            levels="county>region"),
    records("SSBtools example1", "age geo year", "ssbtools/example1.csv", least=3,
            levels="eu>geo"),
    records("SSBtools paris2025_freq", "age nation", "ssbtools/paris2025_freq.csv", least=3,
            levels="continent>nation"),
    records("SSBtools d2s", "region main_income size", "ssbtools/d2s.csv", least=3),
    records("SSBtools my_km2", "Square250m Age Sex", "ssbtools/my_km2.csv", least=3,
            levels="Square1000m>Square250m"),
    records("SSBtools mun_accidents", "mun inj", "ssbtools/mun_accidents.csv", least=3),
    records("GaussSuppression d53, 3 columns", "sex age_m fst_l", "gausssuppression/d53.csv",
            least=3, levels="age_l>age_m"),
    records("GaussSuppression d53, 4 columns", "sex age_m lms_l fst_m", "gausssuppression/d53.csv",
            least=3, levels="age_l>age_m fst_l>fst_m"),
)  # fmt: skip
CASTRO = ("targus", "table7", "table8", "table1", "hier13", "hier133a", "hier16", "hier163a",
          "table3", "toysarah", "jjtabel3", "two5in6", "ninenew", "nine12", "nine5d",
          "dale")  # fmt: skip
OURS = {
    "SuppressOptimal": (tables.SuppressOptimal, False),
    "SuppressElimination": (tables.SuppressElimination, False),
    "SuppressModular": (tables.SuppressModular, False),
    "SuppressModular, singletons": (tables.SuppressModular, True),
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


def stop(*_: object) -> None:
    """End a run that takes too long."""
    raise TimeoutError(f"stopped after {2 * SECONDS} s")


def ours(name: str, table: tables.Table, sensitive: tables.Sensitive, label: str) -> list[object]:
    """One of our methods on one table."""
    method, singletons = OURS[label]
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
    try:
        made = method(singletons=singletons, seconds=SECONDS).protect(table, sensitive)
    except (TacitError, TimeoutError) as error:
        taken = f"{time.process_time() - started:.1f}"
        said = str(error)[:90]
        return [name, f"{table.n_cells:,}", label, len(sensitive), "", "", taken, said, ""]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    taken = time.process_time() - started
    label += " (proven)" if made.notes.get("optimal") else ""
    return row(name, table, sensitive, label, made.suppressed, taken)


def compare(name: str, table: tables.Table, sensitive: tables.Sensitive, labels: list[str]) -> None:
    """Our methods on one table."""
    skipped = "SuppressElimination" if table.n_cells <= MEDIUM else "SuppressOptimal"
    for label in labels:
        if label != skipped and ONLY in label:
            show(ours(name, table, sensitive, label))


def of_records(cases: tuple[Records, ...]) -> None:
    """Tables of microdata beside pytauargus."""
    for case in cases:
        _ = case.microdata
        table, sensitive = case.table, case.sensitive
        compare(case.name, table, sensitive, list(OURS))
        for method in ("OPT(1)", "MOD(1)") if ONLY in "pytauargus" else ():
            hidden, seconds = case.by_peer(method)
            if hidden is None:
                show([case.name, "", f"pytauargus {method}", "", "", "", seconds, "", ""])
            else:
                show(row(case.name, table, sensitive, f"pytauargus {method}", hidden, seconds))


def additive(table: tables.Table) -> tables.Table:
    """Return the nearest additive table, changes counted as shares of the cells."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsmr

    for _ in range(3 if np.any(table.residuals()) else 0):
        size = 1 / np.maximum(abs(table.relations) @ np.abs(table.value), 1.0)
        scaled = diags_array(size) @ table.relations @ diags_array(table.value)
        shares = lsmr(scaled, -size * table.residuals(), atol=1e-14, btol=1e-14, maxiter=9_999)[0]
        table = table.replace(value=table.value * (1 + shares))
    lower, upper = table.bounds
    return table.replace(
        cost=None, lower=np.minimum(lower, table.value), upper=np.maximum(upper, table.value)
    )


def of_sums(names: list[str]) -> None:
    """Castro's tables, which are cells and sums, beside the optimiser of pytauargus."""
    for name in names:
        given = read_castro(FOLDER / "castro_cta" / f"{name}.txt.gz")
        table = additive(given)
        sensitive = table.sensitive()
        compare(f"Castro {name}", table, sensitive, list(OURS)[:3])
        if ONLY not in "pytauargus":
            continue
        hidden, seconds = by_jj(table, sensitive)
        label = "pytauargus OPT"
        if hidden is None:
            show([f"Castro {name}", "", label, "", "", "", seconds, "", ""])
        else:
            show(row(f"Castro {name}", table, sensitive, label, hidden, seconds))


def by_jj(
    table: tables.Table, sensitive: tables.Sensitive
) -> tuple[np.ndarray | None, float | str]:
    """Which cells the optimiser of pytauargus leaves out, from a JJ file, and its CPU seconds."""
    python = table_peer.interpreter()
    if python is None:
        return None, "not installed"
    with TemporaryDirectory() as scratch:
        cost = np.ceil(np.abs(table.value) / np.abs(table.value).max() * PEER_COST).clip(1)
        write_jj(table.replace(cost=cost), Path(scratch) / "JJ.IN", sensitive)
        minutes = max(SECONDS // 60 - 1, 1)
        job = json.dumps({"jj": str(Path(scratch) / "JJ.IN"), "minutes": minutes})
        try:
            done = subprocess.run(
                [str(python), "-c", JJ_SCRIPT], input=job, capture_output=True, text=True,
                timeout=max(SECONDS, 75), check=False, cwd=scratch,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, f"> {max(SECONDS, 75)} s, stopped"
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        return None, f"failed: {said}, exit status {done.returncode}"
    found = json.loads(lines[0][6:])
    if not found["lines"]:
        return None, f"no pattern, code {found['code']}, {found['seconds']:.1f}"
    hidden = sensitive.cells.copy()
    hidden[[int(line.split()[0]) for line in found["lines"] if line.strip()]] = True
    return hidden, found["seconds"]


def show(line: list[object]) -> None:
    """Print one line of the report."""
    print(markdown(line, []).splitlines()[0], flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, stop)
    settings = dict(word.split("=") for word in sys.argv[1:] if "=" in word)
    SECONDS, ONLY = int(settings.get("seconds", SECONDS)), settings.get("only", "")
    kind, *names = [word for word in sys.argv[1:] if "=" not in word] or ["all"]
    print("\n".join(markdown(HEADER, []).splitlines()), flush=True)
    for cases, word in ((RECORDS, "records"), (COUNTS, "counts")):
        if kind in ("all", word):
            of_records(tuple(case for case in cases if not names or case.name in names))
    if kind in ("all", "castro"):
        of_sums(names or list(CASTRO))
