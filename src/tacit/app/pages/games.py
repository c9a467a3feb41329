"""Coprivacy: put a game together and see whether helping others to hide is worth it."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.games import EXAMPLE, solved
from tacit.app.pages.frame import as_script, hint, page, section
from tacit.app.pages.visitor import Visitor, trying, visitor_of
from tacit.app.scripts import game_script


def install() -> None:
    """Add the page."""
    ui.page("/coprivacy")(games)


def games(request: Request) -> Any:
    """Show the desk on which a game is put together."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    with page(visitor, "Coprivacy: when does it pay to help others hide?"):
        _desk()
    return None


def _desk() -> None:
    hint("Say for every outcome what each player gets out of it, and under [[together]] what "
         "counts as helping one another. No data are needed; nothing is kept.")  # fmt: skip
    text = ui.codemirror(EXAMPLE, language="TOML").classes("w-full h-80")
    epsilon = ui.number("What somebody may gain by leaving (for advice)", value=0.0, min=0)
    epsilon.classes("w-80 max-w-full")

    @trying
    async def solve() -> None:
        found = await to_thread(solved, text.value or "", float(epsilon.value or 0))
        area.clear()
        with area:
            _found(found)

    ui.button("Find the equilibria", on_click=solve).props("icon=balance")
    as_script(lambda: [(game_script(text.value or "", float(epsilon.value or 0)), "python")])
    area = ui.column().classes("w-full")


def _found(found: dict[str, Any]) -> None:
    for verdict in found["coprivacy"]:
        words = f"{verdict['kind']}: {'yes' if verdict['holds'] else 'no'}"
        ui.label(words).classes("font-bold").props('role="status"')
        for reason in verdict["reasons"]:
            ui.label(reason).classes("text-sm")
    section("Equilibria: outcomes that nobody gains by leaving alone")
    ui.code(found["words"], language="text").classes("w-full")
    mixed = [e for e in found["mixed"] if not e["is_pure"]]
    if mixed:
        section("In mixed strategies")
        for equilibrium in mixed:
            ui.label("; ".join(
                f"{player}: {_chances(own)}" for player, own in equilibrium["probabilities"].items()
            ))  # fmt: skip
    for reason in found["left_out"]:
        hint(f"Left out: {reason}")


def _chances(own: dict[str, float]) -> str:
    return ", ".join(f"{strategy} {p:.4g}" for strategy, p in own.items() if p > 1e-6)
