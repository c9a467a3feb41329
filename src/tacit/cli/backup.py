"""``tacit backup`` and ``tacit restore``: the app's whole house in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.app.settings import Settings


@dataclass(frozen=True)
class House:
    """Which app is meant."""

    folder: Annotated[
        Path | None, Option(metavar="FOLDER", help="Where the app keeps its data.")
    ] = None
    database: Annotated[
        str | None, Option(metavar="URL", help="PostgreSQL store in place of SQLite.")
    ] = None
    settings: Annotated[Path | None, Option(metavar="FILE", help="TOML file of settings.")] = None

    def load(self) -> Settings:
        """Return the settings of the house."""
        from tacit.app.settings import Settings

        return Settings.load(self.settings, folder=self.folder, database=self.database)


def backup(
    file: Annotated[Path, Argument(metavar="FILE", help="The backup to write.")],
    house: House,
) -> Answer:
    """Write everything the app keeps into one file: its store and the files of all projects.

    The app may go on meanwhile. The file holds confidential data; only its owner may read it.
    Sessions are left out: after restoring, people log in again.
    """
    from tacit.app.backup import backup as write

    made = write(house.load(), file)
    return Answer({"backup": str(file), **made}, _said(f"{file}: {made['files']} files", made))


def restore(
    file: Annotated[Path, Argument(metavar="FILE", help="A backup.")],
    house: House,
) -> Answer:
    """Fill an empty house with a backup, all of it or nothing.

    The store may be of another kind than the one that was backed up: SQLite or PostgreSQL.
    """
    from tacit.app.backup import restore as read

    found = read(house.load(), file)
    words = f"restored {found['files']} files; start the app with tacit serve"
    return Answer({"restored": str(file), **found}, _said(words, found))


def _said(words: str, about: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"{words} (of {about['made'][:16].replace('T', ' ')} UTC)"
