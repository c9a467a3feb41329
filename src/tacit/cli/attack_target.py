"""Open what ``tacit attack`` attacks: a folder, a pair of files, or data behind a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tacit.cli.options import Reading, Roles
from tacit.core.bundle import DOSSIER
from tacit.core.errors import DataError, ParameterError, ReadError

if TYPE_CHECKING:
    from tacit.attack.target import MicrodataTarget, Target
    from tacit.tables.protected import ProtectedTable


def opened_target(
    target: str,
    released: str | None,
    original: str | None,
    policy: str | None,
    reading: Reading,
    roles: Roles,
) -> Target:
    """Return the target that the arguments speak of."""
    from tacit.cli.opening import open_data
    from tacit.cli.release_folder import is_release

    folder = Path(target)
    if policy is not None:
        from tacit.attack.target import QueryTarget
        from tacit.query.policy import Policy

        return QueryTarget(open_data(target, reading, roles), Policy.of(policy))
    if is_release(folder):
        tables = (folder / DOSSIER / "cells.parquet").is_file()
        opened = _table_folder if tables else _release_folder
        return opened(folder, original, reading, roles)
    if released is None and not folder.exists() and "://" not in target:
        raise ReadError("there is no such folder or file", got=target)
    if released is None:
        raise ParameterError(
            "there is nothing to compare the data with",
            got=target,
            do="give the folder of a release, a RELEASED file after it, or --policy",
        )
    from tacit.attack.target import target_of

    return target_of((open_data(target, reading, roles), open_data(released, Reading())))


def live_target(
    target: str, address: str, project: str | None, reading: Reading, roles: Roles
) -> Target:
    """Return the live server of a project, beside the data that it answers about."""
    import os

    from tacit.attack.target import ServerTarget
    from tacit.cli.opening import open_data

    key = os.environ.get("TACIT_KEY")
    if project is None or not key:
        raise ParameterError(
            "a live server is asked in somebody's name about one project",
            do="give --project, and a key of the page Your account in TACIT_KEY",
        )
    return ServerTarget.at(address, key, project=project, data=open_data(target, reading, roles))


def _source(folder: Path, original: str | None, recorded: str | None) -> str:
    found = original or recorded
    if not found:
        raise ReadError(
            "the dossier does not say where the original is", got=str(folder), do="give --original"
        )
    return found


def _release_folder(
    folder: Path, original: str | None, reading: Reading, roles: Roles
) -> MicrodataTarget:
    import json

    from tacit.attack.target import MicrodataTarget
    from tacit.cli.opening import open_data
    from tacit.cli.release_folder import open_data_sets, recorded_roles
    from tacit.core.pairing import pair
    from tacit.core.plan import Plan

    try:
        manifest = json.loads((folder / DOSSIER / "manifest.json").read_text(encoding="utf-8"))
        recorded = manifest["input"].get("source")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReadError("the dossier of the release cannot be read", got=str(folder)) from error
    source = _source(folder, original, recorded)
    before = open_data(source, reading, recorded_roles(folder, roles))
    first, *copies = (pair(before, data) for data in open_data_sets(folder))
    plan = Plan.load(folder / DOSSIER / "plan.toml")
    return MicrodataTarget(
        first.original, first.released, plan.methods, copies=tuple(c.released for c in copies)
    )


def _table_folder(folder: Path, original: str | None, reading: Reading, roles: Roles) -> Target:
    from tacit.attack.target import TableTarget
    from tacit.cli.opening import open_data
    from tacit.tables.table_plan import read_plan, table_digest

    plan, about = read_plan(folder / DOSSIER / "plan.toml")
    data = open_data(_source(folder, original, about.get("source")), reading, roles)
    made = plan.apply(data)
    parts = tuple(made.split().values()) if made.original.parts else (made,)
    # Rounding may hide that the records are others, so the original is compared as well.
    found = [table_digest(made.original), *_published_digests(parts)]
    _check_made_again(found, about)
    return TableTarget(parts, data)


def _published_digests(parts: Sequence[ProtectedTable]) -> Iterator[str]:
    from tacit.core.digest import file_digest
    from tacit.tables.publication import write_csv

    with TemporaryDirectory() as scratch:
        again = Path(scratch) / "table.csv"
        for part in parts:
            write_csv(part, again)
            yield file_digest(again)


def _check_made_again(found: list[str], about: dict[str, Any]) -> None:
    """Refuse to attack other tables than those of the folder."""
    recorded = [about.get("original_digest"), *about.get("published_digest", {}).values()]
    if found != recorded:
        raise DataError(
            "the tables made again are not those of the folder",
            do="give the data they were made from with --original, as they were then",
        )
