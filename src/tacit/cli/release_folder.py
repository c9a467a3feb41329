"""What the commands take from the folder that ``tacit apply`` wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tacit.cli.options import Roles
from tacit.core.bundle import DOSSIER
from tacit.io.release_folder import data_files as data_files
from tacit.io.release_folder import is_release as is_release
from tacit.io.release_folder import open_data_sets as open_data_sets


def recorded_roles(folder: Path | None, roles: Roles) -> Roles:
    """Take the roles that the dossier remembers, unless others are given."""
    if folder is None or roles != Roles():
        return roles
    schema = folder / DOSSIER / "schema.toml"
    return replace(roles, schema=schema) if schema.is_file() else roles
