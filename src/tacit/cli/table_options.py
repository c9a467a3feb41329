"""Options of ``tacit table``: what the table is, and how it is protected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Option

_TABLE = "The table"
_PROTECTION = "Protection"
NONE = "none"
"""Leaves out what the data bring with them."""


def _column(help: str) -> Any:
    return Option(metavar="COLUMN", help=help, rich_help_panel=_TABLE, show_default=False)


@dataclass(frozen=True)
class Cells:
    """What the table is made of."""

    by: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMNS",
            help="Columns that span the table, such as region,nace. Repeated: linked tables, "
            "protected together.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None
    value: Annotated[str | None, _column("Adds up in the cells; without it records count.")] = None
    hierarchy: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=FILE",
            help="Codes that add up: an .hrc file of tau-ARGUS, or a file with no header whose "
            "lines go from the finest code up, such as N1;North;*. Repeatable; twice for one "
            "column: two breakdowns.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None
    total: Annotated[
        str, Option(metavar="CODE", help="Code of the total.", rich_help_panel=_TABLE)
    ] = "Total"
    weight: Annotated[
        str | None, _column("Sampling weight; by default the one the data name, none: unweighted.")
    ] = None
    unit: Annotated[str | None, _column("Names the respondent of a record.")] = None
    holding: Annotated[
        str | None,
        _column(
            "Names the holding of a respondent; none: also not the one that an .rda file names."
        ),
    ] = None
    request: Annotated[
        str | None,
        _column("Says who asks for protection (1 or 2), for the rule request; none: nobody."),
    ] = None
    shadow: Annotated[str | None, _column("The rules look at this instead of the value.")] = None
    cost: Annotated[
        str | None, _column("Its totals are the cost of suppression; with --option cost=user.")
    ] = None
    missing: Annotated[
        str,
        Option(
            metavar="WHAT",
            help="Records with a missing code: error, own category, drop.",
            rich_help_panel=_TABLE,
        ),
    ] = "error"
    missing_value: Annotated[
        str,
        Option(
            metavar="WHAT",
            help="Records with a missing value: error, drop.",
            rich_help_panel=_TABLE,
        ),
    ] = "error"
    ready: Annotated[
        bool,
        Option(
            "--ready",
            metavar="",
            help="The data are cells and not records: a row per cell, or a .tab file of tau-ARGUS "
            "(--read-option metadata=FILE, --read-option totals='add up').",
            rich_help_panel=_TABLE,
        ),
    ] = False
    count: Annotated[str | None, _column("Of ready cells: number of respondents.")] = None
    largest: Annotated[
        str | None, _column("Of ready cells: largest contributions, such as top1,top2.")
    ] = None
    status: Annotated[
        str | None, _column("Of ready cells: S safe, U unsafe, P must be published.")
    ] = None


@dataclass(frozen=True)
class Protecting:
    """What is sensitive, and what is done about it."""

    rule: Annotated[
        str | None,
        Option(
            metavar="RULE",
            help="What is sensitive, such as 'dominance(2,75)|p(10)&freq(3)'; see: tacit methods "
            "--family rule.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
    method: Annotated[
        str,
        Option(
            metavar="KEY",
            help="The protection; see: tacit methods --family protection. The last word will do "
            "where it is clear.",
            rich_help_panel=_PROTECTION,
        ),
    ] = "suppress-modular"
    option: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=VALUE",
            help="A parameter of the method. Repeatable.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
    apriori: Annotated[
        list[Path] | None,
        Option(
            metavar="FILE",
            help="What is said of single cells beforehand: an a-priori file of tau-ARGUS, with "
            "lines such as N,A,u (unsafe), s (safe, protection waived), p (must be published), m "
            "(must be suppressed). Repeatable; kept with the plan.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
    record_keys: Annotated[
        str | None,
        Option(
            metavar="COLUMNS",
            help="Columns of secret record keys, for the cell key method.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
    secret: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="File with the secret from which record keys are made.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
    singletons: Annotated[
        bool,
        Option(
            "--singletons",
            metavar="",
            help="Protect against respondents who are alone in a cell, too, and attack as they do.",
            rich_help_panel=_PROTECTION,
        ),
    ] = False
    plan: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A plan.toml of an earlier dossier, in place of all other options on table and "
            "protection but --secret, --singletons and further --apriori files.",
            rich_help_panel=_PROTECTION,
            show_default=False,
        ),
    ] = None
