"""Who takes part in a project, and how."""

from __future__ import annotations

from nicegui import ui

from tacit.app.pages.frame import section
from tacit.app.pages.tabs.project_form import project_form
from tacit.app.pages.visitor import Visitor, trying

_WORDS = {
    "custodian": "custodian: works on the data",
    "reviewer": "reviewer: sees measurements, approves",
    "analyst": "analyst: asks the query server",
}


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""

    @ui.refreshable
    def content() -> None:
        about = visitor.parts.projects.show(visitor.actor, project)
        section("People")
        ui.label(f"{about['owner']} owns the project.")
        for person in about["people"]:
            with ui.row().classes("items-center"):
                ui.label(f"{person['name']}, {person['capacity']}")
                end = trying(lambda i=person["id"]: dismiss(i))
                button = ui.button("End", on_click=end).props("flat dense")
                button.props["aria-label"] = f"End the part of {person['name']}"

    def dismiss(user: str) -> None:
        visitor.parts.projects.dismiss(visitor.actor, project, user)
        content.refresh()

    content()
    with ui.row().classes("items-end"):
        name = ui.input("Name of the account")
        capacity = ui.select(_WORDS, value="reviewer", label="Takes part as").classes(
            "w-80 max-w-full"
        )

        @trying
        def invite() -> None:
            visitor.parts.projects.invite(visitor.actor, project, name.value, capacity.value)
            content.refresh()

        ui.button("Invite", on_click=invite)
    project_form(visitor, visitor.parts.projects.show(visitor.actor, project))
