"""``tacit apply``: from a confidential file to a protected one, with the evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.console import Answer
from tacit.cli.options import DataArgument, Engine, Reading, Roles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.plan import Plan
    from tacit.core.release import Release


def apply(
    data: DataArgument,
    out: Annotated[
        Path,
        Option("--out", "-o", metavar="FOLDER", help="Folder of the release.", show_default=False),
    ],
    reading: Reading,
    roles: Roles,
    engine: Engine,
    plan: Annotated[
        Path | None, Option(metavar="FILE", help="A plan in TOML: methods in order.")
    ] = None,
    step: Annotated[
        list[str] | None,
        Option(
            metavar="STEP",
            help='A method with its parameters, such as "mdav columns=Age k=3"; repeated in '
            "order, after those of the plan.",
        ),
    ] = None,
    seed: Annotated[
        int | None, Option(metavar="N", help="Secret number that makes the release repeatable.")
    ] = None,
    format: Annotated[str, Option(metavar="KEY", help="File format of the released data.")] = "csv",
    blocks: Annotated[
        int,
        Option(metavar="N", help="Records in a block of duckdb; more lose less and take longer."),
    ] = 10_000,
    force: Annotated[
        bool, Option("--force", metavar="", help="Replace an earlier release in the folder.")
    ] = False,
) -> Answer:
    """Protect a file: remove identifiers, apply a plan, measure, and write the release.

    The folder gets public/ (the protected data and a note, for users) and dossier/ (plan, seed,
    measurements and a report, which stay inside). It appears whole or not at all.
    """
    from tacit.cli.opening import open_beyond_memory, open_data, require_roles
    from tacit.core.engine import collecting_at_most
    from tacit.io.beyond_memory import values_within

    chosen = chosen_plan(plan, step or [])
    check_output(out, format, force=force)
    if engine.engine == "memory":
        opened = open_data(data, reading, roles)
        require_roles(opened)
        release = chosen.apply(opened, seed=seed)
        release.save(out, format=format, force=force)
        return released(release, out, undeclared_identifiers(release))
    opened = open_beyond_memory(data, reading, roles, engine)
    require_roles(opened)
    with collecting_at_most(values_within(engine.memory)):
        release = chosen.apply(opened, seed=seed, blocks=blocks)
        release.save(out, format=format, force=force)
        return released(release, out, undeclared_identifiers(release))


def chosen_plan(path: Path | None, steps: list[str]) -> Plan:
    """Join the plan file and the steps of the command line, in this order."""
    from tacit.cli.steps import parse_step
    from tacit.core.errors import PlanError
    from tacit.core.plan import Plan

    if path is None and not steps:
        raise PlanError(
            "there is nothing to do", do="give --plan or --step; see the choice: tacit methods"
        )
    planned = [] if path is None else list(Plan.load(path))
    return Plan([*planned, *(parse_step(text, "mask") for text in steps)])  # type: ignore[list-item]


def check_output(out: Path, format: str, *, force: bool) -> None:
    """Refuse an output that cannot be written before any work is done."""
    from tacit.core.errors import WriteError
    from tacit.core.method import find

    find(format, "format")
    if out.exists() and not force:
        raise WriteError(
            "the output folder exists already",
            got=str(out),
            do="choose another or replace the release in it with --force",
        )


def undeclared_identifiers(release: Release) -> tuple[str, ...]:
    """Warn about released columns that look like identifiers and were not declared as such."""
    from tacit.suggest import looks_like_identifier

    return tuple(
        f"column {name!r} looks like a direct identifier and is in the release; if it is one, "
        "declare it with --identifier and apply again"
        for name in looks_like_identifier(release.original)
        if name in release.data.schema
    )


def released(release: Release, out: Path, warnings: tuple[str, ...] = ()) -> Answer:
    """Say what was done, how safe and useful the result is, and where it lies."""
    from tacit.cli.release_folder import data_files
    from tacit.core.bundle import DOSSIER

    dossier, files = out / DOSSIER, data_files(out)
    card = json.loads((dossier / "measurements.json").read_text(encoding="utf-8"))
    manifest = json.loads((dossier / "manifest.json").read_text(encoding="utf-8"))
    broken = manifest["newly_broken_constraints"]
    document = {
        "records": {"original": release.original.n_records, "released": release.data.n_records},
        "steps": [step.description for step in release.steps],
        "scorecard": card,
        "newly_broken_constraints": broken,
        "public": str(files[0]),
        "data_sets": [str(file) for file in files],
        "dossier": str(dossier),
        "report": str(dossier / "report.html"),
    }
    rules = tuple(f"{n} records now break the rule {rule}" for rule, n in broken.items())
    return Answer(document, _drawn(document), (*warnings, *rules))


def _drawn(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from tacit.cli.card import drawn_card

    records = document["records"]
    yield f"{records['original']:,} records read, {records['released']:,} released"
    for number, description in enumerate(document["steps"], 1):
        yield Padding(Text(f"{number}. {description}"), (0, 0, 0, 2), expand=False)
    yield from drawn_card(document["scorecard"])
    several = len(document["data_sets"])
    also = f" and {several - 1} more data sets beside it" if several > 1 else ""
    yield Text.assemble(("for users     ", "bold"), document["public"], also)
    yield Text.assemble(("stays inside  ", "bold"), document["dossier"])
    yield Text.assemble(("report        ", "bold"), document["report"])
