"""Read back the folder of a saved release: its public data, and where each record came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.core.bundle import DOSSIER, PUBLIC, copy_of
from tacit.core.errors import ReadError

if TYPE_CHECKING:
    from tacit.core.data import Microdata


def is_release(path: Path) -> bool:
    """Say whether a path is the folder of a release."""
    return (path / PUBLIC).is_dir()


def data_file(folder: Path) -> Path:
    """Return the file of the protected data."""
    found = sorted((folder / PUBLIC).glob("data.*"))
    if not found:
        raise ReadError("the release holds no data", got=str(folder / PUBLIC))
    return found[0]


def data_files(folder: Path) -> list[Path]:
    """Return the files of all data sets: ``data.csv``, ``data-2.csv``, ..."""
    first = data_file(folder)
    files = [first]
    while (path := copy_of(first, len(files) + 1)).is_file():
        files.append(path)
    return files


def open_release(folder: Path) -> Microdata:
    """Read the protected data and, from the dossier, which original each record came from."""
    return open_data_sets(folder)[0]


def open_data_sets(folder: Path) -> list[Microdata]:
    """Read all data sets of a release, each as `open_release` reads the first."""
    from tacit.io.read import read

    found, records = [], folder / DOSSIER / "records.parquet"
    for number, path in enumerate(data_files(folder), 1):
        data = read(str(path))
        own = records if number == 1 else copy_of(records, number)
        found.append(_numbered(data, own) if own.is_file() else data)
    return found


def _numbered(data: Microdata, records: Path) -> Microdata:
    import narwhals as nw
    import polars as pl

    from tacit.core.data import ROW

    rows = pl.read_parquet(records, columns=["original_record"])["original_record"]
    if len(rows) != data.n_records:
        raise ReadError(
            "the dossier does not belong to the released data",
            got=f"{len(rows)} and {data.n_records} records",
        )
    return replace(data, lazy=nw.from_native(data.local.with_columns(rows.alias(ROW)).lazy()))
