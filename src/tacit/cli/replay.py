"""``tacit replay``: make a release again from its dossier and see that it is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tacit.cli.console import Answer


def replay(
    dossier: Annotated[
        Path,
        Argument(
            metavar="DOSSIER",
            help="The dossier of a release, or the folder of the release.",
            show_default=False,
        ),
    ],
    data: Annotated[
        str | None,
        Option(metavar="FILE", help="The original data, if they are no longer where they were."),
    ] = None,
    memory: Annotated[
        str,
        Option(metavar="SIZE", help="Memory for a release that was made with --engine duckdb."),
    ] = "2GB",
) -> Answer:
    """Make a release again from its dossier and say whether it is the same, bit for bit.

    The exit code is 0 if it is, and 2 if it is not or if the original data are not those that were
    protected.
    """
    from rich.text import Text

    from tacit.io.replay import replay as made_again

    result = made_again(dossier, data=data, memory=memory)
    notes = tuple(
        f"{package} was {then} when the release was made and is {now} now"
        for package, (then, now) in result.other_versions.items()
    )
    return Answer(result.as_dict(), [Text(str(result))], notes)
