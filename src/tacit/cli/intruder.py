"""Options that say what the intruder of ``tacit attack`` knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.options import Reading

if TYPE_CHECKING:
    from tacit.attack import Knowledge

_PANEL = "What the intruder knows"


def _share(help: str) -> Any:
    return Option(min=0, max=1, help=help, rich_help_panel=_PANEL)


@dataclass(frozen=True)
class Intruder:
    """What the intruder knows and can do; by default a strong one."""

    know: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            help="A column the intruder knows; by default the keys.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    error: Annotated[float, _share("Share of errors in the intruder's own file.")] = 0.0
    coverage: Annotated[float, _share("Share of the people in the intruder's own file.")] = 1.0
    membership: Annotated[
        float, _share("How certain the intruder is that somebody is in the release.")
    ] = 1.0
    method: Annotated[
        bool,
        Option(
            "--method/--no-method",
            help="Whether the intruder knows the method and its parameters.",
            rich_help_panel=_PANEL,
        ),
    ] = True
    respondent: Annotated[
        bool,
        Option(
            "--respondent/--outsider",
            help="Whether the intruder has an own contribution to tables.",
            rich_help_panel=_PANEL,
        ),
    ] = True
    coalition: Annotated[
        int,
        Option(
            min=1, help="Respondents who pool what they know, for tables.", rich_help_panel=_PANEL
        ),
    ] = 1
    known_within: Annotated[
        float | None,
        Option(
            min=0,
            metavar="PERCENT",
            help="Every value of a table is known within this percentage beforehand.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    rule_out: Annotated[
        int,
        Option(
            min=0,
            help="Confidential values that the intruder can rule out for somebody.",
            rich_help_panel=_PANEL,
        ),
    ] = 1
    queries: Annotated[
        int | None,
        Option(
            min=1,
            help="Most requests to a server.",
            show_default="no limit",
            rich_help_panel=_PANEL,
        ),
    ] = None
    holdout: Annotated[
        str | None,
        Option(
            metavar="DATA",
            help="People the release was not made from, as a control (membership inference).",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def knowledge(self, reading: Reading) -> Knowledge:
        """Return it as the attacks take it; the hold-out is read like the data."""
        from tacit.attack import Knowledge
        from tacit.cli.opening import open_data

        return Knowledge(
            columns=tuple(self.know) if self.know else None, error=self.error,
            coverage=self.coverage, membership=self.membership, method=self.method,
            respondent=self.respondent, coalition=self.coalition, known_within=self.known_within,
            excluded=self.rule_out, queries=self.queries,
            holdout=open_data(self.holdout, reading) if self.holdout else None,
        )  # fmt: skip
