"""Fingerprints of files and records, for the dossier."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_BLOCK = 1 << 20


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def frame_digest(table: Any) -> str:
    """Return a SHA-256 of a Polars frame's names, types, missing values and values."""
    import polars as pl

    sha = hashlib.sha256()
    for series in table.rechunk().get_columns():
        sha.update(f"{series.name}\0{series.dtype}\0{len(series)}\0".encode())
        sha.update(series.is_null().to_numpy().tobytes())
        if series.dtype.is_decimal() or series.dtype in (pl.Int128, pl.UInt128):
            series = series.cast(pl.String)  # NumPy has no numbers of this width
        if series.dtype == pl.String:
            filled = series.fill_null("")
            sha.update(filled.str.len_bytes().to_numpy().tobytes())
            for start in range(0, len(filled), _BLOCK):
                sha.update("".join(filled[start : start + _BLOCK].to_list()).encode())
        else:
            physical = series.to_physical()
            zero = False if physical.dtype == pl.Boolean else 0
            filled = physical.fill_null(zero) if physical.dtype != pl.Null else physical
            sha.update(b"" if physical.dtype == pl.Null else filled.to_numpy().tobytes())
    return sha.hexdigest()
