"""Open what ``tacit attack`` attacks: a folder, a pair of files, or data behind a policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.options import Reading, Roles
from tacit.core.bundle import DOSSIER
from tacit.core.errors import ParameterError, ReadError

if TYPE_CHECKING:
    from tacit.attack.target import MicrodataTarget, TableTarget, Target


def opened_target(
    target: str,
    released: str | None,
    original: str | None,
    policy: str | None,
    reading: Reading,
    roles: Roles,
    secret: Path | None = None,
) -> Target:
    """Return the target that the arguments speak of."""
    from tacit.attack.folder import folders_target, holds_tables
    from tacit.cli.opening import open_data
    from tacit.cli.release_folder import is_release

    folder = Path(target)
    if secret is not None and not (released is policy is None and holds_tables(folder)):
        raise ParameterError("--secret is for the folder of tables", do="leave it out")
    if policy is not None:
        from tacit.attack.target import QueryTarget
        from tacit.query.policy import Policy

        return QueryTarget(open_data(target, reading, roles), Policy.of(policy))
    if is_release(folder):
        if released is not None and is_release(Path(released)):
            return folders_target([folder, released])
        return _folder(folder, original, reading, roles, secret)
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


def _folder(
    folder: Path, original: str | None, reading: Reading, roles: Roles, secret: Path | None
) -> MicrodataTarget | TableTarget:
    """Open a folder with the data that it names, or with those that are given."""
    from tacit.attack.folder import holds_tables, release_target
    from tacit.cli.release_folder import original_of_release

    if holds_tables(folder):
        return _tables(folder, original, reading, roles, secret)
    return release_target(folder, original_of_release(folder, original, reading, roles))


def _tables(
    folder: Path, original: str | None, reading: Reading, roles: Roles, secret: Path | None
) -> TableTarget:
    from tacit.attack.folder import tables_target
    from tacit.cli.opening import read_options, with_roles
    from tacit.cli.table_cells import secret_of

    source = original or _recorded_source(folder)
    target = tables_target(
        folder,
        original,
        read_options(source, reading) if source else None,
        secret=None if secret is None else secret_of(secret),
    )
    if target.data is None or roles == Roles():
        return target
    return replace(target, data=with_roles(target.data, roles))


def _recorded_source(folder: Path) -> str | None:
    from tacit.tables.table_plan import read_plan

    found = read_plan(folder / DOSSIER / "plan.toml")[1].get("source")
    return str(found) if found else None
