"""``tacit table``: from confidential records to a table that may be published."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer
from tacit.cli.options import DataArgument, Reading
from tacit.cli.table_options import Cells, Protecting

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.report.table_release import TableRelease


def table(
    data: DataArgument,
    out: Annotated[Path, Argument(metavar="OUT", help="Folder of the result.", show_default=False)],
    reading: Reading,
    cells: Cells,
    protecting: Protecting,
    force: Annotated[
        bool, Option("--force", metavar="", help="Replace an earlier result in the folder.")
    ] = False,
) -> Answer:
    """Build a table, find its sensitive cells, protect them, attack the result, and write it.

    The folder gets public/ (the table as CSV and Excel and a note, for readers) and dossier/ (the
    report, what an intruder can work out, an a-priori file and the plan, which stay inside). A
    table that does not withstand the attack is refused, and nothing is written.
    """
    from tacit.cli.opening import shown
    from tacit.cli.table_cells import built_table, reading_of
    from tacit.cli.table_checks import check_attacked
    from tacit.cli.table_plan import chosen_plan
    from tacit.report.table_release import TableRelease

    check_output(out, force=force)
    plan, files, last = chosen_plan(cells, protecting)
    plan, built, remarks = built_table(plan, data, reading, cells, protecting, files)
    made = plan.protect(built)
    checked = made.verify(**({"singletons": True} if protecting.singletons else {}))
    check_attacked(checked, protecting)
    release = TableRelease(
        plan, made, checked, source=shown(data), apriori=files, remarks=remarks,
        again=again(out, data, reading, protecting), reading=reading_of(plan, data, reading),
    )  # fmt: skip
    release.save(out, force=force)
    return answer(release, out, _compared(release, out, last))


def check_output(out: Path, *, force: bool) -> None:
    """Refuse an output that cannot be written before any work is done."""
    from tacit.core.errors import WriteError

    if os.path.lexists(out) and not force:
        raise WriteError(
            "the output folder exists already",
            got=str(out),
            do="choose another or replace the result in it with --force",
        )


def again(out: Path, data: str, reading: Reading, protecting: Protecting) -> str:
    """Return the command that makes a release again from its dossier."""
    from tacit.cli.opening import shown

    words = ["tacit", "table", "--plan", str(out / "dossier" / "plan.toml")]
    for name, value in vars(reading).items():
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            words += [f"--{name.replace('_', '-')}", one]
    words += [] if protecting.secret is None else ["--secret", str(protecting.secret)]
    words += ["--singletons"] if protecting.singletons else []
    return shlex.join([*words, shown(data), "OUT"])


def _compared(release: TableRelease, out: Path, last: dict[str, Any]) -> list[str]:
    """Say where the result of a plan differs from that of its last use."""
    from tacit.tables.table_plan import read_plan

    if not last:
        return []
    now = read_plan(out / "dossier" / "plan.toml")[1]
    if now["original_digest"] != last.get("original_digest"):
        return ["the original table is not the one the plan was last used on"]
    if now["outcome_digest"] != last.get("outcome_digest"):
        return ["the published table is not the one the plan gave last"]
    return []


def answer(release: TableRelease, out: Path, warnings: list[str]) -> Answer:
    """Say what was done, what it cost, and where it lies."""
    public, dossier = out / "public", out / "dossier"
    warning = release.protected.notes.get("warning")
    document = {
        **release.as_dict(),
        "public": [str(p) for p in sorted(public.iterdir())],
        "dossier": str(dossier),
        "report": str(dossier / "report.html"),
    }
    said = [*warnings, *release.cautions, *([str(warning)] if warning else [])]
    return Answer(document, _drawn(document, release), tuple(said))


def _drawn(document: dict[str, Any], release: TableRelease) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    yield Text.assemble((document["table"], "bold"))
    yield Text(document["method"])
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("status", min_width=18)
    for name in ("cells", "records", "value"):
        grid.add_column(name, justify="right")
    for line in release.protected.summary().lines:
        records = "" if line.records is None else f"{line.records:,}"
        title = f"  {line.title}" if line.part_of else line.title
        grid.add_row(Text(title), f"{line.cells:,}", records, f"{line.value:,.10g}")
    yield grid
    for remark in release.remarks:
        yield Text(remark)
    for text in release.verification.summary().splitlines():
        yield Text(text)
    for path in document["public"]:
        yield Text.assemble(("for readers   ", "bold"), path)
    yield Text.assemble(("stays inside  ", "bold"), document["dossier"])
    yield Text.assemble(("report        ", "bold"), document["report"])
