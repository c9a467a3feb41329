"""Logging in, accounts, keys for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import COOKIE, ActorOf, ServicesOf
from tacit.app.permissions import Role, TooManyError

router = APIRouter(tags=["accounts"])
Text = Annotated[str, Field(max_length=2000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Credentials(_Body):
    """Name and password."""

    name: Text
    password: Annotated[str, Field(max_length=2000, repr=False)]


class NewAccount(Credentials):
    """Somebody who shall have an account."""

    role: Role


class AccountChange(_Body):
    """What shall be different."""

    role: Role | None = None
    active: bool | None = None
    unlock: bool = False
    password: Annotated[str | None, Field(max_length=2000, repr=False)] = None


class PasswordChange(_Body):
    """The present password and the next."""

    old: Annotated[str, Field(max_length=2000, repr=False)]
    new: Annotated[str, Field(max_length=2000, repr=False)]


class NewKey(_Body):
    """What a key is for."""

    name: Text


@router.post("/session")
def log_in(body: Credentials, request: Request, response: Response, parts: ServicesOf) -> Any:
    """Log in; the answer sets the cookie and tells the token that changes must carry."""
    where = request.client.host if request.client else "unknown"
    if not request.app.state.attempts.allows(where):
        raise TooManyError("too many attempts from this address", do="wait a minute")
    session = parts.accounts.log_in(body.name, body.password)
    set_cookie(response, parts.settings.https, session.token)
    return {"name": session.actor.name, "role": session.actor.role, "csrf": session.csrf}


def set_cookie(response: Response, https: bool, token: str) -> None:
    """Give the browser its cookie: for this site, not for scripts."""
    response.set_cookie(COOKIE, token, httponly=True, samesite="lax", secure=https, path="/")


@router.get("/session")
def session(request: Request, actor: ActorOf, parts: ServicesOf) -> Any:
    """Tell who is logged in, and the token that changes must carry."""
    token = request.cookies.get(COOKIE)
    csrf = parts.accounts.find_session(token).csrf if token else None
    return {"name": actor.name, "role": actor.role, "csrf": csrf}


@router.delete("/session")
def log_out(request: Request, response: Response, actor: ActorOf, parts: ServicesOf) -> Any:
    """Log out."""
    token = request.cookies.get(COOKIE)
    if token:
        parts.accounts.log_out(token)
    response.delete_cookie(COOKIE)
    return {"name": actor.name}


@router.put("/password")
def change_password(body: PasswordChange, actor: ActorOf, parts: ServicesOf) -> Any:
    """Change the own password; all sessions end."""
    parts.accounts.change_password(actor, body.old, body.new)
    return {}


@router.get("/accounts")
def people(actor: ActorOf, parts: ServicesOf) -> Any:
    """List the accounts."""
    return parts.accounts.people(actor)


@router.post("/accounts", status_code=201)
def create(body: NewAccount, actor: ActorOf, parts: ServicesOf) -> Any:
    """Create an account."""
    made = parts.accounts.create(actor, body.name, body.role, body.password)
    return {"id": made.id, "name": made.name, "role": made.role}


@router.patch("/accounts/{account}")
def change(account: str, body: AccountChange, actor: ActorOf, parts: ServicesOf) -> Any:
    """Change the role or password of an account, close, open or unlock it."""
    if body.password is not None:
        parts.accounts.reset_password(actor, account, body.password)
    parts.accounts.change(actor, account, role=body.role, active=body.active, unlock=body.unlock)
    return {}


@router.get("/keys")
def keys(actor: ActorOf, parts: ServicesOf) -> Any:
    """List the own keys for programs."""
    return parts.accounts.tokens(actor)


@router.post("/keys", status_code=201)
def create_key(body: NewKey, actor: ActorOf, parts: ServicesOf) -> Any:
    """Create a key; it is shown this once."""
    return {"key": parts.accounts.create_token(actor, body.name)}


@router.delete("/keys/{key}")
def revoke_key(key: str, actor: ActorOf, parts: ServicesOf) -> Any:
    """Make a key useless."""
    parts.accounts.revoke_token(actor, key)
    return {}
