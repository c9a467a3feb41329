"""What an intruder would learn from a version: ask for the attacks, read what they found."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tacit.app.pages.frame import as_script, hint
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.scripts import attack_script
from tacit.core.plan import Plan


def attack_view(visitor: Visitor, project: str, version: dict[str, Any], inside: bool) -> None:
    """Draw the findings if the version was attacked, and for the house the button."""
    found = version["measurements"].get("attack")
    if found is not None:
        _findings(found)
    elif not inside:
        hint("The version has not been attacked yet.")
    if not inside:
        return

    @trying
    def attack() -> None:
        asked = {"version": version["id"]}
        visitor.parts.jobs.submit(visitor.actor, project, "attack", asked)
        ui.notify("The version is being attacked; this takes up to a minute or so.")

    word = "Attack this version" if found is None else "Attack it again"
    ui.button(word, on_click=attack).props("outline icon=bug_report")
    as_script(lambda: [(_script(visitor, project, version), "python")])


def _script(visitor: Visitor, project: str, version: dict[str, Any]) -> str:
    steps = [step.as_step() for step in Plan.from_toml(version["plan"])]
    return attack_script(visitor.parts.projects.show(visitor.actor, project), steps)


def _findings(found: dict[str, Any]) -> None:
    ui.label(_words(found)).classes("font-bold").props('role="status"')
    names = ("attack", "verdict", "succeeds", "guessing", "what would stop it, and beware")
    rows = [
        {"attack": f["title"], "verdict": f["verdict"], "succeeds": _share(f["success"]),
         "guessing": _share(f["baseline"]),
         "what would stop it, and beware": _advice(f)}
        for f in found["findings"]
    ]  # fmt: skip
    columns = [
        {"name": n, "label": n, "field": n, "align": "left",
         "style": "white-space: normal; min-width: 6rem"}
        for n in names
    ]  # fmt: skip
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=rows).props("dense flat wrap-cells")


def _advice(finding: dict[str, Any]) -> str:
    remedy = [finding["remedy"]] if finding["verdict"] == "leaked" else []
    return " ".join([*remedy, *finding.get("warnings", ())])


def _words(found: dict[str, Any]) -> str:
    """Say what the attacks come to; none at all says nothing about safety."""
    of = f" ({found['target']})" if "target" in found else ""
    if not found["findings"]:
        return f"No attack applies, which says nothing about safety{of}."
    if found["passed"]:
        return f"No attack learnt more than guessing would{of}."
    return f"Not ready to leave: some attacks learnt more than guessing would{of}."


def _share(rate: dict[str, Any]) -> str:
    return "no attempt" if not rate["n"] else f"{100 * rate['value']:.3g} %"
