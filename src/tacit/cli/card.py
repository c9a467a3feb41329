"""The scorecard on a terminal, drawn from its plain form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

_ASPECTS = {"risk": "Risk", "utility": "Utility"}


def drawn_card(card: Mapping[str, Any], *, after: str = "release") -> Iterator[RenderableType]:
    """Draw the measurements of a card side by side, then what was not measured."""
    from rich.text import Text

    if any(card[aspect] for aspect in _ASPECTS):
        yield _table(card, after)
    for measurement in _measurements(card):
        for warning in measurement["warnings"]:
            yield Text(f"note on {measurement['title']}: {warning}", style="yellow")
    for key, reason in card["left_out"].items():
        yield Text(f"not measured: {key} ({reason})", style="dim")


def explanations(card: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Say what each number means, in words."""
    from rich.text import Text

    for measurement in _measurements(card):
        if measurement["explanation"]:
            yield Text.assemble((f"{measurement['title']}: ", "bold"), measurement["explanation"])


def _measurements(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [measurement for aspect in _ASPECTS for measurement in card[aspect]]


def _table(card: Mapping[str, Any], after: str) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("measure", min_width=24)
    before = card["before"]
    if before:
        table.add_column("original", justify="right")
    table.add_column(after, justify="right", style="bold")
    table.add_column("better")
    for aspect, heading in _ASPECTS.items():
        for number, m in enumerate(card[aspect]):
            first = [before[m["measure"]]["text"] if m["measure"] in before else ""]
            cells = [m["title"], *(first if before else []), m["text"], m["better"]]
            table.add_row(heading if number == 0 else "", *map(Text, cells))
    return table
