"""Options that several commands share, declared once.

Each group is a frozen dataclass; a command that takes a group as a parameter has all its options
(see `tacit.cli.command`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

DataArgument = Annotated[
    str,
    Argument(
        metavar="DATA",
        help="A file (CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS, mu-ARGUS), or a database URL "
        "with --table.",
        show_default=False,
    ),
]

_READING = "Reading the data"
_ROLES = "Roles of the columns"
_ENGINE = "Data beyond memory"
_OUTPUT = "Output"


@dataclass(frozen=True)
class Reading:
    """How to read the data."""

    table: Annotated[
        str | None,
        Option(metavar="NAME", help="Table of the database.", rich_help_panel=_READING),
    ] = None
    separator: Annotated[
        str | None,
        Option(
            metavar="CHAR",
            help="Character between the fields of a text file.",
            rich_help_panel=_READING,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        Option(metavar="NAME", help="Encoding of a text file.", rich_help_panel=_READING),
    ] = None
    decimal: Annotated[
        str | None,
        Option(metavar="CHAR", help="Decimal mark of a text file.", rich_help_panel=_READING),
    ] = None
    read_option: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=VALUE",
            help="Any other option of the file's format (see: tacit methods --family format).",
            rich_help_panel=_READING,
        ),
    ] = None


def _columns(help: str) -> Any:
    return Option(metavar="COLUMN", help=help, rich_help_panel=_ROLES, show_default=False)


@dataclass(frozen=True)
class Roles:
    """What the columns mean; an option here wins over the schema file and the suggestion."""

    schema: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A schema in TOML, as `tacit inspect --save-schema` writes it.",
            rich_help_panel=_ROLES,
        ),
    ] = None
    identifier: Annotated[
        list[str] | None, _columns("Names a unit outright; removed first. May be repeated.")
    ] = None
    key: Annotated[
        list[str] | None, _columns("May be known to an intruder (quasi-identifier). Repeatable.")
    ] = None
    confidential: Annotated[
        list[str] | None, _columns("Must not become known about a unit. Repeatable.")
    ] = None
    non_confidential: Annotated[
        list[str] | None, _columns("None of the above; overrides a suggestion. Repeatable.")
    ] = None
    weight: Annotated[str | None, _columns("Sampling weight.")] = None
    household: Annotated[str | None, _columns("Says which records belong together.")] = None
    stratum: Annotated[
        list[str] | None, _columns("Stratum of the sampling design. Repeatable.")
    ] = None
    suggested_roles: Annotated[
        bool,
        Option(
            "--suggested-roles",
            metavar="",
            help="Use the roles that `tacit inspect` proposes where nothing else is said.",
            rich_help_panel=_ROLES,
        ),
    ] = False


@dataclass(frozen=True)
class Engine:
    """Where the work is done."""

    engine: Annotated[
        str,
        Option(
            metavar="NAME",
            help="memory, or duckdb for Parquet files beyond it, worked on in blocks.",
            rich_help_panel=_ENGINE,
        ),
    ] = "memory"
    memory: Annotated[
        str,
        Option(
            metavar="SIZE",
            help="Memory that duckdb and the blocks may use, such as 2GB.",
            rich_help_panel=_ENGINE,
        ),
    ] = "2GB"


@dataclass(frozen=True)
class Output:
    """How to answer."""

    json: Annotated[
        bool,
        Option(
            "--json",
            metavar="",
            help="Print one JSON document and nothing else.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False
    quiet: Annotated[
        bool,
        Option(
            "--quiet",
            "-q",
            metavar="",
            help="No progress; results, warnings and errors stay.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False
    debug: Annotated[
        bool,
        Option(
            "--debug",
            metavar="",
            help="Show the traceback of an error.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False
