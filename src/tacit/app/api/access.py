"""Who is asking: a browser with its cookie, or a program with its key."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, Request

from tacit.app.permissions import Actor, NotAllowedError, NotLoggedInError
from tacit.app.services import Services

COOKIE = "tacit_session"
CSRF_HEADER = "X-CSRF-Token"
_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})


def services(request: Request) -> Services:
    """Return the parts of the running app."""
    found: Services = request.app.state.services
    return found


def actor(request: Request) -> Actor:
    """Return the person who asks; a browser that changes something must prove it meant to."""
    accounts = services(request).accounts
    header = request.headers.get("Authorization", "")
    scheme, _, key = header.partition(" ")
    if scheme.lower() == "bearer" and key:
        return accounts.find_token(key.strip())
    token = request.cookies.get(COOKIE)
    if not token:
        raise NotLoggedInError("you are not logged in", do="log in, or send a key")
    session = accounts.find_session(token)
    if request.method not in _HARMLESS:
        sent = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode(), session.csrf.encode()):
            raise NotAllowedError(
                "the request does not carry the token of its session",
                do=f"send it as {CSRF_HEADER}; /api/v1/session tells it",
            )
    return session.actor


ServicesOf = Annotated[Services, Depends(services)]
ActorOf = Annotated[Actor, Depends(actor)]
