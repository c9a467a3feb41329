"""The pages people see, drawn by NiceGUI on the same services as the REST interface."""

from __future__ import annotations

from fastapi import FastAPI

from tacit.app.services import Services


def install(app: FastAPI, parts: Services, secret: str) -> None:
    """Add all pages to the app."""
    from nicegui import ui

    from tacit.app.pages import account, asking, entrance, games, home, people, project, visitor

    visitor.serve(parts)
    entrance.install(app)
    for module in (home, project, asking, account, people, games):
        module.install()
    ui.run_with(
        app, title="tacit", favicon="🤫", language="en-US", storage_secret=secret,
        session_middleware_kwargs={"https_only": parts.settings.https}, show_welcome_message=False,
    )  # fmt: skip
