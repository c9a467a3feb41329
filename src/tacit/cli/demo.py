"""``tacit demo``: the whole job on made-up data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.data import Microdata

SEED = 2026
_FEWEST = 400
"""With fewer people hardly anything can be said about groups of them."""
PLAN = """\
format = 1

[[step]]
method = "recode"
column = "region"
level = 2

[[step]]
method = "recode"
column = "age"
width = 10

[[step]]
method = "mdav"
columns = ["income", "taxes", "hours"]
k = 5
within = ["employed"]

[[step]]
method = "new-identifiers"

[[step]]
method = "local-suppression"
k = 3
missing = "strict"
"""
"""Coarser places and ages, amounts that at least five people share, no one alone with their keys.

Microaggregation stays within people with and people without work: a mean over both would break the
rule that those without work have no income.
"""


def demo(
    out: Annotated[
        Path, Option("--out", "-o", metavar="FOLDER", help="Folder of the release.")
    ] = Path("tacit-demo"),
    records: Annotated[
        int, Option("--records", "-n", metavar="N", min=_FEWEST, help="Number of persons.")
    ] = 5000,
    keep_data: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Also write the made-up data to this file, to try the other commands on.",
        ),
    ] = None,
) -> Answer:
    """Protect a made-up census: data, plan, release, scorecard and report.

    Nothing is downloaded. An earlier release in the folder is replaced; a folder that holds
    anything else is left alone.
    """
    from tacit.cli.apply import released, undeclared_identifiers
    from tacit.core.plan import Plan

    data = _people(records, keep_data)
    release = Plan.from_toml(PLAN).apply(data, seed=SEED)
    release.save(out, force=True)
    answer = released(release, out, undeclared_identifiers(release))
    kept = None if keep_data is None else str(keep_data)
    document = {**answer.document, "data": kept}
    return replace(answer, document=document, drawing=_drawn(answer, data, out, kept))


def _people(n: int, keep: Path | None) -> Microdata:
    from tacit.datasets import census
    from tacit.io.read import read
    from tacit.io.write import write

    made_up = census(n)
    if keep is None:
        return made_up
    write(made_up, keep)
    return read(keep, schema=made_up.schema)


def _drawn(
    answer: Answer, data: Microdata, out: Path, kept: str | None
) -> Iterator[RenderableType]:
    from rich.text import Text

    keys = ", ".join(data.schema.keys)
    yield Text("A made-up census, protected", style="bold")
    yield Text(f"An intruder is supposed to know: {keys}. Nobody should learn: income, taxes.")
    yield from answer.drawing
    yield from _anonymity(answer.document["scorecard"])
    if kept is not None:
        yield Text(f"\nNext: tacit inspect {kept}; tacit replay {out / 'dossier'}")


def _anonymity(card: dict[str, Any]) -> Iterator[RenderableType]:
    """Say in one sentence what became of the smallest group."""
    from rich.text import Text

    after = next((m for m in card["risk"] if m["measure"] == "k-anonymity"), None)
    if after is not None:
        before = card["before"]["k-anonymity"]
        yield Text(
            f"\nBefore, the smallest group of people who look alike had {before['text']}; "
            f"now it has {after['text']}.",
            style="bold",
        )
