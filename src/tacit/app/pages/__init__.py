"""The pages people see, drawn by NiceGUI on the same services as the REST interface."""

from __future__ import annotations

from fastapi import FastAPI

from tacit.app.services import Services

_PATIENCE = 30.0
"""Seconds for which a page keeps what was filled in while its browser is out of reach: on a phone
that shows something else, behind a network that is lost, on a machine that is busy."""


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
        reconnect_timeout=_PATIENCE,
    )  # fmt: skip
