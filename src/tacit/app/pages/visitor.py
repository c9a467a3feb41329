"""The person in front of a page, known by the cookie of the browser."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse
from nicegui import ui

from tacit.app.api.access import COOKIE
from tacit.app.permissions import Actor, NotLoggedInError
from tacit.app.services import Services
from tacit.core.errors import TacitError

log = logging.getLogger("tacit.app")
_served: list[Services] = []


def serve(parts: Services) -> None:
    """Name the app whose pages are shown: NiceGUI has one per process."""
    _served[:] = [parts]


class Visitor:
    """Somebody who is logged in; who they are is looked up again at every action."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.csrf = self.parts.accounts.find_session(token).csrf

    @property
    def parts(self) -> Services:
        """The services of the running app."""
        return _served[0]

    @property
    def actor(self) -> Actor:
        """The person, unless the session has ended meanwhile."""
        return self.parts.accounts.find_session(self.token).actor


def visitor_of(request: Request) -> Visitor | RedirectResponse:
    """Return who looks at a page, or the way to the entrance."""
    try:
        return Visitor(request.cookies.get(COOKIE, ""))
    except NotLoggedInError:
        return RedirectResponse(f"/login?next={request.url.path}", status_code=303)


@contextmanager
def explained() -> Iterator[None]:
    """Show an error of ours as a message; of a bug only that there is one."""
    try:
        yield
    except NotLoggedInError:
        ui.navigate.to("/login")
    except TacitError as error:
        ui.notify(str(error), type="warning", multi_line=True, timeout=12_000, close_button="OK")
    except Exception as error:
        log.error("page failed: %s", type(error).__name__)
        ui.notify("This is a bug in tacit; please report it.", type="negative")


def trying(action: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what a button does, so that errors become messages."""
    if iscoroutinefunction(action):

        async def wait(*arguments: Any) -> None:
            with explained():
                await action(*arguments)

        return wait

    def run(*arguments: Any) -> None:
        with explained():
            action(*arguments)

    return run
