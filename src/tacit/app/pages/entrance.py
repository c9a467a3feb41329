"""Plain pages to log in, to log out, and to create the first administrator."""

from __future__ import annotations

import hmac
from html import escape
from typing import Annotated

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tacit.app.accounts import SHORTEST_PASSWORD
from tacit.app.api.access import COOKIE
from tacit.app.api.accounts import set_cookie
from tacit.app.permissions import NotAllowedError, TooManyError
from tacit.app.services import Services
from tacit.core.errors import TacitError

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>tacit · {title}</title>
<style>
body {{font: 16px/1.5 system-ui, sans-serif; background: #f4f6f8; color: #1c2733; margin: 0}}
main {{max-width: 26rem; margin: 12vh auto; background: #fff; padding: 2rem; border-radius: .6rem;
box-shadow: 0 1px 6px #0002}}
h1 {{margin: 0 0 .2rem; font-size: 1.6rem}} p {{margin: .4rem 0 1rem}}
label {{display: block; margin-top: .8rem; font-weight: 600}}
input {{width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid
#71808f; border-radius: .3rem}}
button {{margin-top: 1.2rem; font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .3rem;
background: #17577e; color: #fff; cursor: pointer}}
[role=alert] {{background: #fdecea; border-left: 4px solid #b3261e; padding: .6rem .8rem}}
</style></head><body><main><h1>{title}</h1>{body}</main></body></html>"""
_FORM = """{message}<form method="post" action="{action}">{extra}
<label for="name">Name</label><input id="name" name="name" required
autocomplete="username" autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" required
autocomplete="{complete}">{more}<button type="submit">{button}</button></form>"""


def install(app: FastAPI) -> None:
    """Add the pages at the entrance."""
    app.add_api_route("/login", show_login, include_in_schema=False)
    app.add_api_route("/login", log_in, methods=["POST"], include_in_schema=False)
    app.add_api_route("/logout", log_out, methods=["POST"], include_in_schema=False)
    app.add_api_route("/setup", show_setup, include_in_schema=False)
    app.add_api_route("/setup", set_up, methods=["POST"], include_in_schema=False)


def show_login(request: Request, next: str = "/") -> Response:
    """Ask for name and password."""
    parts: Services = request.app.state.services
    if not parts.accounts.are_there():
        return _page(
            "Welcome to tacit",
            "<p>Nobody has an account yet. Open the address that the terminal printed when the "
            "app was started; it lets you create the administrator.</p>",
        )
    return _login(parts, next)


def log_in(
    request: Request,
    name: Annotated[str, Form(max_length=2000)],
    password: Annotated[str, Form(max_length=2000)],
    next: Annotated[str, Form(max_length=2000)] = "/",
) -> Response:
    """Begin a session."""
    parts: Services = request.app.state.services
    where = request.client.host if request.client else "unknown"
    try:
        _check_origin(request)
        if not request.app.state.attempts.allows(where):
            raise TooManyError("too many attempts from this address", do="wait a minute")
        session = parts.accounts.log_in(name, password)
    except TacitError as error:
        return _login(parts, next, str(error), status=401)
    return _inside(next, parts, session.token)


def log_out(request: Request) -> Response:
    """End the session."""
    parts: Services = request.app.state.services
    _check_origin(request)
    token = request.cookies.get(COOKIE)
    if token:
        parts.accounts.log_out(token)
    answer = RedirectResponse("/login", status_code=303)
    answer.delete_cookie(COOKIE)
    return answer


def show_setup(request: Request, code: str = "") -> Response:
    """Ask for the name and password of the administrator."""
    if not _code_is_right(request, code):
        return RedirectResponse("/login", status_code=303)
    return _setup(code)


def set_up(
    request: Request,
    name: Annotated[str, Form(max_length=2000)],
    password: Annotated[str, Form(max_length=2000)],
    again: Annotated[str, Form(max_length=2000)],
    code: Annotated[str, Form(max_length=200)],
) -> Response:
    """Create the administrator and begin a session."""
    parts: Services = request.app.state.services
    _check_origin(request)
    if not _code_is_right(request, code):
        return RedirectResponse("/login", status_code=303)
    if password != again:
        return _setup(code, "the two passwords differ")
    try:
        made = parts.accounts.create_first(name, password)
        request.app.state.welcome(made)
        session = parts.accounts.log_in(name, password)
    except TacitError as error:
        return _setup(code, str(error))
    return _inside("/", parts, session.token)


def _check_origin(request: Request) -> None:
    """Refuse forms that another site sent."""
    origin = request.headers.get("Origin")
    if origin is not None and origin.split("://")[-1] != request.headers.get("Host"):
        raise NotAllowedError("this form was sent by another site")


def _code_is_right(request: Request, code: str) -> bool:
    parts: Services = request.app.state.services
    expected: str = request.app.state.setup_code
    same = hmac.compare_digest(code.encode(), expected.encode())
    return bool(expected) and same and not parts.accounts.are_there()


def _login(parts: Services, next: str, message: str = "", status: int = 200) -> Response:
    extra = f'<input type="hidden" name="next" value="{escape(next, quote=True)}">'
    form = _FORM.format(
        message=_alert(message), action="/login", extra=extra, complete="current-password",
        more="", button="Log in",
    )  # fmt: skip
    if parts.settings.oidc_issuer:
        form += '<p><a href="/oidc/login">Log in with your organisation</a></p>'
    return _page("Log in to tacit", form, status)


def _setup(code: str, message: str = "") -> Response:
    extra = f'<input type="hidden" name="code" value="{escape(code, quote=True)}">'
    more = (
        '<label for="again">Password, again</label><input id="again" name="again" type="password" '
        'required autocomplete="new-password">'
    )
    form = _FORM.format(
        message=_alert(message), action="/setup", extra=extra, complete="new-password",
        more=more, button="Create the administrator",
    )  # fmt: skip
    words = (
        "<p>You are the first here. Choose the name and password of the administrator, at least "
        f"{SHORTEST_PASSWORD} characters. Other people's accounts are made later, in the app.</p>"
    )
    return _page("Welcome to tacit", words + form, 422 if message else 200)


def _alert(message: str) -> str:
    return f'<p role="alert">{escape(message)}</p>' if message else ""


def _page(title: str, body: str, status: int = 200) -> Response:
    return HTMLResponse(_PAGE.format(title=escape(title), body=body), status_code=status)


def _inside(next: str, parts: Services, token: str) -> Response:
    """Go on to a page of this site, and of no other."""
    here = next.startswith("/") and not next.startswith(("//", "/\\"))
    answer = RedirectResponse(next if here else "/", status_code=303)
    set_cookie(answer, parts.settings.https, token)
    return answer
