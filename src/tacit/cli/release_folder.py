"""What the commands take from the folder that ``tacit apply`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.options import Reading, Roles
from tacit.core.bundle import DOSSIER
from tacit.io.release_folder import data_files as data_files
from tacit.io.release_folder import is_release as is_release
from tacit.io.release_folder import open_data_sets as open_data_sets

if TYPE_CHECKING:
    from tacit.core.data import Microdata


def original_of_release(
    folder: Path, original: str | None, reading: Reading, roles: Roles
) -> Microdata:
    """Return the data that a release was made from; others are refused.

    The dossier says which record came from which, and that would be said of others. Its roles
    hold, unless others are given.
    """
    from tacit.cli.opening import open_data, with_roles
    from tacit.io.replay import original_of

    given = open_data(original, reading) if original and reading != Reading() else original
    before = original_of(folder / DOSSIER, given)
    return before if roles == Roles() else with_roles(before, roles)
