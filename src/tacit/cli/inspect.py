"""``tacit inspect``: what a file holds and which roles its columns may have."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.console import Answer, one_line
from tacit.cli.options import DataArgument, Reading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.data import Microdata
    from tacit.core.schema import Schema
    from tacit.suggest import Suggestions

_SIZE = "__tacit_size__"
"""A name that no column of a user has."""
_COLUMN = "[[column]]\n"
_HINT = """\
# Roles proposed by tacit, for a person to correct. A column may have none, one or several of:
# identifier (names a unit outright; removed), key (an intruder may know it), confidential,
# non-confidential, household, stratum, weight.

"""


def inspect(
    data: DataArgument,
    reading: Reading,
    save_schema: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write the proposal as a schema in TOML, to correct by hand."),
    ] = None,
    force: Annotated[
        bool, Option("--force", metavar="", help="Replace the schema file if there is one.")
    ] = False,
) -> Answer:
    """Show what a file holds, and propose roles for its columns.

    For each column: type, missing values, distinct values, values that occur once, a proposed role
    and the reason for it. A proposal is for a person to correct: save it with --save-schema, edit
    the file, and give it to `tacit apply --schema`.
    """
    from tacit.cli.opening import open_data, shown
    from tacit.core.atomic import write_text
    from tacit.suggest import suggest_roles

    if save_schema is not None:
        _check_new(save_schema, force=force)
    opened = open_data(data, reading)
    suggestions = suggest_roles(opened)
    proposed = suggestions.apply(opened)
    if save_schema is not None:
        write_text(save_schema, _commented(proposed.schema, suggestions))
    document = {
        "data": shown(data),
        "records": opened.n_records,
        "columns": _columns(proposed, suggestions.as_dict()),
        "keys": _on_keys(proposed),
        "schema": None if save_schema is None else str(save_schema),
    }
    return Answer(document, _drawn(document))


def _check_new(path: Path, *, force: bool) -> None:
    from tacit.core.errors import WriteError

    if path.exists() and not force:
        raise WriteError(
            "the schema file exists already", got=str(path), do="choose another or use --force"
        )


def _commented(schema: Schema, suggestions: Suggestions) -> str:
    """Write a schema as TOML with the reason for each proposal above it."""
    head, *columns = schema.to_toml().split(_COLUMN)
    reasons = (f"# {one_line(s.reason)} ({s.confidence:.0%} sure)\n" for s in suggestions)
    described = (_COLUMN + why + text for why, text in zip(reasons, columns, strict=True))
    return _HINT + head + "".join(described)


def _columns(data: Microdata, suggested: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    from tacit.cli.profile import profiles

    return [asdict(profile) | suggested[profile.name] for profile in profiles(data)]


def _on_keys(data: Microdata) -> dict[str, Any]:
    """Count the records that are alone with their values of all proposed keys together."""
    names = data.schema.keys
    if not names or not data.n_records:
        return {"columns": names, "sample_uniques": None, "smallest_group": None}
    sizes = data.local.group_by(names).len(_SIZE)[_SIZE]
    return {
        "columns": names,
        "sample_uniques": int((sizes == 1).sum()),
        "smallest_group": int(sizes.min()),
    }


# -- drawing ----------------------------------------------------------------------------------


def _drawn(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"{document['data']}: {document['records']:,} records", style="bold")
    yield _table(document["columns"])
    yield _sentence_on_keys(document["keys"], document["records"])
    yield "The roles are proposals: what an intruder may know, no program can see."
    if document["schema"] is not None:
        command = f"tacit apply {shlex.quote(document['data'])} --schema "
        yield Text(f"Proposal written to {document['schema']}. Correct it, then:")
        yield Text(f"  {command}{shlex.quote(document['schema'])} --step ... -o release")


def _table(columns: list[dict[str, Any]]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("column", "type", "kind"):
        table.add_column(name)
    for name in ("missing", "distinct", "once"):
        table.add_column(name, justify="right")
    table.add_column("proposed role", style="bold")
    table.add_column("because")
    for column in columns:
        counts = [f"{column[name]:,}" for name in ("missing", "distinct", "unique")]
        words = [column["name"], column["type"], column["kind"], *counts, column["role"]]
        table.add_row(*map(Text, [*words, column["reason"]]))
    return table


def _sentence_on_keys(keys: dict[str, Any], n_records: int) -> RenderableType:
    from rich.text import Text

    if keys["sample_uniques"] is None:
        return Text("No column is proposed as a key.")
    share = keys["sample_uniques"] / n_records
    return Text.assemble(
        (f"{keys['sample_uniques']:,} of {n_records:,} records ({share:.1%}) are unique", "bold"),
        f" on the proposed keys: {', '.join(keys['columns'])}.",
    )
