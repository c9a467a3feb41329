"""``tacit attack``: what an intruder would learn from a release, tables or a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from typer import Argument, Option

from tacit.cli.console import Answer
from tacit.cli.intruder import Intruder
from tacit.cli.options import Reading, Roles
from tacit.core.errors import DataError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.attack import AttackReport


def attack(
    target: Annotated[
        str,
        Argument(
            metavar="TARGET",
            help="The folder that `tacit apply` or `tacit table` wrote, or the original data "
            "together with RELEASED or --policy.",
            show_default=False,
        ),
    ],
    reading: Reading,
    roles: Roles,
    intruder: Intruder,
    released: Annotated[
        str | None,
        Argument(
            metavar="[RELEASED]",
            help="A protected file beside its original TARGET, or a second folder of the same "
            "data: both are attacked together.",
        ),
    ] = None,
    original: Annotated[
        str | None,
        Option(metavar="DATA", help="The original data of a folder, if they have moved."),
    ] = None,
    policy: Annotated[
        str | None,
        Option(metavar="POLICY", help="Attack a server of the data in TARGET under this policy."),
    ] = None,
    server: Annotated[
        str | None,
        Option(
            metavar="ADDRESS",
            help="Attack the live server of an app, of which TARGET are the data; needs --project "
            "and a key in TACIT_KEY.",
        ),
    ] = None,
    project: Annotated[
        str | None, Option(metavar="ID", help="Project that the live server belongs to.")
    ] = None,
    secret: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="File with the secret that the tables of a folder were made with (cell keys).",
        ),
    ] = None,
    seconds: Annotated[
        float, Option(min=0, help="Time for all attacks together; one that overruns is stopped.")
    ] = 300.0,
    report: Annotated[
        Path | None, Option(metavar="FILE", help="Write the report as an HTML page.")
    ] = None,
) -> Answer:
    """Attack a release before anybody else does, and report what leaks.

    TARGET is a folder of `tacit apply` or `tacit table`, an original with its RELEASED file, or
    data with --policy or --server. Every attack that applies is run; each finding says how often it
    succeeds, how often guessing would, who is affected and what to change.
    """
    from tacit.attack import audit
    from tacit.cli.attack_target import live_target, opened_target

    known = intruder.knowledge(reading)
    if server is not None:
        chosen = live_target(target, server, project, reading, roles)
    else:
        chosen = opened_target(target, released, original, policy, reading, roles, secret)
    found = audit(chosen, known, seconds=seconds)
    if not len(found):
        _refuse(found)
    if report is not None:
        _write_report(found, report, target)
    return Answer({"source": target, **found.as_dict()}, _drawn(found))


def _refuse(found: AttackReport) -> NoReturn:
    """Say why no attack ran: silence would read as safety."""
    reasons = list(dict.fromkeys(found.left_out.values()))
    raise DataError(
        "nothing was attacked, which says nothing about safety",
        got="; ".join(reasons[:3]),
        do="give what the attacks ask for (roles, --know, a server that answers, more --seconds)",
    )


def _write_report(found: AttackReport, path: Path, source: str) -> None:
    from tacit.core.atomic import write_text
    from tacit.report.attack_report import attack_report

    write_text(path, attack_report(found, source=source))


def _verdict(found: AttackReport) -> str:
    if found.passed:
        return "none learnt more than guessing"
    n = len(found.leaks)
    return "1 leaks" if n == 1 else f"{n} leak"


def _drawn(found: AttackReport) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from tacit.core.measurement import counted

    tried = f"{counted(len(found), 'attack')} on {found.target}"
    yield Text(f"{tried}: {_verdict(found)}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("attack", "verdict", "success", "guessing", "broken"):
        table.add_column(name, justify="right" if name == "broken" else "left")
    for one in found:
        cells = (one.title, str(one.verdict), str(one.success), str(one.baseline))
        broken = counted(one.n_broken, one.unit, "people" if one.unit == "person" else None)
        table.add_row(*(Text(cell) for cell in cells), Text(broken))
    yield table
    for one in found.leaks:
        yield Text(f"{one.title}: {one.question}. {one.worst}.\n  What would stop it: {one.remedy}")
    for one in found:
        if one.warnings:
            yield Text(f"{one.title}: {' '.join(one.warnings)}", style="italic")
    if not found.complete:
        n = len(found.unfinished)
        yield Text(f"{n} attacks did not finish in the time: give more --seconds", style="bold")
    for key, reason in found.left_out.items():
        yield Text(f"not run: {key} ({reason})", style="dim")
