"""``tacit methods``: the catalogue, drawn from the registry."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

_FAMILIES = {
    "mask": "Masking methods, for plans and --step",
    "risk": "Risk measures, for --measure",
    "utility": "Utility measures, for --measure",
    "rule": "Rules for sensitive cells, for tacit table --rule",
    "protection": "Protections of tables, for tacit table --method",
    "attack": "Attacks, run by tacit attack",
    "format": "File formats, for --format",
    "document": "Documents of the dossier",
}


def methods(
    key: Annotated[
        str | None, Argument(metavar="[KEY]", help="Describe this method.", show_default=False)
    ] = None,
    family: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Only this family: mask, risk, utility, rule, protection, format, document.",
        ),
    ] = None,
) -> Answer:
    """List the methods and measures, or describe one of them."""
    from tacit.cli.catalogue import described
    from tacit.core.method import find
    from tacit.core.method import methods as registered

    if key is not None:
        document = described(find(key, family))
        return Answer(document, _description(document))
    documents = [described(method) for method in registered(family)]
    return Answer({"methods": documents}, _listing(documents))


# -- drawing ----------------------------------------------------------------------------------


def _listing(documents: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from rich.text import Text

    families = [*_FAMILIES, *sorted({d["family"] for d in documents} - _FAMILIES.keys())]
    for family in families:
        members = [d for d in documents if d["family"] == family]
        if members:
            yield Text(_FAMILIES.get(family, family), style="bold")
            yield _members(members)
            yield ""
    yield "Describe one with: tacit methods KEY"


def _members(documents: list[dict[str, Any]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=22)
    table.add_column()
    for document in documents:
        summary = document["summary"].replace("``", "") or document["title"]
        table.add_row(Text(f"  {document['key']}", style="cyan"), Text(summary))
    return table


def _description(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from tacit.cli.catalogue import prose

    yield Text.assemble((document["title"], "bold"), f"  ({document['family']})")
    yield ""
    yield Text(prose(document["documentation"]))
    if document["parameters"]:
        yield Text("\nParameters", style="bold")
        yield from (
            Padding(p, (0, 0, 0, 2), expand=False) for p in map(_parameter, document["parameters"])
        )
    if document["cites"]:
        yield Text.assemble(("\nReferences  ", "bold"), ", ".join(document["cites"]))
    if "example_toml" in document:
        yield from _example(document)


def _parameter(parameter: dict[str, Any]) -> RenderableType:
    from rich.text import Text

    facts = [parameter["type"], *parameter["limits"]]
    if parameter["required"]:
        facts.append("required")
    elif parameter["default"] is not None:
        facts.append(f"default {_shown(parameter['default'])}")
    name = Text.assemble((parameter["name"], "cyan"), f"  ({', '.join(facts)})")
    return Text.assemble(
        name, "\n    ", parameter["help"].replace("``", "").replace("\n", "\n    ")
    )


def _shown(value: Any) -> str:
    from tacit.cli.steps import written

    return written(value)


def _example(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    option = {
        "mask": "--step", "risk": "--measure", "utility": "--measure", "rule": "--rule",
        "protection": "--method",
    }.get(document["family"])  # fmt: skip
    if option is None:
        return
    if option == "--step":
        yield Text("\nIn a plan file", style="bold")
        yield Padding(Text(document["example_toml"]), (0, 0, 0, 2), expand=False)
    yield Text("\nOn the command line", style="bold")
    yield Text(f"  {option} {shlex.quote(_written(document))}")


def _written(document: dict[str, Any]) -> str:
    """Write the example as the option of the command line takes it."""
    if document["family"] == "rule":
        from tacit.core.method import find

        made: Any = find(document["key"], "rule")(**document["example"])
        return str(made.short())
    return str(document["key"] if document["family"] == "protection" else document["example_step"])
