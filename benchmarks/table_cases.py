"""The benchmark tables of shared/spec/peers-tables.md, section 3; h3g is h3 with bands of sizes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir

import polars as pl

import tacit
from tacit import tables

MAKER = Path(__file__).resolve().parents[2] / "shared" / "bench" / "make_business.py"
RULE = tables.PPercent(p=10) | tables.MinFrequency(n=3)
LEVELS = {"region": ("r1", "r2", "region"), "nace": ("n1", "n2", "nace"), "size": ("band", "size")}
SMALL = ("S1", "S2", "S3")
"""Sizes of the lower of two bands."""


@dataclass(frozen=True)
class Case:
    """One table: its columns, and which of them have a hierarchy above."""

    name: str
    by: tuple[str, ...]
    nested: tuple[str, ...] = ()
    folder: Path = Path(gettempdir()) / "business"

    @cached_property
    def microdata(self) -> pl.DataFrame:
        """The records, made on first use."""
        path = self.folder / "micro.csv"
        if not path.exists():
            subprocess.run([sys.executable, str(MAKER), str(self.folder), "100000"], check=True)
        band = pl.when(pl.col("size").is_in(SMALL)).then(pl.lit("small")).otherwise(pl.lit("large"))
        return pl.read_csv(path).with_columns(band=band)

    def _breakdown(self, column: str) -> dict[str, list[str]]:
        levels = LEVELS[column]
        children = {"Total": sorted(self.microdata[levels[0]].unique())}
        for upper, lower in pairwise(levels):
            pairs = self.microdata.select(upper, lower).unique().sort(upper, lower)
            for parent, child in pairs.iter_rows():
                children.setdefault(parent, []).append(child)
        return children

    @cached_property
    def table(self) -> tables.Table:
        """The table as tacit builds it."""
        trees = {column: self._breakdown(column) for column in self.nested}
        return tacit.tabulate(self.microdata, self.by, "turnover", hierarchies=trees)

    @cached_property
    def sensitive(self) -> tables.Sensitive:
        """Its sensitive cells."""
        return RULE.sensitive(self.table)


CASES = {
    case.name: case
    for case in (
        Case("t2d", ("r2", "nace")),
        Case("t3d", ("r2", "n2", "size")),
        Case("h2", ("region", "nace"), ("region", "nace")),
        Case("h3", ("region", "nace", "size"), ("region", "nace")),
        Case("h3g", ("region", "nace", "size"), ("region", "nace", "size")),
    )
}
