"""Noise tables of other tools: ptable and tau-ARGUS, and the Office for National Statistics."""

from __future__ import annotations

import gzip
import io
from itertools import groupby
from pathlib import Path
from typing import Any

from tacit.core.errors import DataError, ParameterError
from tacit.tables.perturb.noise_table import NoiseTable

_ONS_ROWS, _ONS_PERIOD = 750, 250


def read_noise_table(
    path: str | Path, *, period: int | None = None, kind: str = "all"
) -> NoiseTable:
    """Read a noise table of ptable, tau-ARGUS (``i;j;p;v;p_int_ub``) or ONS (``pcv,ckey,pvalue``).

    Parameters
    ----------
    path
        The file, compressed with gzip or not.
    period
        How many of the last rows serve larger counts in turn. By default 1, and 250 for a table of
        ONS that goes to 750; one that ends earlier needs the number.
    kind
        Which rows to take where the file has a column ``type``: all, even, odd or small_cells.

    Notes
    -----
    Tables of ONS have one line for each cell key from 0 to 255: use the modulus 256 with them.
    """
    found = _lines(Path(path))
    if "type" in found.columns:
        found = found.filter(found["type"].str.strip_chars() == kind)
    if {"pcv", "ckey", "pvalue"} <= set(found.columns):
        return _of_ons(found, period)
    cumulated = next((c for c in ("p_int_ub", "p_ij_ub") if c in found.columns), None)
    if cumulated is None or not {"i", "v"} <= set(found.columns) or not found.height:
        raise DataError(
            "a noise table has the columns i, j, p, v, p_int_ub, or pcv, ckey, pvalue",
            got=f"{', '.join(found.columns)} with {found.height} rows",
        )
    found = found.sort("i", maintain_order=True)
    start, change, upper = (found[c].cast(float).to_list() for c in ("i", "v", cumulated))
    return NoiseTable(
        start=tuple(start), change=tuple(change), upper=tuple(upper), period=period or 1
    )


def _lines(path: Path) -> Any:
    """Return the file as a Polars frame, column names in lower case."""
    import polars as pl

    try:
        text = path.read_bytes()
        text = gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text
        separator = ";" if b";" in text.split(b"\n", 1)[0] else ","
        found = pl.read_csv(io.BytesIO(text), separator=separator, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError("the noise table cannot be read", got=str(path)) from error
    return found.rename({name: name.strip().lower() for name in found.columns})


def _of_ons(found: Any, period: int | None) -> NoiseTable:
    """Join the lines of keys that follow each other and change a count alike."""
    found = found.sort("pcv", "ckey")
    modulus, largest = int(found["ckey"].max()) + 1, int(found["pcv"].max())
    if period is None and largest < _ONS_ROWS:
        raise ParameterError(
            "this table does not say how larger counts change",
            got=f"rows up to {largest}",
            do="say after how many rows it repeats, for example period=5",
        )
    start, change, upper = [0.0], [0.0], [1.0]
    lines = found.select("pcv", "pvalue", "ckey").iter_rows()
    for (count, value), run in groupby(lines, key=lambda line: line[:2]):
        start.append(float(count))
        change.append(float(value))
        upper.append((max(key for *_, key in run) + 1) / modulus)
    return NoiseTable(
        start=tuple(start), change=tuple(change), upper=tuple(upper), period=period or _ONS_PERIOD
    )
