"""The query server of a project: its policy, who may ask, its log."""

from __future__ import annotations

from nicegui import ui

from tacit.app.pages.frame import section
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.queries import POLICIES


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    about = visitor.parts.projects.show(visitor.actor, project)
    if not about["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return
    present = visitor.parts.queries.settings_of(visitor.actor, project)
    section("Let others ask, without showing them a record")
    active = ui.switch("The query server is open", value=present["active"])
    everybody = ui.switch(
        "Everybody with an account may ask (otherwise: analysts invited under People)",
        value=present["open_to_all"],
    )
    _policies(present["policy"])
    policy = ui.codemirror(present["policy"], language="TOML").classes("w-full h-96")

    def take(name: str) -> None:
        from tacit.query import Policy

        policy.set_value(Policy.named(name).to_toml())

    with ui.row():
        ui.label("Start from:")
        for name in POLICIES:
            ui.button(name, on_click=trying(lambda n=name: take(n))).props("flat dense no-caps")

    @trying
    def save() -> None:
        visitor.parts.queries.set_up(
            visitor.actor, project, policy=policy.value, active=active.value,
            open_to_all=everybody.value,
        )  # fmt: skip
        ui.notify("Saved", type="positive")

    @trying
    def verify() -> None:
        found = visitor.parts.queries.verify_log(visitor.actor, project)
        ui.notify(found["words"], type="positive" if found["intact"] else "negative")

    with ui.row():
        ui.button("Save", on_click=save)
        ui.button("Check the log", on_click=verify).props("outline")
        ui.link("Ask it yourself", f"/ask/{project}")


def _policies(policy: str) -> None:
    """Say in words what the rules of the present policy do."""
    from tacit.query import Policy

    with ui.expansion("What the rules do, and what they cost").classes("w-full"):
        for guard in Policy.from_toml(policy).guards:
            ui.label(f"{guard.title}: {guard.summary()}").classes("text-sm")
