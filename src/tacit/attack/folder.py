"""The folder of a saved release or of tables, opened to be attacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.attack.target import MicrodataTarget, TableTarget
from tacit.core.bundle import DOSSIER, PUBLIC
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, PlanError, ReadError

if TYPE_CHECKING:
    from tacit.tables.table import Table
    from tacit.tables.table_plan import TablePlan


def folder_target(folder: str | Path, original: Any = None) -> MicrodataTarget | TableTarget:
    """Return what a folder holds as a target, beside the data that it was made from.

    Parameters
    ----------
    folder
        What ``release.save``, ``tacit apply`` or ``tacit table`` wrote.
    original
        The original data, as a path or frame, where they are no longer where they were read.
    """
    from tacit.io.release_folder import is_release
    from tacit.io.replay import original_of

    path = Path(folder)
    if not path.exists():
        raise ReadError("there is no such folder", got=str(folder))
    if not is_release(path):
        raise ReadError(
            "this is not the folder of a release or of tables",
            got=str(folder),
            do="give the folder above public/ and dossier/",
        )
    if holds_tables(path):
        return tables_target(path, original)
    return release_target(path, original_of(path / DOSSIER, original))


def folders_target(folders: Sequence[str | Path]) -> MicrodataTarget | TableTarget:
    """Return several folders as one target: releases, or tables, of the same data."""
    targets = [folder_target(folder) for folder in folders]
    records = [t for t in targets if isinstance(t, MicrodataTarget)]
    tables = [t for t in targets if isinstance(t, TableTarget)]
    if records and tables:
        raise DataError("some folders hold records and some tables", do="attack them one by one")
    if tables:
        _check_same([t.data for t in tables if t.data is not None])
        return TableTarget(tuple(table for t in tables for table in t.tables), tables[0].data)
    _check_same([t.original for t in records])
    first, *others = records
    return replace(first, others=tuple(data for t in others for data in t.data_sets))


def _check_same(originals: Sequence[Microdata]) -> None:
    if not originals:
        return
    first, *others = (original.local for original in originals)
    if not all(first.equals(other) for other in others):
        raise DataError("the folders were made from different data", do="attack them one by one")


def holds_tables(folder: Path) -> bool:
    """Say whether a folder holds tables, and not records."""
    return (folder / DOSSIER / "cells.parquet").is_file()


def release_target(folder: Path, original: Microdata) -> MicrodataTarget:
    """Return the records of a folder as a target, paired with their original."""
    from tacit.core.pairing import pair
    from tacit.core.plan import Plan
    from tacit.io.release_folder import open_data_sets

    first, *copies = (pair(original, data) for data in open_data_sets(folder))
    plan = Plan.load(folder / DOSSIER / "plan.toml")
    return MicrodataTarget(
        first.original, first.released, plan.methods, copies=tuple(c.released for c in copies)
    )


def tables_target(
    folder: Path,
    original: Any = None,
    reading: Mapping[str, Any] | None = None,
    *,
    secret: bytes | None = None,
) -> TableTarget:
    """Make the tables of a folder again, since what is published hides what they are made of.

    Parameters
    ----------
    folder
        What ``tacit table`` or `TableRelease.save` wrote.
    original
        The original data, as a path or frame; without it those that the dossier names.
    reading
        How to read them. Data that the dossier names are read as they were then, but for this.
    secret
        What record keys are made from, where the tables need some that the data do not hold.
    """
    from tacit.io.argus.apriori import apriori_of
    from tacit.tables.table_plan import outcome_digest, read_plan, table_digest

    plan, about = read_plan(folder / DOSSIER / "plan.toml")
    source = about.get("source") if original is None else original
    if source is None or (isinstance(source, str) and not source):
        raise ReadError(
            "the dossier does not say where the original is", got=str(folder), do="give the data"
        )
    if secret is not None and not plan.keys:
        raise ParameterError("the tables need no record keys", do="leave the secret out")
    how = {**(_entries(about, "reading") if original is None else {}), **(reading or {})}
    told = apriori_of(plan, folder / DOSSIER)
    table, data = _tabulated(plan, source, how, told, secret)
    made = plan.protect(table)
    # Rounding may hide that the records are others, so the original is compared as well.
    found = [table_digest(made.original), outcome_digest(made)]
    if found != [about.get("original_digest"), about.get("outcome_digest")]:
        raise DataError(
            "the tables made again are not those of the folder",
            do="give the data they were made from (--original), as they were then",
        )
    _check_public(folder, _entries(about, "public_digests"))
    return TableTarget(tuple(made.split().values()) if made.original.parts else (made,), data)


def _entries(about: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = about.get(name, {})
    if not isinstance(found, dict):
        raise PlanError(f"the entry {name!r} of the plan file must be a table", got=repr(found))
    return found


def _tabulated(
    plan: TablePlan,
    source: Any,
    how: Mapping[str, Any],
    told: Callable[[Table], Table],
    secret: bytes | None,
) -> tuple[Table, Microdata | None]:
    """Return the table of a plan, and the records; there are none where cells were ready."""
    from tacit.io.argus.ready_table import is_ready_table, read_table
    from tacit.io.read import read

    if plan.ready is not None and is_ready_table(source, how.get("metadata")):
        by = plan.by[0] if plan.by else None
        ready = read_table(source, by=by, value=plan.value, hierarchies=plan.hierarchies, **how)
        return told(ready), None
    data = _with_keys(read(source, **how), plan, secret)
    return plan.tabulate(data, told=told), data if plan.ready is None else None


def _with_keys(data: Microdata, plan: TablePlan, secret: bytes | None) -> Microdata:
    """Give the records the keys that the tables were made with, unless they have them."""
    missing = [name for name in plan.keys if name not in data.columns]
    if not missing:
        return data
    if secret is None:
        raise DataError(
            "the tables were made with secret record keys, which the data do not hold",
            got=", ".join(missing),
            do="give the secret (tacit attack --secret FILE), or data with the keys (--original)",
        )
    from tacit.tables.perturb.record_keys import with_record_keys

    return with_record_keys(data, secret, unit=plan.unit, names=plan.keys)


def _check_public(folder: Path, published: dict[str, str]) -> None:
    """Refuse to attack tables in the place of others that somebody changed."""
    from tacit.core.digest import file_digest

    for name, digest in published.items():
        path = folder / PUBLIC / name
        if path.is_file() and file_digest(path) != digest:
            raise DataError(
                "what was published was changed after it was protected",
                got=str(path),
                do="restore it, or protect the tables again",
            )
