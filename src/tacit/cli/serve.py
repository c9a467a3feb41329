"""``tacit serve``: the app in the browser and over REST."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType


def serve(
    folder: Annotated[
        Path | None, Option(metavar="FOLDER", help="Where the app keeps its data.")
    ] = None,
    host: Annotated[str | None, Option(metavar="NAME", help="Address to listen on.")] = None,
    port: Annotated[int | None, Option(metavar="N", help="Port; 0 takes a free one.")] = None,
    database: Annotated[
        str | None, Option(metavar="URL", help="PostgreSQL store in place of SQLite.")
    ] = None,
    workers: Annotated[
        int | None, Option(metavar="N", min=0, help="Processes for long jobs.")
    ] = None,
    settings: Annotated[Path | None, Option(metavar="FILE", help="TOML file of settings.")] = None,
    demo: Annotated[
        bool, Option("--demo", metavar="", help="Give the first person a project to try.")
    ] = False,
) -> Answer:
    """Serve the app until interrupted, with everything in one process and its workers.

    Settings are also read from the environment, TACIT_ and the name in capitals, and from a file.
    On the first start the address that is printed lets you create the administrator.
    """
    import typer

    from tacit.app.demonstration import create_demo
    from tacit.app.running import serve as run
    from tacit.app.settings import Settings

    given = {"folder": folder, "host": host, "port": port, "database": database, "workers": workers}
    chosen = Settings.load(settings, **given)
    welcome = create_demo if demo else None
    run(chosen, tell=typer.echo, welcome=welcome)
    return Answer({"stopped": True}, _nothing())


def _nothing() -> Iterator[RenderableType]:
    yield from ()
