"""The query server of a project: its policy, who may ask, its log."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tacit.app.pages.frame import as_script, hint, section
from tacit.app.pages.visitor import Visitor, explained, trying
from tacit.app.queries import POLICIES
from tacit.app.scripts import server_script

_EFFECT = {
    "universe": "some requests are refused; answers stay as they are",
    "data": "some records are left out of every answer",
    "output": "some results are withheld, changed or refused",
    "answer": "answers are coarser",
}
"""What a rule takes from those who ask, by the stage at which it acts."""
_TIME = {
    "always": "remembers what was asked: requests wait for each other",
    "tables": "remembers tables: they wait for each other, models do not",
    "never": "remembers nothing: nobody waits",
}
"""What a rule takes in time, by what it remembers."""


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    about = visitor.parts.projects.show(visitor.actor, project)
    if not about["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return
    present = visitor.parts.queries.settings_of(visitor.actor, project)
    section("Let others ask, without showing them a record")
    hint("Open the server and save. The rules below are a careful start; they need no change.")
    active = ui.switch("The query server is open", value=present["active"])
    everybody = ui.switch(
        "Everybody with an account may ask (otherwise: analysts invited under People)",
        value=present["open_to_all"],
    )
    opened = {"is": present["active"]}

    @trying
    def save() -> None:
        visitor.parts.queries.set_up(
            visitor.actor, project, policy=policy.value, active=active.value,
            open_to_all=everybody.value,
        )  # fmt: skip
        opened["is"] = active.value
        ui.notify("Saved", type="positive")

    @trying
    def verify() -> None:
        found = visitor.parts.queries.verify_log(visitor.actor, project)
        ui.notify(found["words"], type="positive" if found["intact"] else "negative")

    with ui.row().classes("items-center"):
        ui.button("Save", on_click=save)
        with ui.row().classes("items-center").bind_visibility_from(opened, "is"):
            ui.link("Ask it yourself →", f"/ask/{project}").classes("font-bold")
            ui.button("Check the log", on_click=verify).props("outline")
    section("Rules")
    with ui.row().classes("items-center"):
        ui.label("Start from:")
        for name in POLICIES:
            _starting(name, lambda toml: policy.set_value(toml))
    policy = ui.codemirror(present["policy"], language="TOML").classes("w-full h-96")
    _policies(policy)
    as_script(lambda: [(server_script(about), "python")])


def _starting(name: str, take: Callable[[str], object]) -> None:
    """Offer a policy that comes with tacit."""
    from tacit.query import Policy

    offered = Policy.named(name)
    button = ui.button(name, on_click=lambda: take(offered.to_toml()))
    button.props("flat dense no-caps").tooltip(offered.summary)


def _policies(policy: ui.codemirror) -> None:
    """Say in words what the rules of the policy in the editor do, and what they cost."""

    @ui.refreshable
    def table() -> None:
        with explained():
            _costs(policy.value)

    with ui.expansion("What the rules do, and what they cost").classes("w-full") as box:
        table()
    box.on_value_change(lambda: table.refresh())  # as it is written now


def _costs(policy: str) -> None:
    from tacit.query import Policy

    rows = [
        {"rule": guard.title, "does": guard.summary().replace("`", ""),
         "costs users": _EFFECT[guard.stage], "costs time": _TIME[guard.memory]}
        for guard in Policy.from_toml(policy).guards
    ]  # fmt: skip
    columns = [
        {"name": n, "label": n, "field": n, "align": "left",
         "style": "white-space: normal; min-width: 7rem"}
        for n in ("rule", "does", "costs users", "costs time")
    ]  # fmt: skip
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=rows).props("dense flat wrap-cells")
